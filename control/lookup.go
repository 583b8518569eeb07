package control

import (
	"context"
	"errors"
	"fmt"
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
	Timeout     time.Duration // of one look-up in its turn, the wait for a connection included; default 2s
	// ProjectShare is how much of the connections one project has at most, in percent; see proxy.NewTurns.
	ProjectShare int
	// Short is told of what was refused because too much waited for it already, as Config.Short is; what
	// is "users". nil: nobody is told.
	Short func(what, whose string)
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
	turns   *proxy.Turns // at the connections
	short   func(what, whose string)
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
	return &Lookup{pool: pool, turns: proxy.NewTurns(cfg.MaxConns, cfg.ProjectShare), short: cfg.Short, query: query, timeout: cfg.Timeout}, nil
}

// Close closes the connections.
func (l *Lookup) Close() { l.pool.Close() }

// ByEmail gives the server's end user with this address, in whatever case it is written.
// UserNotFound when there is none, ResultTooLarge when the values have more than maxUser bytes together,
// Overloaded when the server's turn does not come, UpstreamUnavailable when the database can't be reached.
func (l *Lookup) ByEmail(ctx context.Context, a proxy.Account, email string) (proxy.EndUser, error) {
	if email == "" {
		return proxy.EndUser{}, noUser()
	}
	if err := l.enter(ctx, a); err != nil {
		return proxy.EndUser{}, err
	}
	defer l.turns.Give(a)
	found, err := l.find(ctx, a.Server, email)
	if strings.HasPrefix(sqlState(err), "22") { // no value of the scope column's type, or no text to Postgres
		return proxy.EndUser{}, noUser()
	}
	if err != nil {
		return proxy.EndUser{}, readError("looking up an end user", err)
	}
	return theOne(found)
}

// enter waits for a turn: one server's look-ups, or one project's, are to leave connections to others.
func (l *Lookup) enter(ctx context.Context, a proxy.Account) error {
	err := l.turns.Take(ctx, a, lookWait)
	switch {
	case errors.Is(err, proxy.ErrNoTurn):
		l.short("users", proxy.Whose(err))
		e := overloaded()
		e.Hint, e.Cause = "look users up one after the other", err
		return e
	case err != nil:
		return readError("waiting to look up an end user", err)
	}
	return nil
}

func (l *Lookup) find(ctx context.Context, serverID, email string) ([]match, error) {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	rows, err := l.pool.Query(ctx, l.query, serverID, email)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanUser) //nolint:wrapcheck // ByEmail does
}

// match is a row, whether its address is the one asked for to the letter, and whether the values are
// short enough to have been read.
type match struct {
	user  proxy.EndUser
	exact bool
	fits  bool
}

func scanUser(row pgx.CollectableRow) (m match, err error) {
	u := &m.user
	err = row.Scan(&u.ID, &u.ExternalUserID, &u.Username, &u.Email, &u.PhoneNumber, &u.PasswordHash, &m.exact, &m.fits)
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
	case !found[0].fits:
		return proxy.EndUser{}, &proxy.Error{Code: proxy.ResultTooLarge, Message: fmt.Sprintf("this user's values have more than %d bytes together", maxUser),
			Hint: "store shorter ones; what belongs to a user and is longer can be read with a statement"}
	}
	return found[0].user, nil
}

func noUser() *proxy.Error {
	return proxy.Refuse(proxy.UserNotFound, "this server has no user with this e-mail address")
}
