package smith

import "testing"

// Ensure only errors that a value of a row may cause count as such: other errors of the same
// SQLSTATE must be the same on both sides.
func TestOfValues(t *testing.T) {
	for a, want := range map[[2]string]bool{
		{"21000", "more than one row returned by a subquery used as an expression"}: true,
		{"22012", "division by zero"}:                                          true,
		{"42704", "99 is not a valid encoding code"}:                           true,
		{"42704", "bob is not a valid encoding name"}:                          true,
		{"0A000", "encoding conversion from UTF8 to ASCII not supported"}:      true,
		{"42601", `syntax error in tsquery: "Fri Nov 27"`}:                     true,
		{"42601", "invalid range bound flags"}:                                 true,
		{"42601", `cannot use "V" and decimal point together`}:                 true,
		{"42601", `"EEEE" must be the last pattern used`}:                      true,
		{"42601", `cannot use "…" and decimal point together; query_failed; `}: true,
		{"42601", "multiple decimal points"}:                                   true,
		{"42601", "cannot insert multiple commands into a prepared statement"}: false,
		{"42704", `type "nothing" does not exist`}:                             false,
		{"0A000", "set-returning functions are not allowed in WHERE"}:          false,
		{"42601", `syntax error at or near "tsquery"`}:                         false,
		{"", ""}: false,
	} {
		if got := ofValues(answer{state: a[0], message: a[1]}); got != want {
			t.Errorf("%v: %t", a, got)
		}
	}
}

// Ensure an error that no value causes is never excused by another one.
func TestByValues(t *testing.T) {
	value, other, none := answer{state: "22012"}, answer{state: "42501"}, answer{}
	for _, c := range []struct {
		got, own answer
		want     bool
	}{
		{value, none, true}, {none, value, true}, {value, answer{state: "22008"}, true},
		{value, other, false}, {other, value, false}, {other, none, false}, {none, none, false},
	} {
		if got := byValues(c.got, c.own); got != c.want {
			t.Errorf("%v and %v: %t", c.got, c.own, got)
		}
	}
}

// Ensure of two values that are drawn beside each other the first becomes the smaller one.
func TestSteady(t *testing.T) {
	const text = "select 1 where pg_catalog.gen_random_uuid() < gen_random_uuid() limit 10"
	const want = "select 1 where cast('00000000-0000-0000-0000-000000000000' as uuid) < cast('ffffffff-ffff-ffff-ffff-ffffffffffff' as uuid) limit 10"
	if got := steady(text); got != want {
		t.Error(got)
	}
}
