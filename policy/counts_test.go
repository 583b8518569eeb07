package policy_test

import (
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

// Ensure the planner is given the number of a LIMIT or an OFFSET, and no other argument.
func TestCountsAreConstants(t *testing.T) {
	p := compile(t, "inject", readSchema(t))
	number := func(text string) policy.Arg { return policy.Arg{Kind: policy.Number, Text: text} }
	text := func(text string) policy.Arg { return policy.Arg{Kind: policy.String, Text: text} }
	for _, c := range []struct {
		text  string
		types []uint32
		args  []policy.Arg
		want  string // what the final text ends with
	}{
		{"SELECT id FROM files WHERE id = $1 LIMIT $2 OFFSET $3", nil, []policy.Arg{number("7"), number("20"), number("40")}, "LIMIT '20' OFFSET '40'"},
		{"SELECT id FROM files LIMIT $1::int", []uint32{23}, []policy.Arg{{Kind: policy.Binary, Text: "\x00\x00\x00\x14"}}, "LIMIT '20'::int"},
		{"SELECT id FROM files OFFSET $1 ROWS FETCH FIRST $2 ROWS ONLY", nil, []policy.Arg{text("20"), text("5")}, "OFFSET '20' ROWS FETCH FIRST '5' ROWS ONLY"},
		{"SELECT id FROM (SELECT id FROM files ORDER BY id LIMIT $1) x", nil, []policy.Arg{text("5")}, "LIMIT '5') x"},
		{"SELECT id FROM files LIMIT $1", nil, []policy.Arg{text("-20")}, "LIMIT $1"},
		{"SELECT id FROM files LIMIT $1", nil, []policy.Arg{text("1e3")}, "LIMIT $1"},
		{"SELECT id FROM files LIMIT $1", nil, []policy.Arg{text("")}, "LIMIT $1"},
		{"SELECT id FROM files LIMIT $1", nil, []policy.Arg{text("10000")}, "LIMIT '10000'"},
		{"SELECT id FROM files LIMIT $1", nil, []policy.Arg{text("10001")}, "LIMIT $1"},
		{"SELECT id FROM files LIMIT $1", nil, []policy.Arg{text(strings.Repeat("0", 1<<20) + "20")}, "LIMIT '20'"}, // no text of 1 MB is kept prepared
		{"SELECT id FROM files LIMIT $1", nil, []policy.Arg{text("12345678901234567890")}, "LIMIT $1"},
		{"SELECT id FROM files LIMIT $1", nil, []policy.Arg{{}}, "LIMIT $1"},
		{"SELECT id FROM files LIMIT $1", []uint32{1700}, []policy.Arg{text("20")}, "LIMIT $1"},
		{"SELECT id FROM files LIMIT $1 + 1", nil, []policy.Arg{text("20")}, "LIMIT $1 + 1"},
		{"SELECT id FROM files WHERE size_bytes > $1 LIMIT $1", nil, []policy.Arg{text("20")}, "LIMIT $1"}, // the first place says of what type it is
	} {
		a := p.Decide(c.text, policy.Postgres, c.types...).Approved
		if a == nil {
			t.Errorf("%s is refused", c.text)
			continue
		}
		b, reason := a.Bind("srv-1", c.args)
		if reason != nil {
			t.Errorf("%s: %v", c.text, reason)
			continue
		}
		if !strings.HasSuffix(b.SQL(), c.want) {
			t.Errorf("%s: got %s", c.text, b.SQL())
		}
		if same := b.SQL() == a.Rewritten(); same != (b.Key() == a.Key()) {
			t.Errorf("%s: its key does not tell it from others", c.text)
		}
	}
}

// Ensure a cursor's number of rows is known to the planner too.
func TestCursorsCountsAreConstants(t *testing.T) {
	p := compile(t, "inject", readSchema(t))
	a := p.Decide("DECLARE c CURSOR FOR SELECT id FROM files WHERE name = $1 LIMIT $2", policy.Postgres).Approved
	b, _ := a.Bind("srv-1", []policy.Arg{{Kind: policy.String, Text: "a"}, {Kind: policy.String, Text: "20"}})
	types := make([]uint32, a.NumParams())
	for i := range types {
		types[i] = 25
	}
	b, reason := b.Fill(types)
	if reason != nil || !strings.HasPrefix(b.SQL(), "DECLARE") || !strings.HasSuffix(b.SQL(), "LIMIT '20'") {
		t.Errorf("got %s, %v", b.SQL(), reason)
	}
}
