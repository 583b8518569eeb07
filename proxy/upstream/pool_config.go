package upstream

import (
	"log/slog"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/wall"
)

// Config says how to reach the database and how much of it to use. A zero field takes
// the default named with it.
type Config struct {
	// URL is a libpq connection string or URL of the role that statements run as.
	// TLS, several hosts and target_session_attrs are said there. Required.
	URL string
	// PasswordFile, when set, is read at each new connection: a trailing line end is
	// cut, and the rest replaces the URL's password. So a password can be changed
	// without a restart.
	PasswordFile string

	MinConns        int32         // connections kept open; default 0
	MaxConns        int32         // connections at most, and backends; default 20
	ProjectShare    int           // percent of MaxConns that one project has at most; default proxy.DefaultProjectShare
	MaxConnLifetime time.Duration // age at which a connection is replaced; default 1h
	AcquireTimeout  time.Duration // wait for a free connection; default 1s
	ConnectTimeout  time.Duration // of one attempt to connect; default 5s
	LockTimeout     time.Duration // a statement's wait for each lock; default 5s

	// SearchPath is the session's search_path. "": that of the owner of the tables that Schema is
	// asked for, pg_catalog first and pg_temp last, without the schemas in which the role, or anybody,
	// can make something; "pg_catalog, pg_temp" until they are known.
	SearchPath string
	// NoPrepared is for a pooler in transaction mode in front of the database: no named
	// statement, no session setting, and nothing that spans two transactions. Postgres
	// parses every statement anew, and a cancellation costs the connection.
	NoPrepared bool
	// CustomPlans lets Postgres plan statements for their values. The order of rows then tells
	// which values other servers hold, so it is for a database of which every policy accepts that.
	CustomPlans bool
	// PreparedStatements is how many statements each connection keeps prepared at most, the
	// last used ones of those that were asked for twice; default 256. Postgres has its own copy
	// of each, in each backend: together, for that many, 128 KB each at most.
	PreparedStatements int

	// Wall is what row-level security needs; the zero value is without it: no setting is
	// sent, and no table is Walled.
	Wall Wall

	// Judge is asked of the tables whenever the catalog is read; nil: nobody is.
	Judge Judge

	// Work counts the statements that run, together with the texts that are checked; it may be nil.
	Work *proxy.Work
	// Parsing are the places in which commands that hold a query are filled; default places of the pool's own.
	Parsing *proxy.Turns

	Recorder Recorder     // may be nil
	Log      *slog.Logger // may be nil; no text of a statement and no value is written
}

// Wall is how this side of row-level security works; see package wall.
type Wall struct {
	// Key gives the key that server ids are signed with now, false where there is none. It
	// is called for every statement. nil: row-level security is off.
	Key func() (wall.Key, bool)
	// Scopes are the scope columns of the tables that Schema is asked for. A table that is
	// not in it is not Walled.
	Scopes map[policy.TableName]string
}

// key gives the key that a statement of the server is signed with, false where it is not
// signed.
func (w Wall) key(server string) (wall.Key, bool) {
	if w.Key == nil || server == "" {
		return wall.Key{}, false
	}
	return w.Key()
}

// Recorder is told what the pool does, for metrics. Its labels are bounded.
type Recorder interface {
	// Stage takes the seconds that one statement spent in a stage: "pool_wait",
	// "upstream" (until its first row or its end) or "encode" (reading and encoding
	// its rows).
	Stage(stage string, seconds float64)
	// StatementParsed counts an attempt whose text the connection had not prepared.
	StatementParsed()
	// UpstreamError counts a failure by its class; see the constants of failure_class.go.
	UpstreamError(class string)
	// Short counts a refusal because something that all share ran short: of what, "parsing" or "cursors", and
	// whose share is used up (proxy.Whose).
	Short(what, whose string)
	// ConnectionReplaced counts a connection that was closed because its backend may keep
	// more than it should; see ReplaceReasons.
	ConnectionReplaced(reason string)
}

// planMode is the value of plan_cache_mode, which decides whether the planner sees the values of
// parameters (PostgreSQL manual, "Other Planner Options").
func (c Config) planMode() string {
	if c.CustomPlans {
		return "auto"
	}
	return "force_generic_plan"
}

func (c Config) withDefaults() Config {
	c.MaxConns = orElse(c.MaxConns, 20)
	c.MaxConnLifetime = orElse(c.MaxConnLifetime, time.Hour)
	c.AcquireTimeout = orElse(c.AcquireTimeout, time.Second)
	c.ConnectTimeout = orElse(c.ConnectTimeout, 5*time.Second)
	c.LockTimeout = orElse(c.LockTimeout, 5*time.Second)
	c.PreparedStatements = orElse(c.PreparedStatements, 256)
	c.MinConns = min(c.MinConns, c.MaxConns)
	if c.Parsing == nil {
		c.Parsing = proxy.ParsingPlaces(c.ProjectShare)
	}
	if c.Recorder == nil {
		c.Recorder = silent{}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

func orElse[T int | int32 | time.Duration | string](value, otherwise T) T {
	var zero T
	if value <= zero {
		return otherwise
	}
	return value
}

// silent is the Recorder of who does not want one.
type silent struct{}

func (silent) Stage(string, float64)     {}
func (silent) StatementParsed()          {}
func (silent) Short(string, string)      {}
func (silent) UpstreamError(string)      {}
func (silent) ConnectionReplaced(string) {}
