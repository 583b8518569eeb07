package control

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/proxy"
)

// TokenSpec is what a new developer token shall permit.
type TokenSpec struct {
	Name     string      // for its list; may be empty
	Projects []string    // ids; at least one, each existing
	Scopes   proxy.Scope // at least one
	Expires  time.Time   // zero: never; else in the future
	Policy   string      // the name of the policy assigned to it; "" for none
}

// Token is a developer token as operators see it: all but its text.
type Token struct {
	ID        string
	Name      string
	Projects  []string
	Scopes    proxy.Scope
	Policy    string
	CreatedAt time.Time // UTC, milliseconds, as all times here
	ExpiresAt time.Time // zero: never
	RevokedAt time.Time // zero: not revoked
}

// CreateToken makes a token and gives its text, this once. InvalidRequest when the spec
// permits nothing, NotFound when a project does not exist.
func (s *Store) CreateToken(ctx context.Context, spec TokenSpec) (Token, string, error) {
	if err := spec.validate(); err != nil {
		return Token{}, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	text, d := mint(tokenPrefix)
	var made Token
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		made, err = spec.insert(ctx, tx, d)
		return err
	})
	switch {
	case sqlState(err) == "23503":
		return Token{}, "", noProject()
	case err != nil:
		return Token{}, "", s.writeFailed("creating a token", err)
	}
	return made, text, nil
}

func (spec TokenSpec) validate() error {
	const all = proxy.Manage | proxy.Read | proxy.Write
	switch {
	case len(spec.Projects) == 0:
		return proxy.Refuse(proxy.InvalidRequest, "projects: a token is bound to at least one project")
	case spec.Scopes == 0 || spec.Scopes&^all != 0:
		return proxy.Refuse(proxy.InvalidRequest, "scopes: a token has at least one of manage, read and write")
	case expired(spec.Expires):
		return proxy.Refuse(proxy.InvalidRequest, "expires: the time is in the past")
	}
	for _, id := range spec.Projects {
		if !validID(id) {
			return noProject()
		}
	}
	if spec.Name == "" {
		return nil
	}
	_, err := proxy.TidyName(spec.Name)
	return err
}

func (spec TokenSpec) insert(ctx context.Context, tx pgx.Tx, d digest) (Token, error) {
	id := newID()
	var expires *time.Time
	if !spec.Expires.IsZero() {
		at := millis(spec.Expires)
		expires = &at
	}
	_, err := tx.Exec(ctx, `INSERT INTO tenantgate.tokens (id, name, hash, scopes, policy, expires_at) VALUES ($1, $2, $3, $4, $5, $6)`,
		id, spec.Name, d[:], scopeNames(spec.Scopes), spec.Policy, expires)
	if err != nil {
		return Token{}, err
	}
	_, err = tx.Exec(ctx, `INSERT INTO tenantgate.token_projects (token_id, project_id) SELECT DISTINCT $1::text, unnest($2::text[])`, id, spec.Projects)
	if err != nil {
		return Token{}, err
	}
	rows, err := tx.Query(ctx, fromTokens+` WHERE t.id = $1`, id)
	if err != nil {
		return Token{}, err
	}
	return pgx.CollectExactlyOneRow(rows, scanToken)
}

// ListTokens gives all tokens, expired and revoked ones too, the oldest first.
func (s *Store) ListTokens(ctx context.Context) ([]Token, error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	rows, err := s.pool.Query(ctx, fromTokens+` ORDER BY t.created_at, t.id`)
	if err == nil {
		var all []Token
		if all, err = pgx.CollectRows(rows, scanToken); err == nil {
			return all, nil
		}
	}
	return nil, readError("listing tokens", err)
}

// RevokeToken ends a token for good; every process follows within a second. Revoking it
// again changes nothing. NotFound when there is no such token.
func (s *Store) RevokeToken(ctx context.Context, id string) error {
	missing := proxy.Refuse(proxy.NotFound, "there is no such token")
	return s.change(ctx, "revoking a token", missing,
		`UPDATE tenantgate.tokens SET revoked_at = coalesce(revoked_at, tenantgate.now_ms()) WHERE id = $1`, id)
}

const fromTokens = `SELECT t.id, t.name, t.scopes, t.policy, t.created_at, t.expires_at, t.revoked_at,
	ARRAY(SELECT p.project_id FROM tenantgate.token_projects p WHERE p.token_id = t.id ORDER BY 1) FROM tenantgate.tokens t`

func scanToken(row pgx.CollectableRow) (t Token, err error) {
	var scopes []string
	var expires, revoked *time.Time
	err = row.Scan(&t.ID, &t.Name, &scopes, &t.Policy, &t.CreatedAt, &expires, &revoked, &t.Projects)
	t.Scopes = scopesOf(scopes)
	t.CreatedAt, t.ExpiresAt, t.RevokedAt = millis(t.CreatedAt), millisOrZero(expires), millisOrZero(revoked)
	return t, err
}

// ParseScope reads the name of a scope: manage, read or write.
func ParseScope(name string) (proxy.Scope, error) {
	switch name {
	case "manage":
		return proxy.Manage, nil
	case "read":
		return proxy.Read, nil
	case "write":
		return proxy.Write, nil
	}
	return 0, errors.New("a scope is one of manage, read and write")
}

// scopesOf reads the names that the store keeps; one that it does not know permits nothing.
func scopesOf(names []string) (all proxy.Scope) {
	for _, name := range names {
		if scope, err := ParseScope(name); err == nil {
			all |= scope
		}
	}
	return all
}

func scopeNames(scopes proxy.Scope) (names []string) {
	for _, name := range []string{"manage", "read", "write"} {
		if scope, err := ParseScope(name); err == nil && scopes.Has(scope) {
			names = append(names, name)
		}
	}
	return names
}
