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
	others := func() {
		for n := range 4 {
			other := proxy.Account{Project: "other", Server: fmt.Sprint(n)}
			work.Start(other)
			work.End(other)
		}
	}
	others()
	tick, end := time.NewTicker(100*time.Millisecond), make(chan struct{})
	defer tick.Stop()
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(end)
	wg.Go(func() {
		for {
			select {
			case <-tick.C:
				others()
			case <-end:
				return
			}
		}
	})
	if e := b.fail(sel("SELECT 1").of("a"), proxy.Overloaded); !errors.Is(e, proxy.ErrBusy) || !e.Retryable || b.rec.class(classBusy) != 1 {
		t.Errorf("%+v", e)
	}
	resume()
	b.eventually("it is gone", func() bool { return b.pool.Stat().Abandoned == 0 })
	b.must(sel("SELECT 1").of("a"))
}
