package proxy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Work counts what is being done for each server: its texts that are checked and its statements that run,
// abandoned ones included. It sees to it that one server does not take the processors' time from the others.
//
// A server is active if something is done for it, or was in the last second. A server that is alone is never
// held back. Beside other active servers, one that had more than its fair share at work over the last second (see
// share) has to wait:
//   - where its statements are short, it has a few at once, together with the others of its project that
//     had more than their share;
//   - where they take long, it begins none until its average is down to its share.
//
// One statement that has run for as long as the averages go does not count for what the server has beside it: who
// runs a report can go on with short statements meanwhile.
//
// A server that begins after a pause has no average yet: it may have a burst at once, or a few where others of
// its project wait. A nil Work holds nobody back.
type Work struct {
	few, burst int
	now        func() time.Time

	mu       sync.Mutex
	all      load
	of       map[Account]*load          // of the active servers
	projects map[string]*load           // what their servers have together; this program has none
	heavy    map[string]int             // by project: what is done for servers that had more than their share when it began
	lines    map[string]map[string]line // by project and server: what waits
	swept    time.Time
	waiting  int
}

// Job is something that is done for an account, until Work.End.
type Job struct {
	of    Account
	heavy bool // the server had more than its share when it began
	began time.Time
}

// lately is over which time the averages go, and for how long a server counts as active.
const lately = time.Second

// heldBackLook is how often the first of a server that is held back looks whether the others are active still.
const heldBackLook = 50 * time.Millisecond

// ErrBusy is why a server is held back. It is ErrNoTurn, too.
var ErrBusy = fmt.Errorf("the server has more than its share at work while others are active: %w", ErrServerShare)

// NewWork shares the processors' time of a database with so many connections. A few are a tenth of them, a burst
// is a quarter, and at least one.
func NewWork(connections int) *Work {
	return &Work{few: max(1, connections/10), burst: max(1, connections/4), now: time.Now, of: map[Account]*load{}, projects: map[string]*load{}, heavy: map[string]int{}, lines: map[string]map[string]line{}}
}

// Begin waits until something more may be done for an account, and gives it, and how long that took. Where it takes longer
// than patience the error is ErrBusy; it is the context's where that ends first.
func (w *Work) Begin(ctx context.Context, a Account, patience time.Duration) (_ Job, waited time.Duration, _ error) {
	if w == nil {
		return Job{}, 0, nil
	}
	if job, may := w.enter(a, false); may {
		return job, 0, nil
	}
	start := time.Now()
	turn := w.join(a)
	defer w.dequeue(a, turn)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	var again <-chan time.Time
	for {
		select {
		case <-turn.Value.(chan struct{}):
		case <-again:
		case <-timer.C:
			return Job{}, 0, ErrBusy
		case <-ctx.Done():
			return Job{}, 0, ctx.Err() //nolint:wrapcheck // it is the caller's
		}
		if job, may := w.enter(a, true); may {
			return job, time.Since(start), nil
		}
		again = time.After(heldBackLook)
	}
}

// Start notes that something more is done for an account, which can't wait.
func (w *Work) Start(a Account) Job {
	if w == nil {
		return Job{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.job(a, false, w.now())
}

// Abandoned notes a statement that goes on in the database though its time is up. It is never left out when its
// server is judged.
func (w *Work) Abandoned(a Account) Job {
	if w == nil {
		return Job{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add(a, 1, w.now())
	return Job{of: a}
}

// job begins something. The lock is held.
func (w *Work) job(a Account, heavy bool, now time.Time) Job {
	one := w.add(a, 1, now)
	one.began = append(one.began, one.at)
	if heavy {
		w.heavy[a.Project]++
	}
	return Job{of: a, heavy: heavy, began: one.at}
}

// Pause has a job of the account wait for a connection, or a place, until Resume: meanwhile it is none of its work,
// but counts for what the account has at once.
func (w *Work) Pause(a Account) { w.pause(a, 1) }

// Resume ends what Pause began. It comes before the job's End.
func (w *Work) Resume(a Account) { w.pause(a, -1) }

func (w *Work) pause(a Account, n int) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.counted(w.add(a, 0, w.now())) {
		l.paused += n
	}
}

// End notes that a job has ended.
func (w *Work) End(job Job) { w.end(job, 0) }

// Cancel is End for a job of which nothing had to be done: it tells nothing of how long the server's others take.
func (w *Work) Cancel(job Job) { w.end(job, 1) }

func (w *Work) end(job Job, uncounted int) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.add(job.of, -1, w.now())
	for _, l := range w.counted(one) {
		l.ended -= float64(uncounted) / lately.Seconds()
	}
	if at := slices.Index(one.began, job.began); at >= 0 {
		one.began = slices.Delete(one.began, at, at+1)
	}
	if one.running == 0 { // so that it waits for its share for 0.7 s at most
		forgiven := max(one.average-1, 0)
		for _, l := range w.counted(one) {
			l.average -= forgiven
		}
	}
	if job.heavy {
		if w.heavy[job.of.Project]--; w.heavy[job.of.Project] == 0 {
			delete(w.heavy, job.of.Project)
		}
	}
	w.wake(job.of)
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

// add notes n more for an account. The lock is held.
func (w *Work) add(a Account, n int, now time.Time) *load {
	w.sweep(now, lately)
	one := w.of[a]
	if one == nil {
		one = &load{at: now, project: w.project(a, now)}
		w.of[a] = one
	}
	for _, l := range w.counted(one) {
		l.add(n, now)
	}
	return one
}

// project is where what is done for an account counts for its project. The lock is held.
func (w *Work) project(a Account, now time.Time) *load {
	of := w.projects[a.Project]
	if of == nil {
		of = &load{at: now}
		if a != (Account{}) {
			w.projects[a.Project] = of
		}
	}
	return of
}

// counted is where what is done for a server counts. The lock is held.
func (w *Work) counted(one *load) [3]*load { return [...]*load{one, one.project, &w.all} }

// sweep forgets the servers and projects that are not active any more, unless it did so lately. A project goes with
// its last server, for it goes on whenever one of them does.
func (w *Work) sweep(now time.Time, each time.Duration) {
	if now.Sub(w.swept) < each {
		return
	}
	w.swept = now
	maps.DeleteFunc(w.of, func(_ Account, l *load) bool { return l.idle(now) })
	maps.DeleteFunc(w.projects, func(_ string, l *load) bool { return l.idle(now) })
}
