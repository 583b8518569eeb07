package upstream

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// maxPasswordFile bounds what is read of a password file, in bytes.
const maxPasswordFile = 64 << 10

// errURL stands for every error of parsing a connection string, because the parser's
// own messages quote the string, and with it what may be a password.
var errURL = errors.New("parsing the database URL: it is no valid connection string (not shown, it may hold a password)")

// poolConfig is the pool's configuration: the session, its hooks and its bounds.
func poolConfig(cfg Config, places *places, path *searchPath) (*pgxpool.Config, error) {
	pc, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, errURL
	}
	pc.MinConns, pc.MaxConns = cfg.MinConns, cfg.MaxConns
	pc.MaxConnLifetime = cfg.MaxConnLifetime
	pc.MaxConnLifetimeJitter = cfg.MaxConnLifetime / 10
	pc.PingTimeout = cfg.AcquireTimeout
	pc.ConnConfig.ConnectTimeout = cfg.ConnectTimeout
	// pgx itself prepares nothing: statements go through PgConn, the rest runs unnamed.
	pc.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	pc.ConnConfig.StatementCacheCapacity = 0
	pc.ConnConfig.DescriptionCacheCapacity = 0
	for _, s := range startupSettings(cfg, path.now()) {
		pc.ConnConfig.RuntimeParams[s.name] = s.value
	}
	hooks(pc, cfg, places, path)
	return pc, nil
}

func hooks(pc *pgxpool.Config, cfg Config, places *places, path *searchPath) {
	pc.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
		t := &ticket{places: places, dial: c.DialFunc}
		c.DialFunc, c.BuildFrontend = t.connect, t.frontend
		t.path = path.now()
		if c.RuntimeParams[pathSetting] != "" { // behind a pooler the prelude sets it
			c.RuntimeParams[pathSetting] = t.path
		}
		if cfg.PasswordFile == "" {
			return nil
		}
		return readPassword(cfg.PasswordFile, c)
	}
	pc.BeforeClose = closeAndWait
	pc.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		socketOf(c.PgConn()).ticket.connected.Store(true)
		version := c.PgConn().ParameterStatus("server_version")
		places.version.Store(&version)
		// The pool connects in the background, without the acquirer's deadline.
		ctx, cancel := context.WithTimeout(ctx, cfg.ConnectTimeout)
		defer cancel()
		return newSession(ctx, c.PgConn(), cfg)
	}
}

// closeAndWait closes a connection and waits until the server has too. Until then the pool
// counts it: whoever waits for a connection gets the next that is free, instead of
// waiting for the place of this one.
func closeAndWait(c *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	_ = c.Close(ctx) // it is closed in any case
	if s := sessionOf(c.PgConn()); s != nil && s.abandoned {
		_ = c.PgConn().CancelRequest(ctx) // its statement would go on
	}
	select {
	case <-socketOf(c.PgConn()).gone:
	case <-time.After(leavePatience): // its place stays taken
	}
}

// leavePatience bounds how long a connection that was closed still counts as the pool's.
const leavePatience = 5 * time.Second

// readPassword puts the file's content into c. Errors name the file, never its content.
func readPassword(file string, c *pgx.ConnConfig) error {
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("reading the password file: %w", err)
	}
	if info.Size() > maxPasswordFile {
		return fmt.Errorf("reading the password file: %s is larger than %d bytes", file, maxPasswordFile)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("reading the password file: %w", err)
	}
	c.Password = strings.TrimRight(string(content), "\r\n")
	return nil
}
