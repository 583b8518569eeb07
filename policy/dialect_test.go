package policy_test

import (
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

// TestArgOf leads final parameters back to the caller's.
func TestArgOf(t *testing.T) {
	p := compile(t, "inject", readSchema(t))
	a := p.Decide("INSERT INTO files (server_id, name, id) VALUES ($1, $4, $2)", policy.Postgres).Approved
	if a == nil || a.NumArgs() != 4 || a.NumParams() != 3 {
		t.Fatalf("%+v", a)
	}
	for i, want := range []int{1, 3, -1} {
		if got := a.ArgOf(i); got != want {
			t.Errorf("parameter %d carries %d, want %d", i, got, want)
		}
	}
}

// TestUnknownDialect denies, like every value that nobody has thought about.
func TestUnknownDialect(t *testing.T) {
	p := compile(t, "inject", readSchema(t))
	if d := p.Decide("SELECT 1", policy.Postgres+1); d.Verdict != policy.Deny || d.Approved != nil {
		t.Errorf("%+v", d)
	}
}

// TestRejectsBinary gives ids in Postgres' binary format under foreignServerId: reject.
func TestRejectsBinary(t *testing.T) {
	const server, own = "5a0c1f0e-0000-4000-8000-0000000000ff", "\x5a\x0c\x1f\x0e\x00\x00\x40\x00\x80\x00\x00\x00\x00\x00\x00\xff"
	a := compile(t, "shop", readSchema(t)).Decide("SELECT id FROM shop.orders WHERE tenant = $1", policy.Postgres).Approved
	bound, reason := a.Bind(server, []policy.Arg{{Kind: policy.Binary, Text: own}})
	if reason != nil || bound.Overridden() != 0 {
		t.Errorf("the own id: %+v", reason)
	}
	_, reason = a.Bind(server, []policy.Arg{{Kind: policy.Binary, Text: own[:15] + "\x00"}})
	if reason == nil || reason.Code != policy.ForeignServerID || !strings.HasPrefix(reason.Message, "$1 ") {
		t.Errorf("a foreign id: %+v", reason)
	}
}
