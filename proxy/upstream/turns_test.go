package upstream

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// queue has somebody of each server wait for a turn, one after the other, and tells of each
// whose turn has come.
func queue(t *testing.T, turns *turns, servers ...string) <-chan string {
	t.Helper()
	came := make(chan string, len(servers))
	for _, server := range servers {
		before := turns.inLine()
		go func() {
			if err := turns.take(t.Context(), server, time.Minute); err == nil {
				came <- server
			}
		}()
		for deadline := time.Now().Add(5 * time.Second); turns.inLine() == before; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s does not wait", server)
			}
		}
	}
	return came
}

func mustTake(t *testing.T, turns *turns, servers ...string) {
	t.Helper()
	for _, server := range servers {
		if err := turns.take(t.Context(), server, 0); err != nil {
			t.Fatalf("%s: %v", server, err)
		}
	}
}

// Ensure a turn goes to the server that holds the fewest, and among equals round the lines,
// however many of one server wait and since when.
func TestTurnsAreFair(t *testing.T) {
	turns := newTurns(3)
	mustTake(t, turns, "hot", "hot", "other")
	came := queue(t, turns, "hot", "hot", "hot", "hot", "quiet", "calm", "quiet")
	var got []string
	for _, gives := range []string{"hot", "hot", "other", "quiet", "calm", "quiet", "hot"} {
		turns.give(gives)
		got = append(got, <-came)
	}
	if want := []string{"quiet", "calm", "hot", "quiet", "hot", "hot", "hot"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Ensure one server does not hold all connections, and gets its own back.
func TestNoServerHoldsAll(t *testing.T) {
	turns := newTurns(4)
	mustTake(t, turns, "hot", "hot", "hot")
	came := queue(t, turns, "hot")
	mustTake(t, turns, "quiet")
	turns.give("quiet")
	select {
	case <-came:
		t.Fatal("a server holds all")
	case <-time.After(20 * time.Millisecond):
	}
	turns.give("hot")
	<-came
	for n, want := range map[int]int{1: 1, 2: 2, 3: 3, 4: 3, 16: 12, 20: 15} {
		if got := newTurns(n).most; got != want {
			t.Errorf("of %d turns a server may hold %d, want %d", n, got, want)
		}
	}
}

// Ensure who waits in vain is told why, and leaves nothing behind.
func TestTurnsEnd(t *testing.T) {
	turns := newTurns(1)
	mustTake(t, turns, "a")
	if err := turns.take(t.Context(), "b", time.Millisecond); !errors.Is(err, errFull) || errors.Is(err, errShare) {
		t.Errorf("got %v", err)
	}
	if err := turns.take(t.Context(), "a", time.Millisecond); !errors.Is(err, errFull) || !errors.Is(err, errShare) {
		t.Errorf("of its own: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := turns.take(ctx, "b", time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	turns.give("a")
	if turns.free != 1 || turns.waiting != 0 || len(turns.servers) != 0 {
		t.Errorf("left: %+v", turns)
	}
}

// Ensure that under any load no more turns are out than there are, none is lost, and
// nothing is kept of servers that are gone; and who is patient gets one.
func TestTurnsUnderLoad(t *testing.T) {
	const n, each = 5, 200
	turns := newTurns(n)
	var out, most, took atomic.Int32
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			for range each {
				server := strconv.Itoa(i % (1 + rand.IntN(8)))
				patience := time.Minute
				if i%2 == 0 {
					patience = time.Duration(rand.IntN(300)) * time.Microsecond
				}
				if turns.take(t.Context(), server, patience) != nil {
					continue
				}
				now := out.Add(1)
				for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
				}
				took.Add(1)
				time.Sleep(time.Duration(rand.IntN(50)) * time.Microsecond)
				out.Add(-1)
				turns.give(server)
			}
		})
	}
	wg.Wait()
	if most.Load() > n || turns.free != n || turns.waiting != 0 || len(turns.servers) != 0 || len(turns.spare) > n {
		t.Errorf("%d at once; left: %+v", most.Load(), turns)
	}
	for _, line := range turns.lines {
		if line.Len() > 0 {
			t.Error("somebody is still in line")
		}
	}
	if took.Load() < 20*each {
		t.Errorf("only %d got a turn", took.Load())
	}
}

// Ensure a turn that is free costs no memory.
func TestFreeTurnsAllocateNothing(t *testing.T) {
	turns := newTurns(2)
	if n := testing.AllocsPerRun(100, func() {
		if turns.join("a") != nil || turns.join("b") != nil {
			t.Fatal("no turn")
		}
		turns.give("a")
		turns.give("b")
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
