package proxy

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"
)

// clocked is a Work whose time goes on by hand.
func clocked(connections int) (w *Work, pass func(time.Duration)) {
	w, now := NewWork(connections), time.Unix(0, 0)
	w.now = func() time.Time { return now }
	return w, func(d time.Duration) {
		w.mu.Lock()
		defer w.mu.Unlock()
		now = now.Add(d)
	}
}

// begins begins things for an account until it is held back, 50 at most, and tells how many.
func begins(w *Work, a Account) (n int) {
	for n < 50 && w.enter(a, false) {
		n++
	}
	return n
}

// awaitHeldBack waits until n are held back.
func awaitHeldBack(t *testing.T, w *Work, n int) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); w.HeldBack() < n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d are held back, not %d", w.HeldBack(), n)
		}
	}
}

// Ensure one server has at most a few things at work while others are active, and all it likes when
// it is alone, before and afterwards.
func TestWorkIsShared(t *testing.T) {
	w, pass := clocked(20)
	busy, quiet := Account{"p", "busy"}, Account{"q", "quiet"}
	ask := func(a Account) {
		if !w.enter(a, false) {
			t.Errorf("%v is held back", a)
		}
		pass(time.Millisecond)
		w.End(a)
	}
	if n := begins(w, busy); n != 50 {
		t.Errorf("alone it began %d", n)
	}
	ask(quiet)
	finish := func(n int) {
		for range n {
			if begins(w, busy) != 0 {
				t.Fatal("it is not held back")
			}
			w.End(busy)
		}
	}
	finish(46)
	if n := begins(w, busy); n != 1 {
		t.Errorf("beside another it began %d more than 4", n)
	}
	for range 20 {
		pass(50 * time.Millisecond)
		ask(quiet)
	}
	finish(5)
	if n := begins(w, busy); n != 0 {
		t.Errorf("it began %d before it had its share", n)
	}
	pass(700 * time.Millisecond)
	ask(quiet)
	if n := begins(w, busy); n != 5 {
		t.Errorf("it began %d when it had its share", n)
	}
	if err := w.Begin(t.Context(), busy, time.Millisecond); !errors.Is(err, ErrBusy) || !errors.Is(err, ErrNoTurn) {
		t.Error(err)
	}
	pass(1100 * time.Millisecond)
	if n := begins(w, busy); n != 50 {
		t.Errorf("alone again it began %d", n)
	}
}

// Ensure a burst of one server beside active others is held back from its begin, and what goes
// on after its time counts.
func TestBurstsAreHeldBack(t *testing.T) {
	w, pass := clocked(20)
	busy, quiet := Account{"p", "busy"}, Account{"q", "quiet"}
	w.Start(quiet)
	pass(time.Millisecond)
	w.End(quiet)
	if n := begins(w, busy); n != 5 {
		t.Errorf("it began %d", n)
	}
	for range 3 {
		w.End(busy)
	}
	for range 3 {
		w.Start(busy) // abandoned ones
	}
	if n := begins(w, busy); n != 0 {
		t.Errorf("beside three that go on it began %d", n)
	}
}

// Ensure a server whose statements are short has a few at once beside others, that one whose are long has its
// share in the mean, and that a server of a project of which others are held back has no burst.
func TestLongWorkWaitsForItsShare(t *testing.T) {
	for _, c := range []struct {
		length      time.Duration
		least, most float64
	}{{time.Millisecond, 1.9, 2.1}, {20 * time.Millisecond, 0.3, 0.6}} {
		w, pass := clocked(20)
		busy, quiet := Account{"p", "busy"}, Account{"q", "quiet"}
		passed, had := time.Duration(0), time.Duration(0)
		line := w.join(busy) // it always has more to do
		for ; passed < 10*time.Second; passed += c.length {
			w.Start(quiet)
			w.End(quiet)
			running := 0
			for running < 8 && w.enter(busy, true) {
				running++
			}
			pass(c.length)
			for range running {
				w.End(busy)
			}
			if passed > 2*time.Second {
				had += time.Duration(running) * c.length
			}
		}
		if mean := had.Seconds() / 8; mean < c.least || mean > c.most {
			t.Errorf("of %v each it had %.2f at a time", c.length, mean)
		}
		if n := begins(w, Account{"p", "another"}); n != 2 {
			t.Errorf("another began %d while one of its project is held back", n)
		}
		w.End(Account{"p", "another"})
		w.End(Account{"p", "another"})
		w.leave(busy, line)
		if n := begins(w, Account{"p", "third"}); n != 5 {
			t.Errorf("a third began %d in a burst", n)
		}
	}
}

// Ensure the servers of one project that have more than their share do not have a few each.
func TestHeavyServersOfAProjectShare(t *testing.T) {
	w, pass := clocked(20)
	one, two := Account{"p", "one"}, Account{"p", "two"}
	for n := range 300 {
		for range 5 {
			w.Start(one)
			w.Start(two)
		}
		pass(2 * time.Millisecond)
		quiet := Account{"p", strconv.Itoa(n)}
		if !w.enter(quiet, false) {
			t.Fatal("a quiet one is held back")
		}
		w.End(quiet)
		for range 5 {
			w.End(one)
			w.End(two)
		}
	}
	if n := begins(w, one) + begins(w, two); n != 2 {
		t.Errorf("they began %d together", n)
	}
	w.End(one)
	w.End(one)
	if n := begins(w, two); n != 2 {
		t.Errorf("the second began %d when the first had ended", n)
	}
}

// Ensure nobody is held back among servers that all ask for as much.
func TestEqualWorkIsNotHeldBack(t *testing.T) {
	w, pass := clocked(20)
	for range 100 {
		for server := range 10 {
			for range 4 {
				if !w.enter(Account{"p", strconv.Itoa(server)}, false) {
					t.Fatal("one of ten equals is held back")
				}
			}
		}
		pass(10 * time.Millisecond)
		for server := range 10 {
			for range 4 {
				w.End(Account{"p", strconv.Itoa(server)})
			}
		}
	}
}

// Ensure who is held back goes on when something of its own ends, or its caller does, and nothing
// stays of servers that are gone.
func TestHeldBackGoOn(t *testing.T) {
	w, pass := clocked(1)
	busy, quiet := Account{"p", "busy"}, Account{"q", "quiet"}
	w.Start(quiet)
	for range 9 {
		w.Start(busy)
	}
	came := make(chan error)
	go func() { came <- w.Begin(t.Context(), busy, time.Minute) }()
	awaitHeldBack(t, w, 1)
	for range 9 {
		w.End(busy)
	}
	if err := <-came; err != nil {
		t.Error(err)
	}
	for range 9 {
		w.Start(busy)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Begin(ctx, busy, time.Minute); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for range 10 {
		w.End(busy)
	}
	w.End(quiet)
	for range 3 {
		pass(1100 * time.Millisecond)
		w.Start(Account{"r", "later"})
		w.End(Account{"r", "later"})
	}
	if len(w.of) != 1 || len(w.heavy) != 0 || len(w.lines) != 0 || w.HeldBack() != 0 || w.all.running != 0 {
		t.Errorf("left: %+v", w)
	}
}

// Ensure those of a project that are held back go on one after the other, in the order in which they came.
func TestHeldBackInLine(t *testing.T) {
	w, pass := clocked(1)
	busy, quiet := Account{"p", "busy"}, Account{"q", "quiet"}
	w.Start(quiet)
	for range 9 {
		w.Start(busy)
	}
	pass(5 * time.Second)
	for range 8 {
		w.End(busy)
	}
	came := make(chan int)
	for n := range 20 {
		go func() {
			if err := w.Begin(t.Context(), busy, time.Minute); err == nil {
				came <- n
			}
		}()
		awaitHeldBack(t, w, n+1)
	}
	for n := range 20 {
		w.End(busy)
		pass(2 * time.Second) // it has had its share
		if next := <-came; next != n {
			t.Fatalf("number %d went on, of those the first was %d", next, n)
		}
	}
	w.End(busy)
	w.End(quiet)
}

// Ensure a server that has no more than its share goes on although one of its project is held back before it.
func TestHeldBackDelaysNoOther(t *testing.T) {
	w, pass := clocked(20)
	busy, other, quiet := Account{"p", "busy"}, Account{"p", "other"}, Account{"q", "quiet"}
	w.Start(quiet)
	for range 9 {
		w.Start(busy)
	}
	pass(5 * time.Second)
	for range 12 {
		w.Start(other)
	}
	came := make(chan error, 1)
	defer w.leave(busy, w.join(busy))
	go func() { came <- w.Begin(t.Context(), other, 5*time.Second) }()
	awaitHeldBack(t, w, 2)
	for range 12 {
		w.End(other)
	}
	if err := <-came; err != nil {
		t.Error(err)
	}
}
