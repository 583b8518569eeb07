package control

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// The faults here are of timing, which a real store can't be made to show on demand.

func testCache(t *testing.T, bounds CacheConfig, ask func(context.Context, int) (string, bool, error)) *cache[int, string] {
	t.Helper()
	life, end := context.WithCancel(context.Background())
	c, err := newCache(life, bounds.withDefaults(), newFreshness(), ask)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { end(); c.close() })
	return c
}

// Ensure an answer that was overtaken by a change is not kept, and that who asks after the
// change does not get it.
func TestAnOvertakenAnswerIsNotKept(t *testing.T) {
	asked, answer := make(chan bool), make(chan string)
	c := testCache(t, CacheConfig{}, func(context.Context, int) (string, bool, error) { asked <- true; return <-answer, true, nil })
	got := make(chan string)
	get := func() { value, _, _ := c.get(t.Context(), proxy.Account{}, 1); got <- value }
	go get()
	<-asked
	c.fresh.epoch.Add(1)
	c.drop(1)
	answer <- "old"
	<-got
	if e, hit := c.look(1); hit {
		t.Fatalf("%q was kept", e.value)
	}
	go get()
	<-asked
	c.fresh.epoch.Add(1)
	c.drop(1)
	go get()
	select {
	case <-asked:
	case <-time.After(5 * time.Second):
		t.Error("joined a look-up that began before the change")
		answer <- "old"
		<-got
		<-got
		return
	}
	answer <- "old"
	answer <- "new"
	<-got
	<-got
}

// Ensure those who ask for the same share a look-up, which goes on when its first leaves.
func TestLookupsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		answer := make(chan bool)
		c := testCache(t, CacheConfig{}, func(ctx context.Context, _ int) (string, bool, error) {
			asked.Add(1)
			<-answer
			return "v", true, ctx.Err()
		})
		first, leave := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() { _, _, err := c.get(first, proxy.Account{}, 1); left <- err }()
		synctest.Wait()
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if value, found, err := c.get(t.Context(), proxy.Account{}, 1); value != "v" || !found || err != nil {
					t.Errorf("got %q %v %v", value, found, err)
				}
			})
		}
		synctest.Wait()
		leave()
		wantCode(t, <-left, proxy.UpstreamUnavailable)
		close(answer)
		all.Wait()
		if n := asked.Load(); n != 1 {
			t.Errorf("%d look-ups", n)
		}
	})
}

// Ensure a look-up that fails while the store answers others does not make it count as away.
func TestOneFailureIsNotAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testCache(t, CacheConfig{}, func(_ context.Context, k int) (string, bool, error) {
			if k < 2 {
				time.Sleep(loadTimeout)
				return "", false, readError("asking", context.DeadlineExceeded)
			}
			return "v", true, nil
		})
		for k, away := range []bool{false, true} {
			failed := make(chan error)
			go func() { _, _, err := c.get(t.Context(), proxy.Account{}, k); failed <- err }()
			time.Sleep(time.Millisecond)
			if !away {
				_, _, err := c.get(t.Context(), proxy.Account{}, 2)
				wantCode(t, err, "")
			}
			wantCode(t, <-failed, proxy.UpstreamUnavailable)
			if c.fresh.away() != away {
				t.Errorf("away: %v, want %v", !away, away)
			}
		}
	})
}

// Ensure the number of look-ups at once is bounded.
func TestLookupsAreBounded(t *testing.T) {
	answer := make(chan bool)
	var asked atomic.Int64
	c := testCache(t, CacheConfig{}, func(context.Context, int) (string, bool, error) { asked.Add(1); <-answer; return "", false, nil })
	var all sync.WaitGroup
	for i := range maxLoads {
		all.Go(func() { _, _, _ = c.get(t.Context(), proxy.Account{}, i) })
	}
	within(t, 5*time.Second, "filling up", func() bool { return asked.Load() == maxLoads })
	_, _, err := c.get(t.Context(), proxy.Account{}, maxLoads)
	wantCode(t, err, proxy.Overloaded)
	close(answer)
	all.Wait()
}

// Ensure who is known is served from memory when too many others are looked for.
func TestOverloadServesTheKnown(t *testing.T) {
	answer := make(chan bool)
	var asked atomic.Int64
	c := testCache(t, CacheConfig{MaxAge: time.Millisecond}, func(_ context.Context, k int) (string, bool, error) {
		if asked.Add(1) > 1 {
			<-answer
		}
		return "v", k == 0, nil
	})
	if _, found, err := c.get(t.Context(), proxy.Account{}, 0); !found || err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Millisecond)
	var all sync.WaitGroup
	for i := range maxLoads {
		all.Go(func() { _, _, _ = c.get(t.Context(), proxy.Account{}, i+1) })
	}
	within(t, 5*time.Second, "filling up", func() bool { return asked.Load() == maxLoads+1 })
	if value, found, err := c.get(t.Context(), proxy.Account{}, 0); value != "v" || !found || err != nil {
		t.Errorf("%q %v %v", value, found, err)
	}
	_, _, err := c.get(t.Context(), proxy.Account{}, maxLoads+1)
	wantCode(t, err, proxy.Overloaded)
	close(answer)
	all.Wait()
}

// Ensure a flood of unknown keys stays within the bound and pushes out no known one.
func TestAFloodOfUnknownKeys(t *testing.T) {
	c := testCache(t, CacheConfig{Size: 100}, func(_ context.Context, k int) (string, bool, error) { return "v", k < 50, nil })
	for k := range 3_000 {
		if _, _, err := c.get(t.Context(), proxy.Account{}, k); err != nil {
			t.Fatal(err)
		}
	}
	c.absent.CleanUp()
	if n := c.absent.EstimatedSize(); n > 100 {
		t.Errorf("%d entries are kept of what is not there", n)
	}
	for k := range 50 {
		if _, hit := c.look(k); !hit {
			t.Errorf("known key %d was pushed out", k)
		}
	}
	for k := range 10_000 {
		c.keep(k, entry[string]{found: true})
	}
	c.present.CleanUp()
	if n := c.present.EstimatedSize(); n > 100 {
		t.Errorf("%d entries are kept", n)
	}
}

// Ensure entries are read again at their age, and when nothing vouches for them.
func TestAges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		c := testCache(t, CacheConfig{MaxAge: time.Minute, NegativeAge: 3 * time.Second}, func(_ context.Context, k int) (string, bool, error) {
			asked++
			return "v", k == 1, nil
		})
		get := func(key, want int) {
			t.Helper()
			c.fresh.confirm(c.fresh.now())
			if _, _, err := c.get(t.Context(), proxy.Account{}, key); err != nil || asked != want {
				t.Errorf("%d look-ups, want %d; %v", asked, want, err)
			}
		}
		get(1, 1)
		time.Sleep(59 * time.Second)
		get(1, 1)
		time.Sleep(2 * time.Second)
		get(1, 2)
		get(2, 3)
		time.Sleep(2 * time.Second)
		get(2, 3)
		time.Sleep(2 * time.Second)
		get(2, 4)
		time.Sleep(confirmWindow + time.Millisecond) // 1 was read before, and nothing confirmed it since
		_, _, _ = c.get(t.Context(), proxy.Account{}, 1)
		if asked != 5 {
			t.Errorf("an unconfirmed entry was served: %d look-ups", asked)
		}
	})
}

// Ensure that while the store is away what was found serves for its time and nobody waits,
// and what was not found does not.
func TestStaleness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var away atomic.Bool
		var asked atomic.Int64
		c := testCache(t, CacheConfig{StaleFor: 5 * time.Minute}, func(_ context.Context, k int) (string, bool, error) {
			asked.Add(1)
			if away.Load() {
				time.Sleep(loadTimeout)
				return "", false, unreachable(errors.New("gone"))
			}
			return "v", k == 1, nil
		})
		for _, key := range []int{1, 2} {
			_, _, err := c.get(t.Context(), proxy.Account{}, key)
			wantCode(t, err, "")
		}
		away.Store(true)
		time.Sleep(confirmWindow)
		_, _, err := c.get(t.Context(), proxy.Account{}, 2) // still remembered as not there
		wantCode(t, err, proxy.UpstreamUnavailable)
		time.Sleep(time.Minute)
		value, found, err := c.get(t.Context(), proxy.Account{}, 1)
		if value != "v" || !found || err != nil {
			t.Fatalf("got %q %v %v", value, found, err)
		}
		began, before := time.Now(), asked.Load()
		for range 100 {
			_, _, err := c.get(t.Context(), proxy.Account{}, 1)
			wantCode(t, err, "")
			_, _, err = c.get(t.Context(), proxy.Account{}, 2)
			wantCode(t, err, proxy.UpstreamUnavailable)
			_, _, err = c.get(t.Context(), proxy.Account{}, 3)
			wantCode(t, err, proxy.UpstreamUnavailable)
		}
		if time.Since(began) > 0 || asked.Load() != before {
			t.Errorf("after a failure others tried for %v, %d times", time.Since(began), asked.Load()-before)
		}
		time.Sleep(4 * time.Minute)
		_, _, err = c.get(t.Context(), proxy.Account{}, 1)
		wantCode(t, err, proxy.UpstreamUnavailable)
		away.Store(false)
		time.Sleep(2 * awayFor)
		_, _, err = c.get(t.Context(), proxy.Account{}, 1)
		wantCode(t, err, "")
	})
}
