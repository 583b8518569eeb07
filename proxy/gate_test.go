package proxy

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func codeOf(err error) Code {
	if err == nil {
		return ""
	}
	return AsError(err).Code
}

const (
	reads  = "SELECT id FROM notes WHERE server_id = ?"
	writes = "INSERT INTO notes (id, server_id) VALUES (?, ?)"
)

// TestClosestPolicyWins assigns policies on every place that can have one.
func TestClosestPolicyWins(t *testing.T) {
	b := newBench(t, policy.Limits{})
	b.policies.config.Frontends = map[string]string{"wire": "reader"}
	for _, c := range []struct {
		name    string
		subject Subject
		want    Code
	}{
		{"default", Subject{Frontend: "rest"}, ""},
		{"front end", Subject{Frontend: "wire"}, policy.StatementNotAllowed},
		{"server over front end", Subject{Frontend: "wire", Server: Server{Policy: "writer"}}, ""},
		{"token over server", Subject{Server: Server{Policy: "writer"}, Caller: Caller{Policy: "reader"}}, policy.StatementNotAllowed},
		{"a policy that is not loaded", Subject{Server: Server{Policy: "gone"}}, policy.Internal},
	} {
		approved, err := b.Check(t.Context(), c.subject, writes)
		if codeOf(err) != c.want || (approved == nil) != (err != nil) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestPlansAreKept(t *testing.T) {
	b := newBench(t, policy.Limits{})
	for range 3 {
		if _, err := b.Check(t.Context(), Subject{}, reads); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Check(t.Context(), Subject{Frontend: "rest"}, "DROP TABLE notes"); codeOf(err) != policy.StatementNotAllowed {
			t.Fatal(err)
		}
	}
	if b.recorder.of("plan hit") != 4 || b.recorder.of("plan miss") != 2 || b.recorder.of("rejected statement_not_allowed rest") != 3 {
		t.Errorf("%v", b.recorder.counts)
	}
}

// TestNewColumn names a column that was added a moment ago: the refusal looks again.
func TestNewColumn(t *testing.T) {
	b := newBench(t, policy.Limits{})
	const text = "SELECT n.extra FROM notes n WHERE n.server_id = ?"
	if _, err := b.Check(t.Context(), Subject{}, text); codeOf(err) != policy.QueryFailed {
		t.Fatal(err)
	}
	b.catalog.set("id", "server_id", "body", "extra")
	time.Sleep(refusalPeriod)
	if _, err := b.Check(t.Context(), Subject{}, text); err != nil {
		t.Error(err)
	}
	reads := b.catalog.reads
	for range 50 {
		_, _ = b.Check(t.Context(), Subject{}, "SELECT n.nope FROM notes n WHERE n.server_id = ?")
	}
	if more := b.catalog.reads - reads; more > 2 {
		t.Errorf("a flood of refusals read the schema %d times", more)
	}
}

// TestSchemaThatDoesNotFit keeps the policies as they were.
func TestSchemaThatDoesNotFit(t *testing.T) {
	b := newBench(t, policy.Limits{})
	b.catalog.set("id", "body")
	if err := b.Refresh(t.Context()); err == nil {
		t.Error("a table without its scope column was taken")
	}
	if _, err := b.Check(t.Context(), Subject{}, reads); err != nil {
		t.Error(err)
	}
	b.catalog.err = errors.New("away")
	if err := b.Refresh(t.Context()); err == nil || b.recorder.of("refresh failed") != 2 {
		t.Errorf("%v %v", err, b.recorder.counts)
	}
}

func TestRunStops(t *testing.T) {
	b := newBench(t, policy.Limits{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- b.policies.Run(ctx) }()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestReach shows that what is out of reach and what does not exist are told alike.
func TestReach(t *testing.T) {
	b := newBench(t, policy.Limits{})
	caller := Caller{Projects: []string{"p", "gone"}}
	if _, err := b.Server(t.Context(), caller, "p", "s"); err != nil {
		t.Error(err)
	}
	for _, err := range []error{
		b.Project(t.Context(), caller, "q"), b.Project(t.Context(), caller, "gone"), b.Project(t.Context(), Caller{}, "p"),
		second(b.Server(t.Context(), Caller{}, "p", "s")), second(b.Server(t.Context(), caller, "p", "t")),
	} {
		if err == nil || err.Error() != Unreached().Error() {
			t.Errorf("%v", err)
		}
	}
}

func second(_ Server, err error) error { return err }

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

// TestCallerChangesPolicy shows that the policy closest to the caller sets the budget,
// and that going back and forth between two refills neither.
func TestCallerChangesPolicy(t *testing.T) {
	l := newLimiter(policy.Limits{})
	slow := policy.Limits{RequestsPerSecond: 1, Burst: 1, MaxConcurrent: -1}
	fast := policy.Limits{RequestsPerSecond: 1, Burst: 2, MaxConcurrent: -1}
	for i, step := range []struct {
		limits policy.Limits
		admit  bool
	}{{slow, true}, {fast, true}, {slow, false}, {fast, true}, {slow, false}, {fast, false}} {
		place, err := l.admit(t.Context(), "s", step.limits)
		if (err == nil) != step.admit {
			t.Errorf("step %d: %v", i, err)
		}
		place.Release()
	}
	b := newBench(t, policy.Limits{})
	unknown := Subject{Server: Server{ID: "s"}, Caller: Caller{Policy: "gone"}}
	if _, err := b.Admit(t.Context(), unknown); codeOf(err) != policy.Internal {
		t.Errorf("a token's policy that is not loaded: %v", err)
	}
}

// TestPlacesInOrder fills the one place and queues up.
func TestPlacesInOrder(t *testing.T) {
	b := newBench(t, policy.Limits{RequestsPerSecond: -1})
	first, err := b.Admit(t.Context(), Subject{Server: Server{ID: "s"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Admit(t.Context(), Subject{Server: Server{ID: "s"}}); codeOf(err) != RateLimited {
		t.Errorf("beyond maxWait: %v", err)
	}
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		place, err := b.Admit(t.Context(), Subject{Server: Server{ID: "s"}})
		if err != nil {
			t.Error(err)
		}
		place.Release()
	}()
	time.Sleep(5 * time.Millisecond)
	first.Release()
	wg.Wait()
}

func TestIdleBudgetsAreDropped(t *testing.T) {
	l := newLimiter(policy.Limits{})
	limits := policy.Limits{RequestsPerSecond: 1000, Burst: 1, MaxConcurrent: -1}
	for i := range 2 * sweepEvery {
		place, err := l.admit(t.Context(), string(rune('a'+i%26))+time.Duration(i).String(), limits)
		if err != nil {
			t.Fatal(err)
		}
		place.Release()
	}
	if n := len(l.budgets); n > sweepEvery+100 {
		t.Errorf("%d budgets are kept", n)
	}
}

// TestOverride lifts the limits, as a load test does.
func TestOverride(t *testing.T) {
	b := newBench(t, policy.Limits{RequestsPerSecond: -1, MaxConcurrent: -1})
	for range 100 {
		if _, err := b.Admit(t.Context(), Subject{Server: Server{ID: "s"}}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCodes shows that every code of the policy has a meaning.
func TestCodes(t *testing.T) {
	for _, code := range []Code{policy.QueryTooLong, policy.EmptyQuery, policy.MultipleStatements, policy.MixedPlaceholders, policy.SyntaxError,
		policy.StatementNotAllowed, policy.ConstructNotAllowed, policy.TableNotAllowed, policy.ColumnNotAllowed, policy.FunctionNotAllowed, policy.TypeNotAllowed,
		policy.MissingServerScope, policy.ForeignServerID, policy.ArgumentCount, policy.InvalidArgument, policy.QueryFailed, policy.Internal} {
		if m := Codes[code]; m.Status < 400 || len(m.SQLState) != 5 {
			t.Errorf("%s: %+v", code, m)
		}
	}
	if len(Codes) != 36 {
		t.Errorf("there are %d codes", len(Codes))
	}
	if Scope(0).Has(0) || Read.Has(Write) || !(Read | Write).Has(Write) || (Caller{}).Reaches("") {
		t.Error("a zero value permits something")
	}
}
