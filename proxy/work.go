package proxy

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"
)

// Work is what is being done for servers: their texts that are checked and their statements
// that run, those too that go on after their time. While other servers are active, one that has
// had more than its fair share at work lately has at most a few at once, together with the others of its
// project that had: so what it asks for does not take the processors' time from all, however quickly each
// of it is done. Before that is known, one has a burst at once. Who is alone is never held back. A nil Work holds nobody back.
type Work struct {
	few, burst int
	now        func() time.Time

	mu      sync.Mutex
	all     load
	of      map[Account]*load // of the active: for whom something is done, or was lately
	heavy   map[string]int    // by project: what is done for servers that had more than their share
	swept   time.Time
	waiting int
	ended   chan struct{} // closed when something has ended, for who waits
}

// lately is over which time the averages go, and for how long whoever had something done counts as active.
const lately = time.Second

// heldBackLook is how often who is held back looks whether the others are active still.
const heldBackLook = 50 * time.Millisecond

// ErrBusy is why a server is held back. It is ErrNoTurn, too.
var ErrBusy = fmt.Errorf("the server has more than its share at work while others are active: %w", ErrServerShare)

// NewWork holds back to a tenth of so many connections at once, and to a quarter in a burst; at least to one.
func NewWork(connections int) *Work {
	return &Work{few: max(1, connections/10), burst: max(1, connections/4), now: time.Now, of: map[Account]*load{}, heavy: map[string]int{}, ended: make(chan struct{})}
}

// Begin waits until something more may be done for an account; End must be called then. Where
// that does not come within patience the error is ErrBusy, the context's where that ends first.
func (w *Work) Begin(ctx context.Context, a Account, patience time.Duration) error {
	if w == nil {
		return nil
	}
	ended := w.enter(a)
	if ended == nil {
		return nil
	}
	defer w.wait()()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	look := time.NewTicker(heldBackLook)
	defer look.Stop()
	for ended != nil {
		select {
		case <-ended:
		case <-look.C:
		case <-timer.C:
			return ErrBusy
		case <-ctx.Done():
			return ctx.Err() //nolint:wrapcheck // it is the caller's
		}
		ended = w.enter(a)
	}
	return nil
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
	if one.heavy > 0 {
		one.heavy--
		if w.heavy[a.Project]--; w.heavy[a.Project] == 0 {
			delete(w.heavy, a.Project)
		}
	}
	if w.waiting > 0 {
		close(w.ended)
		w.ended = make(chan struct{})
	}
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

// enter begins something and gives nil, or gives what to wait for.
func (w *Work) enter(a Account) (ended <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	heavy, wait := w.judge(a, w.now())
	if wait {
		return w.ended
	}
	one := w.add(a, 1)
	if heavy {
		one.heavy++
		w.heavy[a.Project]++
	}
	return nil
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
	if one.average > max(share, float64(w.few)/4) {
		return true, one.running >= w.few || w.heavy[a.Project] >= w.few
	}
	return false, one.running >= w.burst && float64(one.running) > share
}

// wait counts one more that waits; what it gives counts it no more.
func (w *Work) wait() (over func()) {
	count := func(n int) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.waiting += n
	}
	count(1)
	return func() { count(-1) }
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

// load is how much is done for somebody.
type load struct {
	running int
	heavy   int     // of running: begun when there had been more than a share
	average float64 // of running, lately
	at      time.Time
}

// pass has the average go on to a time.
func (l *load) pass(now time.Time) {
	if gone := now.Sub(l.at); gone > 0 {
		left := math.Exp(-float64(gone) / float64(lately))
		l.average = l.average*left + float64(l.running)*(1-left)
		l.at = now
	}
}

func (l *load) add(n int, now time.Time) {
	l.pass(now)
	l.running += n
}
