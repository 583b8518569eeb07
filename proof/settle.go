package proof

import (
	"context"
	"regexp"
	"strings"

	"github.com/tenantgate/tenantgate/proof/statement"
)

// settle tells whether the server's own database, with its rows in another order and with
// other plans, gives the answer too: then the statement does not determine it. So it is
// where values make a side fail, or both, and behind the same walls the server's rows alone give the
// answer: the walls choose whether a condition that fails is asked for before one that would
// have spared it, or that fails as well.
func (k *worker) settle(ctx context.Context, st statement.Statement, plain request, o outcome) (bool, error) {
	for i := -1; i < len(planner); i++ {
		for _, s := range []*session{k.shuffled, k.own} {
			plain.settings = variant(i)
			a, err := s.run(ctx, plain)
			if err != nil {
				return false, err
			}
			if compare(st, o.shared, a) == "" {
				return true, nil
			}
		}
	}
	switch {
	case alike(st, plain.sql, o.shared, o.own):
		return true, nil
	case !failsByValues(o.shared.state, o.own.state):
		return k.settleFolded(ctx, st, plain, o.shared)
	}
	a, err := k.shuffled.run(ctx, o.gate)
	return err == nil && compare(st, o.shared, a) == "", err
}

// settleFolded tells whether the own database gives the answer where it doesn't fold TRUE and FALSE. Postgres before 18 folds them
// into the groups' expressions: it turns (a = b) <> TRUE into a <> b, which is no group's expression any more, and so the row of a
// total, for which (a = b) is NULL, has the value of some row. A constant that the engine has hidden is not folded.
func (k *worker) settleFolded(ctx context.Context, st statement.Statement, plain request, shared answer) (bool, error) {
	if !totals.MatchString(plain.sql) {
		return false, nil
	}
	plain.sql = truth.ReplaceAllString(plain.sql, "(SELECT $0)")
	a, err := k.own.run(ctx, plain)
	return err == nil && compare(st, shared, a) == "", err
}

var (
	totals = regexp.MustCompile(`(?i)\b(ROLLUP|CUBE|GROUPING\s+SETS)\b`)
	truth  = regexp.MustCompile(`(?i)\b(TRUE|FALSE)\b`)
)

// alike tells whether two answers have the same rows but for blanks behind values, where an INTERSECT may take them from either side: 'c1' of a
// char(2) is equal to that of a char(6), which has blanks behind it. Postgres takes them from the side of which it expects fewer rows.
func alike(st statement.Statement, sql string, a, b answer) bool {
	if a.state != "" || b.state != "" || len(a.rows) == 0 || !strings.Contains(strings.ToUpper(sql), "INTERSECT") {
		return false
	}
	a.rows, b.rows = unpadded(a.rows), unpadded(b.rows)
	return compare(st, a, b) == ""
}

// unpadded gives rows without the lengths of their values and the blanks behind those.
func unpadded(rows []string) []string {
	bare := make([]string, len(rows))
	for i, r := range rows {
		bare[i] = padding.ReplaceAllString(lengths.ReplaceAllString(r, "$1"), "$1")
	}
	return bare
}

var (
	lengths = regexp.MustCompile(`(^| \| )\d+:`)
	padding = regexp.MustCompile(` +( \| |$)`)
)

// failsByValues tells whether values make one side fail and not the other one, which answers or violates a constraint: those
// are checked when all values are there. Or both sides fail by values, each with another error.
func failsByValues(shared, own string) bool {
	there := func(state string) bool { return state == "" || constraint(state) }
	return ofValues(shared) && (there(own) || ofValues(own)) || ofValues(own) && there(shared)
}

// ofValues tells the classes of errors that a value of some row is the cause of:
// cardinality violation and data exception.
func ofValues(state string) bool {
	return strings.HasPrefix(state, "21") || strings.HasPrefix(state, "22")
}
