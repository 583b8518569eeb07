package proxy

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"golang.org/x/sync/semaphore"
)

// sweepEvery is after how many admissions the budgets of idle servers are dropped.
const sweepEvery = 4096

// limiter keeps each server's budget: a token bucket of requests and a number of
// places. It holds entries only for servers that were active lately.
type limiter struct {
	override policy.Limits
	mu       sync.Mutex
	budgets  map[account]*budget
	admitted int
}

// account is whose budget it is: a server has one for each set of limits that the
// policies of its callers give it, so that changing from one to another refills neither.
type account struct {
	server string
	limits policy.Limits
}

// budget is what is left of one account. Its fields but places are guarded by the limiter's lock.
type budget struct {
	limits policy.Limits
	tokens float64
	filled time.Time
	users  int // requests that hold or await a place
	places *semaphore.Weighted
}

func newLimiter(override policy.Limits) *limiter {
	return &limiter{override: override, budgets: map[account]*budget{}}
}

// effective applies the operator's override to a policy's limits.
func (l *limiter) effective(p policy.Limits) policy.Limits {
	limits := policy.Limits{MaxConcurrent: p.MaxConcurrent, MaxWait: p.MaxWait, RequestsPerSecond: p.RequestsPerSecond, Burst: p.Burst}
	if l.override.MaxConcurrent != 0 {
		limits.MaxConcurrent = l.override.MaxConcurrent
	}
	if l.override.RequestsPerSecond != 0 {
		limits.RequestsPerSecond = l.override.RequestsPerSecond
		limits.Burst = max(limits.Burst, 2*limits.RequestsPerSecond)
	}
	return limits
}

// admit takes a token, then waits in order for a place.
func (l *limiter) admit(ctx context.Context, server string, p policy.Limits) (Place, error) {
	limits := l.effective(p)
	b, rate, wait := l.take(server, limits, time.Now())
	if wait > 0 {
		return Place{Rate: rate}, &Error{Code: RateLimited, RetryAfter: wait, Retryable: true,
			Message: "this server sends more requests than its limit; slow down and try again"}
	}
	if limits.MaxConcurrent < 0 {
		return Place{Rate: rate, release: func() { l.leave(b) }}, nil
	}
	waiting, cancel := context.WithTimeout(ctx, limits.MaxWait)
	defer cancel()
	if err := b.places.Acquire(waiting, 1); err != nil {
		l.leave(b)
		return Place{Rate: rate}, &Error{Code: RateLimited, RetryAfter: time.Second, Retryable: true, Cause: err,
			Message: "this server has as many statements running as it may; wait for one to end and try again"}
	}
	return Place{Rate: rate, release: func() { b.places.Release(1); l.leave(b) }}, nil
}

// take finds or makes the budget and takes a token out of it; wait is how long until
// there is one, 0 when it was taken. A taken one must be followed by leave.
func (l *limiter) take(server string, limits policy.Limits, now time.Time) (b *budget, rate Rate, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.admitted++; l.admitted%sweepEvery == 0 {
		l.sweep(now)
	}
	of := account{server, limits}
	b = l.budgets[of]
	if b == nil {
		b = &budget{limits: limits, tokens: float64(limits.Burst), filled: now, places: semaphore.NewWeighted(int64(max(limits.MaxConcurrent, 1)))}
		l.budgets[of] = b
	}
	if limits.RequestsPerSecond < 0 {
		b.users++
		return b, Rate{}, 0
	}
	b.fill(now)
	if b.tokens < 1 {
		return b, b.rate(), max(1, seconds((1-b.tokens)/float64(limits.RequestsPerSecond)))
	}
	b.tokens--
	b.users++
	return b, b.rate(), 0
}

func (b *budget) fill(now time.Time) {
	gained := now.Sub(b.filled).Seconds() * float64(b.limits.RequestsPerSecond)
	b.tokens = math.Min(float64(b.limits.Burst), b.tokens+gained)
	b.filled = now
}

func (b *budget) rate() Rate {
	missing := float64(b.limits.Burst) - b.tokens
	return Rate{Limit: b.limits.RequestsPerSecond, Burst: b.limits.Burst, Remaining: int(b.tokens),
		Reset: seconds(missing / float64(b.limits.RequestsPerSecond))}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func (l *limiter) leave(b *budget) {
	l.mu.Lock()
	b.users--
	l.mu.Unlock()
}

// sweep drops the budgets that nobody uses and that are full again: a new one would be
// no different.
func (l *limiter) sweep(now time.Time) {
	for of, b := range l.budgets {
		if b.limits.RequestsPerSecond > 0 {
			b.fill(now)
		}
		if b.users == 0 && (b.limits.RequestsPerSecond < 0 || b.tokens >= float64(b.limits.Burst)) {
			delete(l.budgets, of)
		}
	}
}
