package proxy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/policy"
)

func TestRateIsLimited(t *testing.T) {
	b := newBench(t, policy.Limits{})
	for i := range 2 {
		place, err := b.Admit(t.Context(), Subject{Server: Server{ID: "s"}})
		if err != nil || place.Rate.Limit != 2 || place.Rate.Remaining != 1-i {
			t.Errorf("%+v %v", place, err)
		}
		place.Release()
		place.Release()
	}
	place, err := b.Admit(t.Context(), Subject{Server: Server{ID: "s"}})
	if e := AsError(err); err == nil || e.Code != RateLimited || e.RetryAfter <= 0 || e.RetryAfter > 500*time.Millisecond || place.Rate.Limit != 2 {
		t.Errorf("%+v %v", place, err)
	}
	if _, err := b.Admit(t.Context(), Subject{Server: Server{ID: "another"}}); err != nil {
		t.Errorf("another server is limited too: %v", err)
	}
}

// TestPaceTakesNoPlace has one place taken all the time: the budget alone decides, and it is
// the one that Admit takes from.
func TestPaceTakesNoPlace(t *testing.T) {
	b := newBench(t, policy.Limits{})
	s := Subject{Server: Server{ID: "s"}}
	place, err := b.Admit(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Pace(s); err != nil {
		t.Errorf("the second of two: %v", err)
	}
	err = b.Pace(s)
	if e := AsError(err); err == nil || e.Code != RateLimited || e.RetryAfter <= 0 || e.RetryAfter > 500*time.Millisecond {
		t.Errorf("the third: %v", err)
	}
	place.Release()
	if _, err := b.Admit(t.Context(), s); codeOf(err) != RateLimited {
		t.Errorf("admitted from an empty budget: %v", err)
	}
	if b.limiter.budgets[Account{Server: "s"}].running != 0 {
		t.Error("a place is taken")
	}
	if err := b.Pace(Subject{Server: Server{ID: "s", Policy: "gone"}}); codeOf(err) != UpstreamUnavailable {
		t.Errorf("a policy that is not loaded: %v", err)
	}
}

// TestOneBudget shows that a server has one budget, whatever policies its callers have:
// changing from one to another wins no request.
func TestOneBudget(t *testing.T) {
	slow := policy.Limits{RequestsPerSecond: 1, Burst: 1, MaxConcurrent: -1}
	fast := policy.Limits{RequestsPerSecond: 1, Burst: 3, MaxConcurrent: -1}
	none := policy.Limits{RequestsPerSecond: -1, MaxConcurrent: -1}
	for name, steps := range map[string][]struct {
		limits policy.Limits
		admit  bool
	}{
		"slow first":  {{slow, true}, {fast, true}, {slow, false}, {fast, true}, {fast, false}, {slow, false}},
		"fast first":  {{fast, true}, {slow, false}, {fast, true}, {slow, false}, {fast, true}, {fast, false}},
		"to and fro":  {{slow, true}, {slow, false}, {fast, true}, {slow, false}, {fast, true}, {slow, false}, {fast, false}},
		"without any": {{slow, true}, {none, true}, {none, true}, {slow, false}, {fast, true}, {none, true}, {fast, true}, {fast, false}},
	} {
		l := newLimiter(policy.Limits{}, 0)
		for i, step := range steps {
			place, err := l.admit(t.Context(), Account{Server: "s"}, step.limits)
			if (err == nil) != step.admit {
				t.Errorf("%s, step %d: %v", name, i, err)
			}
			place.Release()
		}
	}
	// However many policies there are, a server gets the largest burst in all.
	l, admitted := newLimiter(policy.Limits{}, 0), 0
	for burst := 1; burst <= 5; burst++ {
		for range 5 {
			if _, err := l.admit(t.Context(), Account{Server: "s"}, policy.Limits{RequestsPerSecond: 1, Burst: burst, MaxConcurrent: -1}); err == nil {
				admitted++
			}
		}
	}
	if admitted != 5 {
		t.Errorf("%d requests at once through five policies", admitted)
	}
}

// TestRefill shows by a clock of its own what comes back, and what callers are told of it.
func TestRefill(t *testing.T) {
	now := time.Now()
	b := &budget{}
	limits := policy.Limits{RequestsPerSecond: 10, Burst: 4}
	for i, step := range []struct {
		after     time.Duration
		remaining int
		reset     time.Duration
		wait      time.Duration
	}{
		{0, 3, 100 * time.Millisecond, 0}, {0, 2, 200 * time.Millisecond, 0}, {0, 1, 300 * time.Millisecond, 0}, {0, 0, 400 * time.Millisecond, 0},
		{0, 0, 400 * time.Millisecond, 100 * time.Millisecond}, {60 * time.Millisecond, 0, 340 * time.Millisecond, 40 * time.Millisecond},
		{40 * time.Millisecond, 0, 400 * time.Millisecond, 0}, {time.Hour, 3, 100 * time.Millisecond, 0},
	} {
		now = now.Add(step.after)
		rate, wait := b.charge(limits, now)
		if rate != (Rate{Limit: 10, Burst: 4, Remaining: step.remaining, Reset: step.reset}) || wait != step.wait {
			t.Errorf("step %d: %+v, wait %v", i, rate, wait)
		}
	}
	if _, wait := (&budget{}).charge(policy.Limits{RequestsPerSecond: 1<<31 - 1, Burst: 1<<31 - 1}, now); wait != 0 {
		t.Errorf("the largest limits: wait %v", wait)
	}
	if _, wait := (&budget{}).charge(policy.Limits{RequestsPerSecond: 1, Burst: 1<<31 - 1}, now); wait != 0 {
		t.Errorf("the slowest refill: wait %v", wait)
	}
}

// TestPlacesInOrder has five wait for one place: they get it in the order in which they came.
func TestPlacesInOrder(t *testing.T) {
	l := newLimiter(policy.Limits{}, 0)
	limits := policy.Limits{RequestsPerSecond: -1, MaxConcurrent: 1, MaxWait: 10 * time.Second}
	first, err := l.admit(t.Context(), Account{Server: "s"}, limits)
	if err != nil {
		t.Fatal(err)
	}
	order := make(chan int, 5)
	for i := range 5 {
		go func() {
			place, err := l.admit(t.Context(), Account{Server: "s"}, limits)
			if err != nil {
				t.Error(err)
			}
			order <- i
			place.Release()
		}()
		for l.queued("s") != i+1 {
			time.Sleep(time.Millisecond)
		}
	}
	first.Release()
	var got []int
	for range 5 {
		got = append(got, <-order)
	}
	if !slices.IsSorted(got) {
		t.Errorf("they came in as %v", got)
	}
}

func (l *limiter) queued(server string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.budgets[Account{Server: server}].waiting)
}

// TestPlacesOfSeveralPolicies counts all that run against the limit of who comes.
func TestPlacesOfSeveralPolicies(t *testing.T) {
	l := newLimiter(policy.Limits{}, 0)
	of := func(limit int) policy.Limits {
		return policy.Limits{RequestsPerSecond: -1, MaxConcurrent: limit, MaxWait: 20 * time.Millisecond}
	}
	var places []Place
	for i, step := range []struct {
		limit int
		admit bool
	}{{2, true}, {1, false}, {2, true}, {2, false}, {3, true}, {3, false}, {-1, true}, {4, false}} {
		place, err := l.admit(t.Context(), Account{Server: "s"}, of(step.limit))
		if (err == nil) != step.admit || err != nil && codeOf(err) != RateLimited {
			t.Errorf("step %d: %v", i, err)
		}
		if err == nil {
			places = append(places, place)
		}
	}
	// One with a low limit, who still has to wait, does not hold up those behind it.
	low, high := make(chan error, 1), make(chan error, 1)
	wait := func(limit int, told chan error) {
		limits := of(limit)
		limits.MaxWait = 5 * time.Second
		place, err := l.admit(t.Context(), Account{Server: "s"}, limits)
		told <- err
		place.Release()
	}
	go wait(1, low)
	for l.queued("s") != 1 {
		time.Sleep(time.Millisecond)
	}
	go wait(4, high)
	for l.queued("s") != 2 {
		time.Sleep(time.Millisecond)
	}
	places[0].Release()
	places[0].Release() // twice is once
	if err := <-high; err != nil {
		t.Error(err)
	}
	if l.queued("s") != 1 {
		t.Error("the one with the low limit did not wait on")
	}
	for _, place := range places {
		place.Release()
	}
	if err := <-low; err != nil {
		t.Error(err)
	}
}

// TestWaitEnds shows that who gives up waiting leaves nothing behind.
func TestWaitEnds(t *testing.T) {
	l := newLimiter(policy.Limits{}, 0)
	limits := policy.Limits{RequestsPerSecond: -1, MaxConcurrent: 1, MaxWait: time.Minute}
	first, err := l.admit(t.Context(), Account{Server: "s"}, limits)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := l.admit(ctx, Account{Server: "s"}, limits); codeOf(err) != RateLimited || l.queued("s") != 0 {
		t.Errorf("%v, %d wait", err, l.queued("s"))
	}
	first.Release()
	if next, err := l.admit(t.Context(), Account{Server: "s"}, limits); err != nil {
		t.Error(err)
	} else {
		next.Release()
	}
	if b := l.budgets[Account{Server: "s"}]; b.running != 0 {
		t.Errorf("%d run", b.running)
	}
}

// TestReleaseTwice shows that a place is given back once.
func TestReleaseTwice(t *testing.T) {
	l := newLimiter(policy.Limits{}, 0)
	limits := policy.Limits{RequestsPerSecond: -1, MaxConcurrent: 2}
	var places [2]Place
	for i := range places {
		var err error
		if places[i], err = l.admit(t.Context(), Account{Server: "s"}, limits); err != nil {
			t.Fatal(err)
		}
	}
	places[0].Release()
	places[0].Release()
	(&Place{}).Release()
	if n := l.budgets[Account{Server: "s"}].running; n != 1 {
		t.Errorf("%d run", n)
	}
}

// TestAdmittingAllocatesNothing is about servers that were active lately.
func TestAdmittingAllocatesNothing(t *testing.T) {
	l, ctx := newLimiter(policy.Limits{}, 0), t.Context()
	limits := policy.Limits{RequestsPerSecond: 1 << 30, Burst: 1 << 30, MaxConcurrent: 1}
	if n := testing.AllocsPerRun(100, func() {
		place, err := l.admit(ctx, Account{Server: "s"}, limits)
		if err != nil {
			t.Fatal(err)
		}
		place.Release()
		if err := l.pace(Account{Server: "s"}, limits); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestIdleBudgetsAreDropped(t *testing.T) {
	l := newLimiter(policy.Limits{}, 0)
	limits := policy.Limits{RequestsPerSecond: 1000, Burst: 1, MaxConcurrent: -1}
	for i := range 2 * sweepEvery {
		place, err := l.admit(t.Context(), Account{Server: fmt.Sprint(i)}, limits)
		if err != nil {
			t.Fatal(err)
		}
		if i != 0 { // who is active is kept
			place.Release()
		}
	}
	if n := len(l.budgets); n > sweepEvery+100 || l.budgets[Account{Server: "0"}] == nil {
		t.Errorf("%d budgets are kept", n)
	}
}

// TestOverride lifts the limits, as a load test does, or sets others, which count at once.
func TestOverride(t *testing.T) {
	b := newBench(t, policy.Limits{RequestsPerSecond: -1, MaxConcurrent: -1})
	for range 100 {
		if _, err := b.Admit(t.Context(), Subject{Server: Server{ID: "s"}}); err != nil {
			t.Fatal(err)
		}
	}
	l, admitted := newLimiter(policy.Limits{RequestsPerSecond: 5}, 0), 0
	for range 100 {
		place, err := l.admit(t.Context(), Account{Server: "s"}, policy.Limits{RequestsPerSecond: 200, Burst: 400, MaxConcurrent: -1})
		if err == nil {
			admitted++
		} else if !strings.Contains(err.Error(), "rate_limited") || place.Rate.Burst != 10 {
			t.Errorf("%v %+v", err, place.Rate)
		}
	}
	if admitted != 10 {
		t.Errorf("%d requests at once with 5 a second", admitted)
	}
}

// TestLimitsAreNamed has refusals tell how high the limit is that they are for.
func TestLimitsAreNamed(t *testing.T) {
	l := newLimiter(policy.Limits{}, 0)
	refused := func(server string, limits policy.Limits) string {
		limits.MaxWait = time.Millisecond
		for range 10 {
			if _, err := l.admit(t.Context(), Account{Server: server}, limits); err != nil {
				return AsError(err).Message + ", hint: " + AsError(err).Hint
			}
		}
		return ""
	}
	fast := policy.Limits{RequestsPerSecond: 7, Burst: 2, MaxConcurrent: -1}
	const tooFast = "this server sends more than 7 statements a second, its limit (requestsPerSecond); slow down and try again, hint: have one statement do what several did, or have the limit raised"
	if got := refused("fast", fast); got != tooFast {
		t.Error(got)
	}
	if e := AsError(l.pace(Account{Server: "fast"}, fast)); e.Message+", hint: "+e.Hint != tooFast {
		t.Error(e)
	}
	if got := refused("many", policy.Limits{RequestsPerSecond: -1, MaxConcurrent: 3}); got != "this server has as many statements running or transactions open as it may, 3 (maxConcurrent); wait for one to end and try again, hint: keep transactions and statements short, and do no other work inside them" {
		t.Error(got)
	}
}

// TestSlowCaller has one caller stay within a low limit: it costs the server's other
// callers no more than what it sends.
func TestSlowCaller(t *testing.T) {
	now := time.Now()
	b := &budget{}
	slow, fast := policy.Limits{RequestsPerSecond: 5, Burst: 400}, policy.Limits{RequestsPerSecond: 200, Burst: 400}
	for range 60 {
		if _, wait := b.charge(slow, now); wait != 0 {
			t.Fatal(wait)
		}
	}
	if rate, wait := b.charge(fast, now); wait != 0 || rate.Remaining != 339 {
		t.Errorf("%+v, wait %v", rate, wait)
	}
	for range 400 {
		b.charge(fast, now)
	}
	if _, wait := b.charge(slow, now); wait == 0 {
		t.Error("what the one used is not used for the other")
	}
	now = now.Add(2 * time.Second)
	if rate, wait := b.charge(fast, now); wait != 0 || rate.Remaining != 399 {
		t.Errorf("two seconds later: %+v, wait %v", rate, wait)
	}
}

// TestWaitingAtTheEnd has the service shut down while a caller waits for a place: he is
// told that, not that he asked too much.
func TestWaitingAtTheEnd(t *testing.T) {
	l := newLimiter(policy.Limits{}, 0)
	limits := policy.Limits{RequestsPerSecond: -1, MaxConcurrent: 1, MaxWait: time.Minute}
	first, err := l.admit(t.Context(), Account{Server: "s"}, limits)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Release()
	ctx, end := context.WithCancelCause(t.Context())
	end(Refuse(ShuttingDown, "the service is shutting down"))
	if _, err := l.admit(ctx, Account{Server: "s"}, limits); codeOf(err) != ShuttingDown {
		t.Errorf("%v", err)
	}
}

// TestProjectsShareABudget has the servers of a project send together no more than so many servers may, while
// those of another have their own.
func TestProjectsShareABudget(t *testing.T) {
	limits := policy.Limits{RequestsPerSecond: 1, Burst: 2, MaxConcurrent: -1}
	for together, want := range map[int]int{3: 6, 0: 20, -1: 20} {
		l, admitted := newLimiter(policy.Limits{}, together), 0
		for i := range 10 {
			for range 3 {
				_, err := l.admit(t.Context(), Account{"p", fmt.Sprint(i)}, limits)
				switch {
				case err == nil:
					admitted++
				case Whose(err) == "project" && (want == 20 || admitted < want):
					t.Errorf("after %d: %v", admitted, err)
				}
			}
		}
		if admitted != want {
			t.Errorf("%d times the budget of a server: %d requests, want %d", together, admitted, want)
		}
		if _, err := l.admit(t.Context(), Account{"q", "0"}, limits); err != nil {
			t.Errorf("another project: %v", err)
		}
	}
}
