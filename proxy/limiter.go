package proxy

import (
	"context"
	"errors"
	"fmt"
	"math"
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
	together int                 // servers' requests for a project; negative: no limit
	mu       sync.Mutex          // guards what is below, the budgets' fields too
	budgets  map[Account]*budget // of servers, and of projects, which have no Server
	admitted int
}

func newLimiter(override policy.Limits, together int) *limiter {
	if together == 0 {
		together = DefaultProjectBudget
	}
	return &limiter{override: override, together: together, budgets: map[Account]*budget{}}
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
func (l *limiter) admit(ctx context.Context, a Account, p policy.Limits) (Place, error) {
	limits := l.effective(p)
	b, rate, w, refusal := l.acquire(a, limits, time.Now())
	if refusal != nil {
		return Place{Rate: rate}, refusal
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
	return Place{Rate: rate}, &Error{Code: RateLimited, RetryAfter: time.Second, Retryable: true, Cause: fmt.Errorf("%w: %w", ErrServerShare, waiting.Err()),
		Message: fmt.Sprintf("this server has as many statements running or transactions open as it may, %d (maxConcurrent); wait for one to end and try again", limits.MaxConcurrent),
		Hint:    "keep transactions and statements short, and do no other work inside them"}
}

// pace takes a request out of the server's budget, and no place.
func (l *limiter) pace(a Account, p policy.Limits) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, _, refusal := l.charge(a, l.effective(p), time.Now()); refusal != nil {
		return refusal
	}
	return nil
}

// charge takes a request out of the budgets of a server and its project. The lock is held.
func (l *limiter) charge(a Account, limits policy.Limits, now time.Time) (b *budget, rate Rate, refusal *Error) {
	b = l.of(a, now)
	rate, wait := b.charge(limits, now)
	if wait > 0 {
		return b, rate, tooFast(ErrServerShare, "this server sends", "its limit (requestsPerSecond)", limits.RequestsPerSecond, wait)
	}
	if l.together < 0 || a.Project == "" || limits.RequestsPerSecond < 0 {
		return b, rate, nil
	}
	limits.RequestsPerSecond, limits.Burst = times(limits.RequestsPerSecond, l.together), times(limits.Burst, l.together)
	if _, wait := l.of(Account{Project: a.Project}, now).charge(limits, now); wait > 0 {
		return b, rate, tooFast(ErrProjectShare, "the servers of this project send together", "their limit (an operator sets it by --project-budget)", limits.RequestsPerSecond, wait)
	}
	return b, rate, nil
}

// times is n times m, as far as that can be counted.
func times(n, m int) int { return int(min(int64(n)*int64(m), math.MaxInt32)) }

func tooFast(whose error, who, limit string, perSecond int, wait time.Duration) *Error {
	return &Error{Code: RateLimited, RetryAfter: wait, Retryable: true, Cause: whose,
		Message: fmt.Sprintf("%s more than %d statements a second, %s; slow down and try again", who, perSecond, limit),
		Hint:    "have one statement do what several did, or have the limit raised"}
}

// acquire takes a request out of the budgets; w is nil where there is a place, too.
func (l *limiter) acquire(a Account, limits policy.Limits, now time.Time) (b *budget, rate Rate, w *waiter, refusal *Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, rate, refusal = l.charge(a, limits, now)
	if refusal != nil {
		return b, rate, nil, refusal
	}
	return b, rate, b.acquire(limits.MaxConcurrent), nil
}

// of finds or makes a budget. The lock is held.
func (l *limiter) of(a Account, now time.Time) *budget {
	if l.admitted++; l.admitted%sweepEvery == 0 {
		l.sweep(now)
	}
	b := l.budgets[a]
	if b == nil {
		b = &budget{}
		l.budgets[a] = b
	}
	return b
}

func (l *limiter) release(b *budget) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b.release()
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
	for a, b := range l.budgets {
		if b.running == 0 && len(b.waiting) == 0 && b.whole(now) {
			delete(l.budgets, a)
		}
	}
}
