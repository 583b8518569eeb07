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

// TestSpokenDialect has no refusal tell whoever writes $n of ?, or the other way round.
func TestSpokenDialect(t *testing.T) {
	schema := readSchema(t)
	for _, c := range []struct{ policy, text string }{
		{"default", "SELECT id FROM messages"},
		{"default", "INSERT INTO messages (id, server_id) VALUES ($1, lower($2))"},
		{"default", "INSERT INTO messages (id) VALUES ($1)"},
		{"default", "INSERT INTO messages VALUES ($1)"},
		{"inject", "UPDATE messages SET server_id = lower($1)"},
		{"inject", "SELECT date $1 FROM messages"},
		{"inject", "SELECT id FROM messages WHERE $1"},
		{"shop", "INSERT INTO shop.orders (tenant) VALUES ('someone')"},
	} {
		p := compile(t, c.policy, schema)
		for d, foreign := range map[policy.Dialect]string{policy.Postgres: "?", policy.REST: "$"} {
			text := c.text
			if d == policy.REST {
				text = strings.NewReplacer("$1", "?", "$2", "?").Replace(text)
			}
			decision := p.Decide(text, d)
			if said := decision.Refusal.Message + "; " + decision.Refusal.Hint; strings.Contains(said, foreign) {
				t.Errorf("%s: %s", text, said)
			}
		}
	}
	d := compile(t, "default", schema).Decide("SELECT id FROM messages", policy.Postgres)
	if want := "its value is a parameter's, for which the server's own id is taken; a constant does not count"; !strings.HasSuffix(d.Refusal.Hint, want) {
		t.Error(d.Refusal.Hint)
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

// Ensure who writes ? to a front end that reads Postgres alone is told how it is written there.
func TestMarksAreHintedAt(t *testing.T) {
	p := compile(t, "inject", readSchema(t))
	for text, want := range map[string]bool{
		"SELECT id FROM messages WHERE id = ?": true, "SELECT id FROM messages WHERE id=?": true, "SELECT id FROM messages WHERE id = ? ORDER BY id": true, "SELECT 'a ?' FROM FROM": false, "SELECT FROM FROM -- ?": false,
	} {
		if r := p.Decide(text, policy.Postgres).Refusal; r.Code != policy.SyntaxError || strings.Contains(r.Hint, "$1") != want {
			t.Errorf("%s: %+v", text, r)
		}
	}
	if r := p.Decide("SELECT id FROM messages WHERE FROM ?", policy.REST).Refusal; r.Hint != "" {
		t.Errorf("over REST: %+v", r)
	}
}
