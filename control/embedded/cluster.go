package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"
)

const (
	superuser = "postgres"

	// startLimit bounds a start that the caller's context does not: initdb on a
	// slow disk, or the recovery of a cluster that was cut off.
	startLimit = 2 * time.Minute
)

// Config says which Postgres to run and where. The zero value of every field but
// DataDir is useful.
type Config struct {
	// BinDir is the folder that holds initdb and postgres. Empty: CacheDir, PATH
	// and the usual places are searched, newest version first, one that fits an
	// existing cluster before all.
	BinDir string
	// CacheDir is a folder of installed Postgres versions, each with a bin folder
	// (<CacheDir>/<version>/bin). Empty: none.
	CacheDir string
	// DataDir is where the cluster lives; see the package comment. Made when
	// missing. Must be set.
	DataDir string
	// Log gets a line per event in the cluster's life, never a secret. Nil: none.
	Log *slog.Logger
	// Settings are further server settings, such as fsync=off for tests. The few
	// that this package sets itself (address, port, where the log goes) are refused.
	Settings map[string]string

	// elsewhere are the folders to try for a cluster that can't live in DataDir,
	// places those to search for a Postgres (patterns). Nil means the usual ones;
	// only tests set them.
	elsewhere, places []string
}

// Cluster is a running server. It is safe for concurrent use. Its owner must call
// Stop, also after Done.
type Cluster struct {
	log      *slog.Logger
	proc     *process
	home     string
	port     int
	password string
	stopping atomic.Bool
	done     chan struct{}
	err      error // set before done is closed
}

// Start makes the cluster if there is none, starts the server and returns when it
// answers. ctx bounds the start only; the server runs until Stop. At most one
// process can have a data directory started; the next one gets an error that says
// which has it.
func Start(ctx context.Context, cfg Config) (*Cluster, error) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s, err := prepare(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("starting postgres: %w", err)
	}
	c, err := s.start(ctx)
	if err != nil {
		s.release()
		return nil, fmt.Errorf("starting postgres: %w", err)
	}
	go c.watch(s)
	cfg.Log.Info("postgres started", "version", s.bin.version, "port", c.port,
		"dir", s.home, "user", s.runAs.name, "took", time.Since(began).Round(time.Millisecond))
	return c, nil
}

// watch waits for the server's end and then lets the data directory go.
func (c *Cluster) watch(s *site) {
	defer close(c.done)
	<-c.proc.done
	if c.stopping.Load() {
		c.log.Info("postgres stopped", "port", c.port)
	} else {
		c.err = fmt.Errorf("postgres ended by itself: %w", s.explain(c.proc.err))
		c.log.Error("postgres ended by itself", "error", c.err)
	}
	s.release()
}

// Home is the folder that holds the cluster: the data directory, or another one where
// that can't be entered by the user whom Postgres runs as.
func (c *Cluster) Home() string { return c.home }

// AdminURL is the superuser's connection URL for a database ("postgres" always
// exists). It holds the password: keep it out of logs.
func (c *Cluster) AdminURL(database string) string {
	return c.URL(superuser, c.password, database)
}

// URL is the connection URL of a role for a database. Neither needs to exist yet.
func (c *Cluster) URL(role, password, database string) string {
	return connURL(role, password, c.port, database)
}

// connURL is in the form that libpq and every driver read: no socket, no TLS on
// loopback.
func connURL(role, password string, port int, database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(role, password),
		Host:     net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		Path:     "/" + database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Stop ends the server, its sessions with it, and returns when it is gone. At ctx's
// end it is killed, which costs the next start a recovery and is told as an error.
// Stopping again, or after the server ended by itself, does nothing.
func (c *Cluster) Stop(ctx context.Context) error {
	c.stopping.Store(true)
	err := c.proc.stop(ctx)
	<-c.done
	if err != nil {
		return fmt.Errorf("stopping postgres: %w", err)
	}
	return nil
}

// Done is closed when the server has ended, for whatever reason.
func (c *Cluster) Done() <-chan struct{} { return c.done }

// Err says why the server ended by itself. It is nil while it runs and after Stop.
func (c *Cluster) Err() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}
