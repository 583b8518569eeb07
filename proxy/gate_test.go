package proxy

import (
	"context"
	"errors"
	"runtime"
	"strings"
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
		policy  string
	}{
		{"default", Subject{Frontend: "rest"}, "", b.policies.config.Default},
		{"front end", Subject{Frontend: "wire"}, policy.StatementNotAllowed, "reader"},
		{"server over front end", Subject{Frontend: "wire", Server: Server{Policy: "writer"}}, "", "writer"},
		{"token over server", Subject{Server: Server{Policy: "writer"}, Caller: Caller{Policy: "reader"}}, policy.StatementNotAllowed, "reader"},
		{"a policy that is not loaded", Subject{Server: Server{Policy: "gone"}}, UpstreamUnavailable, "gone"},
	} {
		approved, err := b.Check(t.Context(), c.subject, writes)
		if codeOf(err) != c.want || (approved == nil) != (err != nil) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if name := b.PolicyName(c.subject); name != c.policy {
			t.Errorf("%s: the policy's name is %q, want %q", c.name, name, c.policy)
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
	if b.recorder.of("plan hit") != 3 || b.recorder.of("plan miss") != 3 {
		t.Errorf("%v", b.recorder.counts)
	}
}

// TestParsingIsBounded has every place taken: whoever waits is told so in time.
func TestParsingIsBounded(t *testing.T) {
	b := newBench(t, policy.Limits{})
	b.parsing = NewTurns(2, 0)
	mustTake(t, b.parsing, "somebody", "another")
	start := time.Now()
	_, err := b.Check(t.Context(), Subject{}, reads)
	if took := time.Since(start); codeOf(err) != Overloaded || AsError(err).Hint == "" || took < parsingWait || took > parsingWait+time.Second {
		t.Errorf("%v after %v", err, took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Check(ctx, Subject{}, reads); codeOf(err) != Overloaded {
		t.Error(err)
	}
	b.parsing.Give(accountOf("somebody"))
	if _, err := b.Check(t.Context(), Subject{}, reads); err != nil {
		t.Error(err)
	}
}

// TestRefusedParsingIsNoWork counts nothing for a server that got no place, whenever it is looked at.
func TestRefusedParsingIsNoWork(t *testing.T) {
	b := newBench(t, policy.Limits{})
	b.parsing, b.work = NewTurns(1, 0), NewWork(1)
	mustTake(t, b.parsing, "another")
	now := time.Unix(0, 0)
	b.work.now = func() time.Time { // long enough for who is not active to be forgotten
		now = now.Add(2 * lately)
		return now
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Check(ctx, Subject{Server: Server{ID: "s", ProjectID: "p"}}, reads); codeOf(err) != Overloaded {
		t.Fatal(err)
	}
	one := b.work.of[Account{"p", "s"}]
	if one == nil {
		one = &load{}
	}
	for _, l := range []*load{&b.work.all, one} {
		if l.running != 0 || l.paused != 0 || l.average < 0 {
			t.Errorf("left: %+v", l)
		}
	}
}

// TestPanicDenies shows that the engine's panics deny, and that what they were made with
// is in no error.
func TestPanicDenies(t *testing.T) {
	b := newBench(t, policy.Limits{})
	c, err := b.policies.of(Subject{})
	if err != nil {
		t.Fatal(err)
	}
	c.policy = nil
	for range 2*runtime.GOMAXPROCS(0) + 1 { // places are given back
		if _, err := b.Check(t.Context(), Subject{}, reads); codeOf(err) != policy.Internal {
			t.Error(err)
		}
	}
	for _, cause := range []any{"SELECT 'hunter2'", errors.New("hunter2")} {
		if text := Recovered(cause).Error(); strings.Contains(text, "hunter2") || !strings.HasPrefix(text, "panic with a ") {
			t.Error(text)
		}
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

// TestHolders shows that the gate asks the directory for what a password is checked against,
// and for the server of who has proved to know it.
func TestHolders(t *testing.T) {
	b := newBench(t, policy.Limits{})
	v, err := b.Verifier(t.Context(), Account{}, "s")
	if err != nil || len(v.Keys) != 1 {
		t.Fatalf("%+v %v", v, err)
	}
	if held, err := b.Recheck(t.Context(), "s", v.Keys[0].ID); err != nil || held.Server.ID != "s" {
		t.Errorf("%+v %v", held.Server, err)
	}
	for _, err := range []error{second(b.Recheck(t.Context(), "s", KeyID{})), second(b.Recheck(t.Context(), "t", v.Keys[0].ID))} {
		if codeOf(err) != Unauthorized {
			t.Errorf("%v", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestCodes shows that every code of the policy has a meaning.
func TestCodes(t *testing.T) {
	for _, code := range []Code{policy.QueryTooLong, policy.EmptyQuery, policy.MultipleStatements, policy.MixedPlaceholders, policy.SyntaxError,
		policy.StatementNotAllowed, policy.ConstructNotAllowed, policy.TableNotAllowed, policy.ColumnNotAllowed, policy.FunctionNotAllowed, policy.TypeNotAllowed,
		policy.MissingServerScope, policy.ForeignServerID, policy.ArgumentCount, policy.InvalidArgument, policy.QueryFailed, policy.Internal} {
		if m := Codes[code]; m.Status < 400 || len(m.SQLState) != 5 || (m.Rule == "") != (code == policy.QueryFailed || code == policy.Internal) {
			t.Errorf("%s: %+v", code, m)
		}
	}
	if len(Codes) != 37 {
		t.Errorf("there are %d codes", len(Codes))
	}
	if Scope(0).Has(0) || Read.Has(Write) || !(Read | Write).Has(Write) || (Caller{}).Reaches("") {
		t.Error("a zero value permits something")
	}
}
