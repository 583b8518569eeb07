package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	connLifetime = 30 * time.Minute
	connIdle     = 5 * time.Minute
)

// errURL stands for every error of reading a connection string: the parser's own messages
// quote the string, and with it what may be a password.
var errURL = errors.New("reading the database URL: it is no valid connection string (not shown, it may hold a password)")

// pool is a pgx pool that closes in bounded time, whatever the database does.
type pool struct {
	*pgxpool.Pool
	dialer *dialer
}

// openPool makes a pool of at most size connections; it connects when it is first used.
// Statements are sent unnamed, in one round trip and prepared nowhere, which works behind
// a pooler in transaction mode as well.
func openPool(ctx context.Context, url string, size int, name string) (*pool, error) {
	if url == "" {
		return nil, errors.New("opening a pool: a database URL is required")
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errURL
	}
	config.MaxConns = int32(max(1, min(size, 1000)))
	config.MinConns = 0
	config.MaxConnLifetime, config.MaxConnLifetimeJitter = connLifetime, connLifetime/10
	config.MaxConnIdleTime = connIdle
	config.ConnConfig.ConnectTimeout = connectTimeout
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.ConnConfig.RuntimeParams["application_name"] = name
	dialer := &dialer{dial: config.ConnConfig.DialFunc}
	config.ConnConfig.DialFunc = dialer.connect
	pgx, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("opening a pool: %w", err)
	}
	return &pool{Pool: pgx, dialer: dialer}, nil
}

// Close waits for statements under way, which their deadlines end, and takes leave of the
// database; if that takes longer than closeTimeout, without its consent.
func (p *pool) Close() {
	timer := time.AfterFunc(closeTimeout, p.dialer.abandon)
	defer timer.Stop()
	p.Pool.Close()
}
