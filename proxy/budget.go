package proxy

import (
	"math"
	"slices"
	"time"

	"github.com/tenantgate/tenantgate/policy"
)

// budget is what one server has left. Its callers may have different limits, each by the
// policy that applies to it; what they use is one and the same.
//
// Requests are counted as time: wholeAt is when the budget will be whole again. A request
// moves it on by the time in which the caller's limits win one request back, and it may
// lie ahead by what wins back their burst. For one set of limits this is a bucket of
// burst tokens; for several, what was used under one is used under all, and changing
// from one to another wins nothing.
type budget struct {
	wholeAt time.Time
	running int       // those that hold a place, whatever their limits
	waiting []*waiter // for a place, in the order in which they came
}

// waiter is who waits for a place: until fewer than limit run.
type waiter struct {
	limit  int
	placed chan struct{} // closed when it has one
}

// take takes one request; wait is how long until there is one, 0 when it was taken.
func (b *budget) take(limits policy.Limits, now time.Time) (rate Rate, wait time.Duration) {
	if limits.RequestsPerSecond < 0 {
		return Rate{}, 0
	}
	each := max(time.Second/time.Duration(max(limits.RequestsPerSecond, 1)), 1)
	burst := time.Duration(min(limits.Burst, math.MaxInt32)) * each
	used := max(b.wholeAt.Sub(now), 0)
	if wait = used + each - burst; wait <= 0 {
		used, wait = used+each, 0
		b.wholeAt = now.Add(used)
	}
	return Rate{Limit: limits.RequestsPerSecond, Burst: limits.Burst, Remaining: int(max(burst-used, 0) / each), Reset: used}, wait
}

// enter takes a place, or queues for one and gives the waiter.
func (b *budget) enter(limit int) *waiter {
	if limit < 0 || b.running < limit {
		b.running++
		return nil
	}
	w := &waiter{limit: limit, placed: make(chan struct{})}
	b.waiting = append(b.waiting, w)
	return w
}

// leave gives a place back, to the first who may have it. One whose limit is lower than
// that of those behind it does not hold them up.
func (b *budget) leave() {
	b.running--
	b.waiting = slices.DeleteFunc(b.waiting, func(w *waiter) bool {
		if b.running >= w.limit {
			return false
		}
		b.running++
		close(w.placed)
		return true
	})
}

// stopWaiting takes w out of the queue, and tells whether it got a place before that.
func (b *budget) stopWaiting(w *waiter) (placed bool) {
	i := slices.Index(b.waiting, w)
	if i >= 0 {
		b.waiting = slices.Delete(b.waiting, i, i+1)
	}
	return i < 0
}
