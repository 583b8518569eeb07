package upstream

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/upstream/values"
)

// resetPause is the shortest time between two resets of the pool, so that a database that
// keeps failing does not cost a storm of connections.
const resetPause = time.Second

// Pool is a pool of connections to one database. It is safe for concurrent use.
type Pool struct {
	pool  *pgxpool.Pool
	cfg   Config
	log   *slog.Logger
	lacks *proxy.LinesLog // of statements that fail for what the database lacks
	types *values.Types
	path  *searchPath

	descriptions *descriptions
	lastRead     lastRead
	places       *places
	turns        *proxy.Turns
	cursorReads  *proxy.Tally // relations in the plans of all open cursors
	seed         maphash.Seed // of the hashes in recordTypes
	shelf        shelf
	abandoned    *abandoned
	leased       atomic.Int32 // connections in statements' hands
	queries      sync.Pool    // of *query that nobody uses

	life context.Context // of the goroutines that clear the shelf and look at the runs
	end  context.CancelFunc
	wg   sync.WaitGroup

	resetMu   sync.Mutex
	lastReset time.Time
}

var _ proxy.Catalog = (*Pool)(nil)

// Open makes a pool; it connects when it is first used, and in the background up to
// Config.MinConns. Close must be called. The error says what is wrong with cfg.
func Open(ctx context.Context, cfg Config) (*Pool, error) {
	cfg = cfg.withDefaults()
	// Half the time: who asked for the connection is to learn why there is none.
	places := newPlaces(cfg.MaxConns, cfg.AcquireTimeout/2)
	path := newSearchPath(cfg.SearchPath)
	pc, err := poolConfig(cfg, places, path)
	if err != nil {
		places.close()
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		places.close()
		return nil, fmt.Errorf("opening the upstream pool: %w", err)
	}
	p := &Pool{pool: pool, cfg: cfg, path: path, log: cfg.Log, lacks: proxy.NewFailuresLog(cfg.Log, "statements"), types: values.NewTypes(), descriptions: newDescriptions(), places: places, turns: proxy.NewTurns(int(cfg.MaxConns), cfg.ProjectShare), cursorReads: proxy.NewTally(cursorReads, cfg.ProjectShare), seed: maphash.MakeSeed()}
	p.abandoned = newAbandoned(cfg.MaxConns)
	p.shelf.keep = max(min(shelfTime, cfg.MaxConnLifetime), time.Millisecond)
	p.queries.New = func() any { return newQuery() }
	p.life, p.end = context.WithCancel(context.Background())
	p.wg.Go(func() { p.shelf.keepClear(p.life) })
	p.wg.Go(func() { p.places.look(p.life) })
	if !cfg.NoPrepared { // behind a pooler nobody's backend is known
		p.wg.Go(func() { p.lookForFormer(p.life, formerEvery, formerAge) })
	}
	return p, nil
}

// Close closes all connections. It waits for the running statements, each of which ends
// within its own time limit; to end them sooner, end their contexts first. A database
// that does not answer delays it by about closePatience.
func (p *Pool) Close() {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { p.hasten(done) })
	p.shelf.close()
	p.pool.Close()
	close(done)
	wg.Wait()
	p.end()
	p.wg.Wait()
	p.places.close()
}

// hasten cuts the connections that still take leave of the database once no statement
// runs. By itself pgx waits 15 s for each.
func (p *Pool) hasten(done <-chan struct{}) {
	tick := time.NewTicker(closePatience)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			if p.leased.Load() == 0 {
				p.places.abandon()
				return
			}
		}
	}
}

// Ready tells whether the database answers, within the time for a connection and one
// answer. A pool whose connections are all at work is ready: to take a busy process out
// of service would only make the others busier, and a database that stopped answering
// frees its connections within a statement's time. The error is an *proxy.Error.
func (p *Pool) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.cfg.ConnectTimeout)
	defer cancel()
	l, err := p.acquireOwn(ctx)
	switch {
	case errors.Is(err, proxy.ErrNoTurn) && proxy.AsError(err).Code == proxy.Overloaded:
		return nil // not where the places are held by attempts to connect
	case err != nil:
		return err
	}
	defer p.release(l, ownTurn)
	if err := l.conn.Ping(ctx); err != nil {
		return unavailable("the database does not answer", err)
	}
	return nil
}

// Stat is a snapshot of the pool, in connections; Waiting is in statements. Abandoned are backends
// that go on after their connection was given up. HeldBack are texts and statements that wait because
// others than their server are active.
type Stat struct{ Idle, Acquired, Max, Waiting, Abandoned, HeldBack int }

// Stat tells the pool's state now.
func (p *Pool) Stat() Stat {
	s, shelved := p.pool.Stat(), p.shelf.len()
	return Stat{
		Idle: int(s.IdleConns()) + shelved, Acquired: max(int(s.AcquiredConns())-shelved, 0),
		Max: int(s.MaxConns()), Waiting: p.turns.Waiting(), Abandoned: p.abandoned.total(), HeldBack: p.cfg.Work.HeldBack(),
	}
}

// Contended tells how many connections fewer than the account, or than its project where that is another one,
// somebody holds who waits for one; 0 where that is nobody, or one fewer of more than one.
func (p *Pool) Contended(a proxy.Account) int { return p.turns.Contended(a) }

// reset has all connections replaced: their server is going away, or is no longer the one
// to write to, and what the connection string asks for is checked only at connecting.
func (p *Pool) reset(class string) {
	p.resetMu.Lock()
	defer p.resetMu.Unlock()
	if time.Since(p.lastReset) < resetPause {
		return
	}
	p.lastReset = time.Now()
	p.replace()
	p.log.Warn("upstream connections are replaced", "class", class)
}

// replace has all connections closed: the idle ones now, the others when they come back.
func (p *Pool) replace() {
	p.pool.Reset()
	p.shelf.clear(time.Now())
}

// ServerVersion is the database's, as in "17.2": that of the newest connection. "" before the
// first.
func (p *Pool) ServerVersion() string {
	if v := p.places.version.Load(); v != nil {
		return *v
	}
	return ""
}
