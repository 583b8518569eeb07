package proxy

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Work is what is being done for servers: their texts that are checked and their statements
// that run, those too that go on after their time. While other servers are active, one that has
// had more than its fair share at work lately has at most a few at once, together with the others of its
// project that had; where each takes long, none until it has had its share again. So what it asks for does not
// take the processors' time from all. Before that is known, one has a burst at once, unless others of its project are held back.
// Who is alone is never held back. A nil Work holds nobody back.
type Work struct {
	few, burst int
	now        func() time.Time

	mu      sync.Mutex
	all     load
	of      map[Account]*load          // of the active: for whom something is done, or was lately
	heavy   map[string]int             // by project: what is done for servers that had more than their share
	lines   map[string]map[string]line // by project and server: what waits
	swept   time.Time
	waiting int
}

// lately is over which time the averages go, and for how long whoever had something done counts as active.
const lately = time.Second

// heldBackLook is how often the first of a server that is held back looks whether the others are active still.
const heldBackLook = 50 * time.Millisecond

// ErrBusy is why a server is held back. It is ErrNoTurn, too.
var ErrBusy = fmt.Errorf("the server has more than its share at work while others are active: %w", ErrServerShare)

// long is from which time on, in the mean, what is done for a server takes long: a statement that looks a row up
// by its key takes less, also where processors are short.
const long = 3 * time.Millisecond

// NewWork holds back to a tenth of so many connections at once, a fortieth in the mean of what takes long, and a
// quarter in a burst; at least to one.
func NewWork(connections int) *Work {
	return &Work{few: max(1, connections/10), burst: max(1, connections/4), now: time.Now, of: map[Account]*load{}, heavy: map[string]int{}, lines: map[string]map[string]line{}}
}

// Begin waits until something more may be done for an account; End must be called then. Where
// that does not come within patience the error is ErrBusy, the context's where that ends first.
func (w *Work) Begin(ctx context.Context, a Account, patience time.Duration) error {
	if w == nil || w.enter(a, false) {
		return nil
	}
	turn := w.join(a)
	defer w.leave(a, turn)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	var again <-chan time.Time
	for {
		select {
		case <-turn.Value.(chan struct{}):
		case <-again:
		case <-timer.C:
			return ErrBusy
		case <-ctx.Done():
			return ctx.Err() //nolint:wrapcheck // it is the caller's
		}
		if w.enter(a, true) {
			return nil
		}
		again = time.After(heldBackLook)
	}
}

// Start notes that something more is done for an account, which can't wait.
func (w *Work) Start(a Account) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add(a, 1)
}

// End notes that something has ended which was begun or started for the account.
func (w *Work) End(a Account) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.add(a, -1)
	if one.running == 0 { // so that it waits for its share for 0.7 s at most
		forgiven := max(one.average-1, 0)
		one.average -= forgiven
		w.all.average -= forgiven
	}
	if one.heavy > 0 {
		one.heavy--
		if w.heavy[a.Project]--; w.heavy[a.Project] == 0 {
			delete(w.heavy, a.Project)
		}
	}
	w.wake(a)
}

// HeldBack counts those that wait because others are active.
func (w *Work) HeldBack() int {
	if w == nil {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.waiting
}

// enter begins something, and tells whether it has: not while others of the project wait, unless it is
// the first of its server's or has no more than its share.
func (w *Work) enter(a Account, first bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	heavy, wait := w.judge(a, w.now())
	if wait || heavy && !first && w.lines[a.Project] != nil {
		return false
	}
	one := w.add(a, 1)
	if heavy {
		one.heavy++
		w.heavy[a.Project]++
	}
	return true
}

// judge tells whether a server had more than its share lately, and whether it has to wait. Its fair share is
// what each would have if all that are active had the same; it may have half as much again.
func (w *Work) judge(a Account, now time.Time) (heavy, wait bool) {
	one := w.of[a]
	if one == nil || a == (Account{}) { // which is this program
		return false, false
	}
	w.sweep(now, lately/2)
	w.all.pass(now)
	one.pass(now)
	share := 1.5 * max(w.all.average, float64(w.all.running)) / float64(len(w.of))
	if one.average > max(share, float64(w.few)/4, 0.5) {
		return true, one.takesLong() || one.running >= w.few || w.heavy[a.Project] >= w.few
	}
	most := w.burst
	if w.lines[a.Project] != nil {
		most = w.few
	}
	return false, one.running >= most && float64(one.running) > share
}

// add notes n more for an account. The lock is held.
func (w *Work) add(a Account, n int) *load {
	now := w.now()
	w.sweep(now, lately)
	one := w.of[a]
	if one == nil {
		one = &load{at: now}
		w.of[a] = one
	}
	one.add(n, now)
	w.all.add(n, now)
	return one
}

// sweep forgets who is not active any more, unless that was done lately.
func (w *Work) sweep(now time.Time, each time.Duration) {
	if now.Sub(w.swept) < each {
		return
	}
	w.swept = now
	for a, one := range w.of {
		if one.running == 0 && now.Sub(one.at) > lately {
			delete(w.of, a)
		}
	}
}
