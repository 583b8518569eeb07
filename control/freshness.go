package control

import (
	"sync/atomic"
	"time"
)

// freshness is what a process knows about how well its caches follow the store. All
// times are the monotonic clock's, counted from start.
type freshness struct {
	start     time.Time
	confirmed atomic.Int64  // when the store last confirmed that nothing was missed; 0: never
	awayUntil atomic.Int64  // until then the store counts as unreachable
	answered  atomic.Int64  // when it answered last
	epoch     atomic.Uint64 // raised before anything is dropped from a cache
}

func newFreshness() *freshness { return &freshness{start: time.Now().Add(-time.Nanosecond)} }

// now is the time since start; it is never 0.
func (f *freshness) now() time.Duration { return time.Since(f.start) }

// confirm says that at this time every change had been applied to the caches.
func (f *freshness) confirm(at time.Duration) {
	f.confirmed.Store(int64(at))
	f.reached()
}

// fail says that an attempt to reach the store, which began at this time, has just failed. It
// tells whether the store counts as unreachable now: not where it has answered another since,
// which is to say that too many ask.
func (f *freshness) fail(began time.Duration) (away bool) {
	if f.answeredSince(began) {
		return false
	}
	f.awayUntil.Store(int64(f.now() + awayFor))
	return true
}

// reached says that the store has just answered.
func (f *freshness) reached() {
	f.answered.Store(int64(f.now()))
	f.awayUntil.Store(0)
}

// answeredSince tells whether the store has answered anybody since this time.
func (f *freshness) answeredSince(began time.Duration) bool {
	return time.Duration(f.answered.Load()) > began
}

// away tells whether an attempt failed a moment ago, so that a request need not wait for
// its own attempt to fail.
func (f *freshness) away() bool { return f.now() < time.Duration(f.awayUntil.Load()) }

// unconfirmed is for how long nothing has vouched for an entry that was read at this time
// and not dropped since.
func (f *freshness) unconfirmed(read, now time.Duration) time.Duration {
	return now - max(read, time.Duration(f.confirmed.Load()))
}

// confirmedWithin tells whether the store confirmed so short a time ago.
func (f *freshness) confirmedWithin(d time.Duration) bool {
	at := f.confirmed.Load()
	return at != 0 && f.now()-time.Duration(at) < d
}
