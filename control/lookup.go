package control

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/proxy"
)

// LookupConfig says where the end users of all servers are. Zero fields but URL get the
// names of the bundled schema.
type LookupConfig struct {
	URL         string // Postgres URL of the role that reads end users and nothing else; required
	Schema      string // default "public"
	Table       string // default "end_users"
	ScopeColumn string // holds the server's id, as text, uuid, bigint or another type; default "server_id"
	Columns     LookupColumns
	MaxConns    int           // default 4
	Timeout     time.Duration // of one look-up, the wait for a connection included; default 2s
}

// LookupColumns names the columns of the table. NoColumn in place of a name says that the
// table has none: the field is then "" or null.
type LookupColumns struct {
	ID             string // default "id"
	ExternalUserID string // default "external_user_id"
	Username       string // default "username"
	Email          string // default "email"; compared without regard to case
	PhoneNumber    string // default "phone_number"; may be null
	PasswordHash   string // default "password_hash"; may be null
}

// NoColumn stands for a column that a table does not have.
const NoColumn = "-"

// Lookup finds the end users of servers by e-mail address, over connections of a role of
// its own. It is safe for concurrent use.
type Lookup struct {
	pool    *pool
	query   string
	timeout time.Duration
}

// OpenLookup connects and makes sure that the table and its columns exist and that the
// role may read them.
func OpenLookup(ctx context.Context, cfg LookupConfig) (*Lookup, error) {
	cfg = cfg.withDefaults()
	if cfg.ScopeColumn == NoColumn || cfg.Columns.ID == NoColumn || cfg.Columns.Email == NoColumn {
		return nil, errors.New("configuring the end users: the scope, id and email columns are required")
	}
	pool, err := openPool(ctx, cfg.URL, cfg.MaxConns, "tenantgate lookup")
	if err != nil {
		return nil, err
	}
	query, err := cfg.check(ctx, pool)
	if err != nil {
		pool.Close()
		return nil, err
	}
	return &Lookup{pool: pool, query: query, timeout: cfg.Timeout}, nil
}

// Close closes the connections.
func (l *Lookup) Close() { l.pool.Close() }

// ByEmail gives the server's end user with this address, in whatever case it is written.
// UserNotFound when there is none, UpstreamUnavailable when the database can't be reached.
func (l *Lookup) ByEmail(ctx context.Context, serverID, email string) (proxy.EndUser, error) {
	if email == "" {
		return proxy.EndUser{}, noUser()
	}
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	rows, err := l.pool.Query(ctx, l.query, serverID, email)
	if err != nil {
		return proxy.EndUser{}, readError("looking up an end user", err)
	}
	found, err := pgx.CollectRows(rows, scanUser)
	if strings.HasPrefix(sqlState(err), "22") { // no value of the scope column's type, or no text to Postgres
		return proxy.EndUser{}, noUser()
	}
	if err != nil {
		return proxy.EndUser{}, readError("looking up an end user", err)
	}
	return theOne(found)
}

// match is a row and whether its address is the one asked for to the letter.
type match struct {
	user  proxy.EndUser
	exact bool
}

func scanUser(row pgx.CollectableRow) (m match, err error) {
	u := &m.user
	err = row.Scan(&u.ID, &u.ExternalUserID, &u.Username, &u.Email, &u.PhoneNumber, &u.PasswordHash, &m.exact)
	return m, err
}

// theOne chooses among at most two rows, exact ones first. A table without a unique
// address can have two users who are both meant; to guess would let one sign in as the
// other.
func theOne(found []match) (proxy.EndUser, error) {
	switch {
	case len(found) == 0:
		return proxy.EndUser{}, noUser()
	case len(found) > 1 && found[0].exact == found[1].exact:
		return proxy.EndUser{}, proxy.AsError(errors.New("looking up an end user: the table has several rows for one address of one server"))
	}
	return found[0].user, nil
}

func noUser() *proxy.Error {
	return proxy.Refuse(proxy.UserNotFound, "this server has no user with this e-mail address")
}
