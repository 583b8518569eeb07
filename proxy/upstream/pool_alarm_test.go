package upstream

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure a caller who goes away has the statement cancelled on the server at once, and
// the connection goes on.
func TestCallerGoesAway(t *testing.T) {
	for name, st := range map[string]*statement{
		"select":    sel("SELECT pg_sleep(30)"),
		"write":     write("insert", false, "INSERT INTO t SELECT 1 FROM pg_sleep(30)"),
		"returning": write("insert", true, "INSERT INTO t SELECT 1 FROM pg_sleep(30) RETURNING a"),
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, Config{MaxConns: 1}, "CREATE TABLE t (a int)")
			st.limits.StatementTimeout = time.Minute
			pid := b.must(sel("SELECT pg_backend_pid()"))
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error)
			go func() {
				_, err := b.pool.query(ctx, st, Encoding{}, nil)
				done <- err
			}()
			b.eventually("the statement runs", func() bool { return b.running(st.text()) == "1" })
			cancel()
			start := time.Now()
			e := refusal(t, <-done, policy.QueryFailed, st.text())
			if took := time.Since(start); took > time.Second {
				t.Errorf("returned after %s", took)
			}
			if e.SQLState != "57014" || !errors.Is(e, context.Canceled) {
				t.Errorf("got %v with %s", e, e.SQLState)
			}
			if n := b.running(st.text()); n != "0" {
				t.Errorf("%s such statements still run", n)
			}
			if again := b.must(sel("SELECT pg_backend_pid()")); again != pid {
				t.Errorf("connection %s was lost, now %s", pid, again)
			}
			if n := b.one("SELECT count(*) FROM t"); n != "0" || b.rec.class(classCancelled) != 1 {
				t.Errorf("%s rows, counted %v", n, b.rec.errors)
			}
		})
	}
}

// Ensure a cause that is meant for the caller is what it is told, and a deadline of the
// request is a timeout.
func TestWhyCancelled(t *testing.T) {
	b := setup(t, Config{}, "")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(proxy.Refuse(proxy.ShuttingDown, "the service stops"))
	_, err := b.pool.query(ctx, sel("SELECT 1"), Encoding{}, nil)
	refusal(t, err, proxy.ShuttingDown, "a cause")
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	_, err = b.pool.query(ctx, sel("SELECT pg_sleep(10)"), Encoding{}, nil)
	refusal(t, err, proxy.StatementTimeout, "a deadline")
}

// Ensure a cancellation never reaches the statement that follows on the same connection:
// each round cancels one statement close to its end and runs another right after.
func TestCancellationHitsNobodyElse(t *testing.T) {
	b := setup(t, Config{MaxConns: 2}, "")
	b.must(sel("SELECT 1"))
	var wg sync.WaitGroup
	for worker := range 2 {
		wg.Go(func() {
			for i := range 60 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i*50+worker*7)*time.Microsecond)
				_, _ = b.pool.query(ctx, sel("SELECT pg_sleep(0.001)"), Encoding{}, nil)
				cancel()
				if body, err := b.query(sel("SELECT pg_sleep(0.0005)")); err != nil {
					t.Errorf("round %d: %s %v", i, body, err)
				}
			}
		})
	}
	wg.Wait()
}

// Ensure a connection is not used again when its cancellation was not confirmed: here
// the request is never answered, and the statement ends well by itself.
func TestUnconfirmedCancellation(t *testing.T) {
	r, through := pgtest.NewRelay(t, pgtest.Database(t))
	b := setup(t, Config{URL: through, MaxConns: 1}, "")
	pid := b.must(sel("SELECT pg_backend_pid()"))
	r.Ignore.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := b.pool.query(ctx, sel("SELECT pg_sleep(0.5)"), Encoding{}, nil); err != nil {
		t.Errorf("the statement ended: %v", err)
	}
	r.Ignore.Store(false)
	if again := b.must(sel("SELECT pg_backend_pid()")); again == pid {
		t.Error("the connection was used again")
	}
}

// Ensure a cancellation between two round trips, which meets an idle server, stops the run.
func TestCancelledBetweenRoundTrips(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := &session{} // without a connection: to send anything would panic
	e := &exchange{talk: talk{ctx: ctx, s: s}, link: &Link{}, json: &jsonResult{}}
	if err := e.flush(); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := e.askTypes([]uint32{1}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
