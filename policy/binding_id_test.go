package policy

import (
	"testing"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// TestIsIDOf gives scope columns of each type a value in Postgres' formats.
func TestIsIDOf(t *testing.T) {
	const uuid, other = "5a0c1f0e-0000-4000-8000-0000000000ff", "\x5a\x0c\x1f\x0e\x00\x00\x40\x00\x80\x00\x00\x00\x00\x00\x00\xfe"
	own := other[:15] + "\xff"
	for _, c := range []struct {
		typ, server, raw string
		want             bool
	}{
		{"text", "srv-a", "srv-a", true},
		{"text", "srv-a", "srv-b", false},
		{"varchar", "srv-a", "srv-a", true},
		{"bpchar", "srv-a", "srv-a ", false},
		{"citext", "srv-a", "srv-a", true},
		{"uuid", uuid, own, true},
		{"uuid", uuid, other, false},
		{"uuid", uuid, uuid, false},
		{"int8", "42", "\x00\x00\x00\x00\x00\x00\x00\x2a", true},
		{"int8", "42", "\x00\x00\x00\x2a", true},
		{"int4", "42", "\x00\x2a", true},
		{"int2", "-1", "\xff\xff", true},
		{"int4", "65535", "\xff\xff", false},
		{"int4", "42", "42\x00", false},
		{"int4", "42", "", false},
		{"numeric", "42", "42", false},
	} {
		typ := tree.TypeName{Schema: builtinSchema, Name: c.typ}
		if got := isIDOf(Arg{Kind: Binary, Text: c.raw}, c.server, typ); got != c.want {
			t.Errorf("%s %q of %s: %t", c.typ, c.raw, c.server, got)
		}
	}
	text := tree.TypeName{Schema: builtinSchema, Name: "text"}
	if !isIDOf(Arg{Kind: String, Text: "a"}, "a", text) || isIDOf(Arg{}, "a", text) || isID(Arg{Kind: Binary, Text: "a"}, "a") {
		t.Error("a text, no value and bytes are not told apart")
	}
}
