package control

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure that while the store can't be reached, known credentials serve for a bounded time
// without a wait, unknown ones are told to come back, and all is well when it returns. The
// store is away in both ways that networks have: refusing, and silent.
func TestTheStoreIsAway(t *testing.T) {
	ways := map[string]func(*pgtest.Relay){
		"refused": func(r *pgtest.Relay) { r.Cut(true) },
		"silent":  func(r *pgtest.Relay) { r.Silent.Store(true) },
	}
	for name, away := range ways {
		t.Run(name, func(t *testing.T) {
			url := controlDB(t)
			r, through := pgtest.NewRelay(t, url)
			s := run(t, Config{ControlURL: through, Cache: CacheConfig{StaleFor: 5 * time.Second}})
			ctx, m := t.Context(), populate(t, open(t, Config{ControlURL: url}))
			use := func() error {
				_, err := s.Developer(ctx, proxy.Account{}, m.text)
				if err == nil {
					_, err = s.Application(ctx, proxy.Account{}, m.server.ID, m.key)
				}
				return err
			}
			settle(t, s)
			wantCode(t, use(), "")
			wantCode(t, s.Ready(ctx), "")
			away(r)
			gone := time.Now()
			if slowest := servesFor(t, 4*time.Second, use); slowest > 2*staleWait {
				t.Errorf("a request waited for %v", slowest)
			}
			wantCode(t, s.Ready(ctx), "")
			unknown, _ := mint(tokenPrefix)
			began := time.Now()
			_, err := s.Developer(ctx, proxy.Account{}, unknown)
			wantCode(t, err, proxy.UpstreamUnavailable)
			if e := proxy.AsError(err); e.RetryAfter <= 0 || !e.Retryable || time.Since(began) > connWait/2 {
				t.Errorf("unknown: %+v after %v", e, time.Since(began))
			}
			within(t, 4*time.Second, "the bound", func() bool { return use() != nil })
			t.Logf("refused after %v", time.Since(gone))
			wantCode(t, use(), proxy.UpstreamUnavailable)
			wantCode(t, s.Ready(ctx), proxy.UpstreamUnavailable)
			r.Mend()
			within(t, 5*time.Second, "recovery", func() bool { return use() == nil && s.Ready(ctx) == nil })
		})
	}
}

// servesFor uses credentials all the time, and gives how long the slowest answer took.
func servesFor(t *testing.T, d time.Duration, use func() error) (slowest time.Duration) {
	t.Helper()
	for gone := time.Now(); time.Since(gone) < d; time.Sleep(10 * time.Millisecond) {
		began := time.Now()
		if err := use(); err != nil {
			t.Fatalf("%v after it went away: %v", time.Since(gone), err)
		}
		slowest = max(slowest, time.Since(began))
	}
	t.Logf("the slowest request took %v", slowest)
	return slowest
}

// Ensure a revocation that was made while the store was away is seen when it is back.
func TestRevokedWhileAway(t *testing.T) {
	url := controlDB(t)
	r, through := pgtest.NewRelay(t, url)
	s := run(t, Config{ControlURL: through})
	direct := open(t, Config{ControlURL: url})
	ctx, m := t.Context(), populate(t, direct)
	settle(t, s)
	_, err := s.Developer(ctx, proxy.Account{}, m.text)
	wantCode(t, err, "")
	r.Cut(true)
	time.Sleep(confirmWindow)
	wantCode(t, direct.RevokeToken(ctx, m.token.ID), "")
	time.Sleep(2 * awayFor)
	_, err = s.Developer(ctx, proxy.Account{}, m.text)
	wantCode(t, err, "") // it can't know
	r.Mend()
	took := within(t, 3*time.Second, "revocation", func() bool {
		_, err := s.Developer(ctx, proxy.Account{}, m.text)
		return err != nil && proxy.AsError(err).Code == proxy.Unauthorized // until it answers, it may be unavailable
	})
	t.Logf("refused %v after the store was back", took)
}

// Ensure a store that nobody runs is ready while it answers, and not because it once did.
func TestReadyWithoutRun(t *testing.T) {
	r, through := pgtest.NewRelay(t, controlDB(t))
	s := open(t, Config{ControlURL: through})
	wantCode(t, s.Ready(t.Context()), "")
	r.Cut(true)
	wantCode(t, s.Ready(t.Context()), proxy.UpstreamUnavailable)
}

// Ensure a store that is silent costs a bounded number of goroutines, whoever knocks.
func TestGoroutinesWhileAway(t *testing.T) {
	url := controlDB(t)
	r, through := pgtest.NewRelay(t, url)
	s := run(t, Config{ControlURL: through})
	settle(t, s)
	r.Silent.Store(true)
	time.Sleep(200 * time.Millisecond)
	before := runtime.NumGoroutine()
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			for range 200 {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
				text, _ := mint(tokenPrefix)
				_, err := s.Developer(ctx, proxy.Account{}, text)
				cancel()
				if err == nil {
					t.Error("an unknown token was taken")
				}
			}
		})
	}
	worst := 0
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for waiting := true; waiting; {
		select {
		case <-done:
			waiting = false
		case <-time.After(10 * time.Millisecond):
			worst = max(worst, runtime.NumGoroutine()-before)
		}
	}
	t.Logf("at most %d more goroutines", worst)
	if worst > maxLoads+200 {
		t.Errorf("%d more goroutines", worst)
	}
}

// Ensure a flood of unknown tokens, which keeps the look-ups' connections busy, does not
// disturb those who are known.
func TestAFloodDoesNotDisturbTheKnown(t *testing.T) {
	s := run(t, Config{ControlURL: controlDB(t), MaxConns: 2})
	ctx, m := t.Context(), populate(t, s)
	settle(t, s)
	_, err := s.Developer(ctx, proxy.Account{}, m.text)
	wantCode(t, err, "")
	flood, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() {
			for flood.Err() == nil {
				text, _ := mint(tokenPrefix)
				_, _ = s.Developer(flood, proxy.Account{}, text)
			}
		})
	}
	slowest := time.Duration(0)
	for began := time.Now(); time.Since(began) < 2*time.Second; time.Sleep(time.Millisecond) {
		at := time.Now()
		if _, err := s.Developer(ctx, proxy.Account{}, m.text); err != nil {
			t.Errorf("the known: %v", err)
		}
		slowest = max(slowest, time.Since(at))
	}
	stop()
	all.Wait()
	t.Logf("the slowest took %v", slowest)
	if slowest > 500*time.Millisecond {
		t.Errorf("the known waited for %v", slowest)
	}
}

// Ensure that waiting for a connection to the store is not the store being away: whoever needs none
// is served, and who does is told to come back.
func TestABusyPoolIsNotAway(t *testing.T) {
	s := run(t, Config{ControlURL: controlDB(t), MaxConns: 2})
	ctx, m := t.Context(), populate(t, s)
	settle(t, s)
	var held []*pgxpool.Conn
	for range 2 {
		conn := must[*pgxpool.Conn](t)(s.pool.Acquire(ctx))
		t.Cleanup(conn.Release) // as often as one likes
		held = append(held, conn)
	}
	asked := make(chan error, 1)
	unknown, _ := mint(tokenPrefix)
	go func() { _, err := s.Developer(ctx, proxy.Account{}, unknown); asked <- err }()
	for waiting := true; waiting; {
		select {
		case err := <-asked:
			wantCode(t, err, proxy.Overloaded)
			if e := proxy.AsError(err); !e.Retryable || e.RetryAfter <= 0 {
				t.Errorf("%+v", e)
			}
			waiting = false
		case <-time.After(time.Millisecond):
		}
		if s.fresh.away() {
			t.Fatal("the store is taken for away")
		}
	}
	for _, conn := range held {
		conn.Release()
	}
	_, err := s.Developer(ctx, proxy.Account{}, unknown)
	wantCode(t, err, proxy.Unauthorized)
	_, err = s.Developer(ctx, proxy.Account{}, m.text)
	wantCode(t, err, "")
}

// Ensure the store can be closed, twice and with look-ups under way, and that writes tell
// when they did not happen.
func TestClosing(t *testing.T) {
	url := controlDB(t)
	r, through := pgtest.NewRelay(t, url)
	s := open(t, Config{ControlURL: through})
	m := populate(t, s)
	r.Silent.Store(true)
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			text, _ := mint(tokenPrefix)
			_, err := s.Developer(t.Context(), proxy.Account{}, text)
			if err == nil {
				t.Error("answered")
			}
		})
	}
	time.Sleep(50 * time.Millisecond)
	began := time.Now()
	s.Close()
	s.Close()
	all.Wait()
	t.Logf("closed in %v", time.Since(began))
	if time.Since(began) > 3*closeTimeout {
		t.Errorf("closing took %v", time.Since(began))
	}
	_, _, err := s.CreateServer(t.Context(), m.project.ID, "n", "")
	if err == nil {
		t.Error("created on a closed store")
	}
}
