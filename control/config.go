package control

import (
	"log/slog"
	"time"
)

// Config says where the control store is and how much of it may be kept in memory.
// Zero fields get the defaults that are named beside them.
type Config struct {
	// ControlURL is a Postgres URL of the role that owns the schema tenantgate; required.
	// Through a pooler in transaction mode everything works but notifications: changes
	// are then seen by polling, and each empties the caches.
	ControlURL string
	MaxConns   int          // connections for look-ups; default 8. Two more watch for changes.
	Cache      CacheConfig  // bounds of each of the five caches, but that of verifiers has 16,384 entries at most
	JWT        *JWTConfig   // nil: tokens of an identity provider are refused
	MaxServers int          // of one project that CreateServer makes; 0: no limit
	Log        *slog.Logger // nil: nothing is logged
	// CheckServerID is asked before a server is made, with the policy that its project is assigned ("" for none): it refuses an
	// id that the server's rows can't have. Its error is a *proxy.Error. nil: no id is refused for that.
	CheckServerID func(policy, id string) error
	// Looked is told of every look-up of a well-formed credential whether memory answered
	// it: "hit" or "miss". It must be quick and safe for concurrent use. nil: nobody is told.
	Looked func(event string)
	// Short is told of what was refused because too much waited for it already, and whose share was
	// in use (proxy.Whose); what is "management" or "lookups". As quick as Looked. nil: nobody is told.
	Short func(what, whose string)
	// ProjectShare is how much of the connections for management one project has at most, in
	// percent; see proxy.NewTurns.
	ProjectShare int
}

// CacheConfig bounds a cache.
type CacheConfig struct {
	Size        int           // entries that were found, about 700 bytes each; default 131,072. Of what was not found, 10,000 at most
	MaxAge      time.Duration // an older entry is read again even if nothing changed; default 60s
	NegativeAge time.Duration // the same for "there is none"; default 2s
	StaleFor    time.Duration // how long an entry serves while the store can't be reached; default 5m
}

// The bounds that are not for configuring: together they keep every change within a
// second, which is the interface's promise and no matter of taste.
const (
	confirmWindow = 800 * time.Millisecond // an entry serves this long after its last confirmation
	pollInterval  = 300 * time.Millisecond // between two readings of the revision
	pollTimeout   = 400 * time.Millisecond // one reading
	pollGrace     = 100 * time.Millisecond // what a notification may lag behind the revision
	awayFor       = time.Second            // after a failed attempt nobody waits for another

	loadTimeout    = 2 * time.Second        // one look-up for a cache, once it has a connection
	connWait       = time.Second            // its wait for that
	staleWait      = 250 * time.Millisecond // the same where a stale answer is at hand
	closeTimeout   = 2 * time.Second        // to say goodbye to a database that does not answer
	writeTimeout   = 10 * time.Second       // one administrative operation
	manageWait     = 2 * time.Second        // for a turn at one, where others are under way
	connectTimeout = 2 * time.Second
	retryAfter     = time.Second // told with every UpstreamUnavailable
	maxLoads       = 256         // look-ups of one cache at once
	lookWait       = time.Second // for a turn at one
	turnsOfConn    = 8           // look-ups at once for each connection of those who take turns
	askerShare     = 25          // percent of them that one asker has at most
)

func (c Config) withDefaults() Config {
	if c.MaxConns <= 0 {
		c.MaxConns = 8
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Looked == nil {
		c.Looked = func(string) {}
	}
	if c.Short == nil {
		c.Short = func(string, string) {}
	}
	c.Cache = c.Cache.withDefaults()
	return c
}

func (c CacheConfig) withDefaults() CacheConfig {
	if c.Size <= 0 {
		c.Size = 1 << 17
	}
	c.MaxAge = positive(c.MaxAge, time.Minute)
	c.NegativeAge = positive(c.NegativeAge, 2*time.Second)
	c.StaleFor = positive(c.StaleFor, 5*time.Minute)
	return c
}

func positive(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}
