package proxy

import (
	"math"
	"slices"
	"time"

	"github.com/tenantgate/tenantgate/policy"
)

// budget is what one server has left. Its callers may have different limits, each by the
// policy that applies to it. There is a bucket of tokens for each such pace, and a request
// takes one out of all: so changing from one pace to another wins nothing, and a caller
// with a low one costs those with a high one no more than a token.
type budget struct {
	buckets []bucket  // one for each pace; there are no more paces than policies
	running int       // those that hold a place, whatever their limits
	waiting []*waiter // for a place, in the order in which they came
}

// bucket is what is left at one pace.
type bucket struct {
	pace
	wholeAt time.Time // when it will be full again
}

// pace is how fast requests may come: a bucket's refill and its size.
type pace struct{ perSecond, burst int }

// each is the time in which a token comes back.
func (p pace) each() time.Duration {
	return max(time.Second/time.Duration(max(p.perSecond, 1)), 1)
}

// window is the time in which an empty bucket becomes full.
func (p pace) window() time.Duration {
	return time.Duration(min(p.burst, math.MaxInt32)) * p.each()
}

// waiter is who waits for a place: until fewer than limit run.
type waiter struct {
	limit  int
	placed chan struct{} // closed when it has one
}

// charge takes one request; wait is how long until there is one, 0 when it was taken.
func (b *budget) charge(limits policy.Limits, now time.Time) (rate Rate, wait time.Duration) {
	if limits.RequestsPerSecond < 0 {
		return Rate{}, 0
	}
	own := b.open(pace{limits.RequestsPerSecond, limits.Burst}, now)
	if wait = own.used(now) + own.each() - own.window(); wait <= 0 {
		wait = 0
		for i := range b.buckets {
			b.buckets[i].charge(now)
		}
	}
	used := own.used(now)
	return Rate{Limit: own.perSecond, Burst: own.burst, Remaining: int(max(own.window()-used, 0) / own.each()), Reset: used}, wait
}

// used is the time in which what is missing from the bucket comes back.
func (b *bucket) used(now time.Time) time.Duration { return max(b.wholeAt.Sub(now), 0) }

// charge takes a token out, if one is left.
func (b *bucket) charge(now time.Time) { b.wholeAt = now.Add(min(b.used(now)+b.each(), b.window())) }

// open gives the bucket of a pace. One that is new here lacks as many tokens as the one
// that lacks most.
func (b *budget) open(own pace, now time.Time) *bucket {
	missing := 0
	for i := range b.buckets {
		at := &b.buckets[i]
		if at.pace == own {
			return at
		}
		missing = max(missing, int((at.used(now)+at.each()-1)/at.each()))
	}
	used := min(time.Duration(min(missing, own.burst))*own.each(), own.window())
	b.buckets = append(b.buckets, bucket{own, now.Add(used)})
	return &b.buckets[len(b.buckets)-1]
}

// whole tells whether all buckets are full.
func (b *budget) whole(now time.Time) bool {
	return !slices.ContainsFunc(b.buckets, func(at bucket) bool { return at.used(now) > 0 })
}

// acquire takes a place, or queues for one and gives the waiter.
func (b *budget) acquire(limit int) *waiter {
	if limit < 0 || b.running < limit {
		b.running++
		return nil
	}
	w := &waiter{limit: limit, placed: make(chan struct{})}
	b.waiting = append(b.waiting, w)
	return w
}

// release gives a place back, to the first who may have it. One whose limit is lower than
// that of those behind it does not hold them up.
func (b *budget) release() {
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
