package control

import (
	"context"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/proxy"
)

// Store is the control store as one process sees it. It is safe for concurrent use.
type Store struct {
	cfg      Config
	pool     *pool           // look-ups and changes
	managing *proxy.Turns    // at the connections that changes and lists may hold
	looking  *proxy.Turns    // at look-ups, but those that a proved key asks for
	watcher  *pool           // one connection that polls
	listener *pgx.ConnConfig // one connection that listens; listen makes it

	fresh    *freshness
	revision revision
	tokens   *cache[digest, token]
	keys     *cache[digest, key]
	servers  *cache[serverKey, proxy.Server]
	projects *cache[string, project]
	logins   *cache[string, []loginKey]
	signing  signing
	salts    saltSecret
	jwt      *verifier // nil: not configured

	endLife context.CancelFunc // ends every look-up under way
	closing sync.Once
}

var _ proxy.Directory = (*Store)(nil)

// Open connects to the control store and makes sure that it was migrated; with a JWT
// configuration it reads the key set too. What it returns serves at once, but keeps
// answers in memory for less than a second until Run is running.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	cfg = cfg.withDefaults()
	s := &Store{cfg: cfg, fresh: newFreshness(), managing: proxy.NewTurns(max(1, cfg.MaxConns/2), cfg.ProjectShare),
		looking: proxy.NewTurns(turnsOfConn*cfg.MaxConns, askerShare)}
	if err := s.open(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) (err error) {
	if s.pool, err = openPool(ctx, s.cfg.ControlURL, s.cfg.MaxConns, "tenantgate control"); err != nil {
		return err
	}
	if s.watcher, err = openPool(ctx, s.cfg.ControlURL, 1, "tenantgate watch"); err != nil {
		return err
	}
	s.listener = s.watcher.Config().ConnConfig.Copy()
	if err := s.makeCaches(); err != nil {
		return err
	}
	if err := s.checkSchema(ctx); err != nil {
		return err
	}
	if s.cfg.JWT != nil {
		s.jwt, err = newVerifier(ctx, *s.cfg.JWT, s.cfg.Log)
	}
	return err
}

// makeCaches gives all look-ups one life, which Close ends; it is not that of the context
// Open was called with.
func (s *Store) makeCaches() (err error) {
	life, end := context.WithCancel(context.Background())
	s.endLife = end
	bounds := s.cfg.Cache
	s.tokens, err = newCache(life, bounds, s.fresh, onConn(s, readToken))
	if err == nil {
		s.keys, err = newCache(life, bounds, s.fresh, onConn(s, readKey))
	}
	if err == nil {
		s.servers, err = newCache(life, bounds, s.fresh, onConn(s, readServer))
	}
	if err == nil {
		bounds.Size = min(bounds.Size, maxLogins)
		s.logins, err = newCache(life, bounds, s.fresh, onConn(s, readLogins))
	}
	if err == nil {
		s.projects, err = newCache(life, s.cfg.Cache, s.fresh, onConn(s, readProject))
	}
	if err == nil {
		s.tokens.looked, s.keys.looked = s.cfg.Looked, s.cfg.Looked
		s.tokens.turns, s.keys.turns, s.logins.turns, s.servers.turns, s.projects.turns = s.looking, s.looking, s.looking, s.looking, s.looking
		short := func(err error) { s.cfg.Short("lookups", proxy.Whose(err)) }
		s.tokens.short, s.keys.short, s.logins.short, s.servers.short, s.projects.short = short, short, short, short, short
	}
	return err
}

// checkSchema fails early where the first request would, and reads the wall's key and what
// salts are derived from. The latter never changes.
func (s *Store) checkSchema(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout+loadTimeout)
	defer cancel()
	var seq int64
	err := s.pool.QueryRow(ctx, revisionQuery).Scan(&seq)
	if err == nil {
		s.signing.stale.Store(true)
		err = s.readWallKey(ctx, s.pool)
	}
	if err == nil {
		secret := s.salts[:]
		err = s.pool.QueryRow(ctx, `SELECT secret FROM tenantgate.login_salt`).Scan(&secret)
		copy(s.salts[:], secret)
	}
	switch sqlState(err) {
	case "42P01", "3F000", "42501": // no such table or schema, or not for this role
		return fmt.Errorf("the control store is not set up for this role; run tenantgate migrate: %w", err)
	}
	if err != nil {
		return fmt.Errorf("reading the control store: %w", err)
	}
	return nil
}

// writeFailed is writeError, and gives up connections that lead to a server which became a
// standby: whether a server takes writes is looked at only when a connection is made.
func (s *Store) writeFailed(doing string, err error) error {
	if sqlState(err) == "25006" {
		s.pool.Reset()
	}
	return writeError(doing, err)
}

// Run keeps the caches true to the store, and the key set of JWTs fresh, until ctx ends,
// and returns when all that it started has ended. It is called at most once.
func (s *Store) Run(ctx context.Context) error {
	var running sync.WaitGroup
	running.Go(func() { s.listen(ctx) })
	running.Go(func() { s.poll(ctx) })
	if s.jwt != nil {
		running.Go(func() { s.jwt.keys.run(ctx) })
	}
	running.Wait()
	return nil
}

// Close ends the look-ups under way and closes the connections. Run must have returned.
// It is safe to call twice.
func (s *Store) Close() {
	s.closing.Do(func() {
		if s.endLife != nil {
			s.endLife()
		}
		s.closeCaches()
		for _, pool := range []*pool{s.pool, s.watcher} {
			if pool != nil {
				pool.Close()
			}
		}
	})
}

func (s *Store) closeCaches() {
	if s.projects == nil { // Open failed before the last of them
		return
	}
	s.tokens.close()
	s.keys.close()
	s.servers.close()
	s.logins.close()
	s.projects.close()
}

// Ready tells whether credentials can be checked: the store confirmed a moment ago, or
// answers now, or what is in memory may still serve.
func (s *Store) Ready(ctx context.Context) error {
	if s.fresh.confirmedWithin(confirmWindow) {
		return nil
	}
	err := errAway
	if !s.fresh.away() {
		_, err = readRevision(ctx, s.pool)
	}
	if err == nil || s.fresh.confirmedWithin(s.cfg.Cache.StaleFor) {
		return nil
	}
	return readError("checking the control store", unreachable(err))
}
