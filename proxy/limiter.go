package proxy

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tenantgate/tenantgate/policy"
)

// sweepEvery is after how many admissions the budgets of idle servers are dropped.
const sweepEvery = 4096

// limiter keeps each server's budget: requests by time, and places for those that run.
// It holds entries only for servers that were active lately. One lock does for all of them:
// a request holds it for 0.2 us in all.
type limiter struct {
	override policy.Limits
	mu       sync.Mutex // guards what is below, the budgets' fields too
	budgets  map[string]*budget
	admitted int
}

func newLimiter(override policy.Limits) *limiter {
	return &limiter{override: override, budgets: map[string]*budget{}}
}

// effective applies the operator's override to a policy's limits.
func (l *limiter) effective(p policy.Limits) policy.Limits {
	limits := policy.Limits{MaxConcurrent: p.MaxConcurrent, MaxWait: p.MaxWait, RequestsPerSecond: p.RequestsPerSecond, Burst: p.Burst}
	if l.override.MaxConcurrent != 0 {
		limits.MaxConcurrent = l.override.MaxConcurrent
	}
	if l.override.RequestsPerSecond != 0 {
		limits.RequestsPerSecond = l.override.RequestsPerSecond
		limits.Burst = 2 * l.override.RequestsPerSecond
	}
	return limits
}

// admit takes a request out of the server's budget, then waits in order for a place. p
// are the limits of the caller's policy: the budget is the server's, whoever asks.
func (l *limiter) admit(ctx context.Context, server string, p policy.Limits) (Place, error) {
	limits := l.effective(p)
	b, rate, w, wait := l.enter(server, limits, time.Now())
	if wait > 0 {
		return Place{Rate: rate}, tooFast(limits, wait)
	}
	place := Place{Rate: rate, limiter: l, budget: b}
	if w == nil {
		return place, nil
	}
	waiting, cancel := context.WithTimeout(ctx, limits.MaxWait)
	defer cancel()
	select {
	case <-w.placed:
		return place, nil
	case <-waiting.Done():
	}
	if l.stopWaiting(b, w) {
		return place, nil // it came in the same moment
	}
	var told *Error
	if errors.As(context.Cause(ctx), &told) { // the service shuts down
		return Place{Rate: rate}, told
	}
	return Place{Rate: rate}, &Error{Code: RateLimited, RetryAfter: time.Second, Retryable: true, Cause: waiting.Err(),
		Message: fmt.Sprintf("this server has as many statements running or transactions open as it may, %d (maxConcurrent); wait for one to end and try again", limits.MaxConcurrent),
		Hint:    "keep transactions and statements short, and do no other work inside them"}
}

// pace takes a request out of the server's budget, and no place.
func (l *limiter) pace(server string, p policy.Limits) error {
	limits, now := l.effective(p), time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, wait := l.of(server, now).take(limits, now); wait > 0 {
		return tooFast(limits, wait)
	}
	return nil
}

func tooFast(limits policy.Limits, wait time.Duration) *Error {
	return &Error{Code: RateLimited, RetryAfter: wait, Retryable: true,
		Message: fmt.Sprintf("this server sends more than %d statements a second, its limit (requestsPerSecond); slow down and try again", limits.RequestsPerSecond),
		Hint:    "have one statement do what several did, or have the limit raised"}
}

// enter takes a request out of the server's budget; wait is how long until there is one, 0
// when it was taken. Then w is nil where there is a place, too.
func (l *limiter) enter(server string, limits policy.Limits, now time.Time) (b *budget, rate Rate, w *waiter, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b = l.of(server, now)
	if rate, wait = b.take(limits, now); wait > 0 {
		return b, rate, nil, wait
	}
	return b, rate, b.enter(limits.MaxConcurrent), 0
}

// of finds or makes a budget. The lock is held.
func (l *limiter) of(server string, now time.Time) *budget {
	if l.admitted++; l.admitted%sweepEvery == 0 {
		l.sweep(now)
	}
	b := l.budgets[server]
	if b == nil {
		b = &budget{}
		l.budgets[server] = b
	}
	return b
}

func (l *limiter) leave(b *budget) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b.leave()
}

// stopWaiting takes w out of the queue, and tells whether it got a place before that.
func (l *limiter) stopWaiting(b *budget, w *waiter) (placed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return b.stopWaiting(w)
}

// sweep drops the budgets that nobody uses and that are whole again: a new one would be
// no different.
func (l *limiter) sweep(now time.Time) {
	for server, b := range l.budgets {
		if b.running == 0 && len(b.waiting) == 0 && b.whole(now) {
			delete(l.budgets, server)
		}
	}
}
