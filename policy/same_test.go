package policy

import "testing"

// Ensure two decisions are the same for Postgres only with the same text and the same arguments for its parameters.
func TestSameFor(t *testing.T) {
	decision := func(sql string, slots ...int) *Approved {
		a := &Approved{sql: sql}
		a.plan.slots = slots
		return a
	}
	one := decision("SELECT $1, $2", 0, 1)
	for name, c := range map[string]struct {
		other *Approved
		same  bool
	}{
		"alike": {decision("SELECT $1, $2", 0, 1), true}, "another text": {decision("SELECT $2, $1", 0, 1), false},
		"other arguments": {decision("SELECT $1, $2", 1, 0), false}, "fewer": {decision("SELECT $1, $2", 0), false},
	} {
		if one.SameFor(c.other) != c.same {
			t.Error(name)
		}
	}
}
