package control

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenantgate/tenantgate/proxy"
)

// onConn has a read of the store done on a connection of the look-ups'. The wait for one has a
// limit of its own: while the store answers others, it is busy, and not away.
func onConn[K, V any](s *Store, read func(context.Context, *pgxpool.Conn, K) (V, bool, error)) func(context.Context, K) (V, bool, error) {
	return func(ctx context.Context, key K) (none V, found bool, err error) {
		conn, err := s.lookupConn(ctx)
		if err != nil {
			return none, false, err
		}
		defer conn.Release()
		ctx, cancel := context.WithTimeout(ctx, loadTimeout)
		defer cancel()
		return read(ctx, conn, key)
	}
}

func (s *Store) lookupConn(ctx context.Context) (*pgxpool.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connWait)
	defer cancel()
	began := s.fresh.now()
	conn, err := s.pool.Acquire(ctx)
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() != nil && s.fresh.answeredSince(began):
		return nil, overloaded()
	}
	return nil, readError("waiting for a connection to the control store", err)
}

// readToken is the look-up of the cache of tokens. A revoked one is found: its holder is told so.
func readToken(ctx context.Context, conn *pgxpool.Conn, d digest) (token, bool, error) {
	var (
		t       token
		hash    []byte
		scopes  []string
		expires *time.Time
	)
	err := conn.QueryRow(ctx, `
		SELECT t.hash, t.id, t.policy, t.scopes, t.expires_at, t.revoked_at IS NOT NULL,
			ARRAY(SELECT p.project_id FROM tenantgate.token_projects p WHERE p.token_id = t.id ORDER BY 1)
		FROM tenantgate.tokens t WHERE t.hash = $1`, d[:]).
		Scan(&hash, &t.caller.TokenID, &t.caller.Policy, &scopes, &expires, &t.revoked, &t.caller.Projects)
	if err != nil {
		return token{}, false, noRows("looking up a token", err)
	}
	copy(t.digest[:], hash)
	t.expires = millisOrZero(expires)
	t.caller.Scopes = scopesOf(scopes)
	t.caller.Projects = slices.Clip(t.caller.Projects)
	return t, true, nil
}

// readKey is the look-up of the cache of API keys.
func readKey(ctx context.Context, conn *pgxpool.Conn, d digest) (key, bool, error) {
	var (
		k       key
		hash    []byte
		expires *time.Time
	)
	err := conn.QueryRow(ctx, `
		SELECT k.hash, s.project_id, s.id, k.expires_at
		FROM tenantgate.server_keys k JOIN tenantgate.servers s ON s.id = k.server_id WHERE k.hash = $1`, d[:]).
		Scan(&hash, &k.projectID, &k.serverID, &expires)
	if err != nil {
		return key{}, false, noRows("looking up a key", err)
	}
	copy(k.digest[:], hash)
	k.expires = millisOrZero(expires)
	return k, true, nil
}

// readServer is the look-up of the cache of servers. Its policy is the server's own: the
// project's is kept with the project, so that a change of it drops one entry.
func readServer(ctx context.Context, conn *pgxpool.Conn, of serverKey) (proxy.Server, bool, error) {
	server, err := scanServer(conn.QueryRow(ctx, `SELECT `+serverColumns+`, s.policy
		FROM tenantgate.servers s WHERE s.project_id = $1 AND s.id = $2`, of.projectID, of.serverID))
	if err != nil {
		return proxy.Server{}, false, noRows("looking up a server", err)
	}
	return server, true, nil
}

// readProject is the look-up of the cache of projects.
func readProject(ctx context.Context, conn *pgxpool.Conn, id string) (project, bool, error) {
	var p project
	err := conn.QueryRow(ctx, `SELECT policy FROM tenantgate.projects WHERE id = $1`, id).Scan(&p.policy)
	if err != nil {
		return project{}, false, noRows("looking up a project", err)
	}
	return p, true, nil
}

// noRows gives nil when there was simply no row.
func noRows(doing string, err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return readError(doing, err)
}

// serverColumns are what scanServer reads, before the policy.
const serverColumns = `s.id, s.project_id, s.name, s.description, s.active, s.created_at, s.updated_at`

func scanServer(row pgx.Row) (v proxy.Server, err error) {
	err = row.Scan(&v.ID, &v.ProjectID, &v.Name, &v.Description, &v.Active, &v.CreatedAt, &v.UpdatedAt, &v.Policy)
	v.CreatedAt, v.UpdatedAt = millis(v.CreatedAt), millis(v.UpdatedAt)
	return v, err
}
