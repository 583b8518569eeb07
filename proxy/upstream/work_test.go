package upstream

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure a statement is at work for its server until its backend is gone, and holds it back while
// others are active; and that what has ended, well or not, is at work no more.
func TestAbandonedIsAtWork(t *testing.T) {
	work := proxy.NewWork(4)
	b := setup(t, Config{MaxConns: 4, AcquireTimeout: 900 * time.Millisecond, Work: work}, "")
	for range 3 {
		b.fail(sel("SELECT 1/0").of("a"), policy.QueryFailed)
	}
	resume, told := b.halt("a", 0)
	if err := <-told; proxy.AsError(err).Code != proxy.StatementTimeout {
		t.Fatal(err)
	}
	end := make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(end)
	wg.Go(func() {
		for {
			for n := range 4 { // together they have half a statement at work
				job := work.Start(proxy.Account{Project: "other", Server: fmt.Sprint(n)})
				time.Sleep(25 * time.Millisecond)
				work.End(job)
				time.Sleep(25 * time.Millisecond)
			}
			select {
			case <-end:
				return
			default:
			}
		}
	})
	time.Sleep(500 * time.Millisecond)
	if e := b.fail(sel("SELECT 1").of("a"), proxy.Overloaded); !errors.Is(e, proxy.ErrBusy) || !e.Retryable || b.rec.class(classBusy) != 1 {
		t.Errorf("%+v", e)
	}
	resume()
	b.eventually("it is gone", func() bool { return b.pool.Stat().Abandoned == 0 })
	b.must(sel("SELECT 1").of("a"))
}

// Ensure a statement that was held back has so much less time to wait for a connection.
func TestWaitsAreOne(t *testing.T) {
	b := setup(t, Config{MaxConns: 1, AcquireTimeout: 3 * time.Second}, "")
	of := proxy.Account{Project: "p", Server: "s"}
	held, err := b.pool.acquire(t.Context(), of, 0, false)
	if err != nil {
		t.Fatal(err)
	}
	defer b.pool.release(held, of)
	start := time.Now()
	if _, err := b.pool.acquire(t.Context(), of, 2900*time.Millisecond, false); err == nil || time.Since(start) > 2*time.Second {
		t.Error(err, "after", time.Since(start))
	}
}
