package sqltree

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// stretch is a part of a condition in the text, from byte start to end, and its guard.
type stretch struct {
	start, end int
	guard      *guard
}

// stretches finds the parts of all conditions that are guarded.
func (r *rewriter) stretches() (all []stretch) {
	for _, c := range r.facts.clauses {
		all = append(all, r.stretchesOf(c)...)
	}
	return all
}

// stretchesOf gives what stands between the ANDs of a condition, where some of it must be
// guarded. A part in brackets may be several of the tree's, which then share a guard.
func (r *rewriter) stretchesOf(c *clause) []stretch {
	t, ok := r.clauseStart(c.root)
	if !ok {
		return nil
	}
	parts := t.parts()
	for _, n := range conjuncts(c.root) {
		g, at := c.guards[n], leftmost(n)
		if g == nil {
			continue
		}
		i := slices.IndexFunc(parts, func(s stretch) bool { return s.start <= at && at < s.end })
		if i < 0 {
			r.fail(unplaced())
			return nil
		}
		if parts[i].guard == nil {
			parts[i].guard = &guard{}
		}
		parts[i].guard.add(g)
	}
	return slices.DeleteFunc(parts, func(s stretch) bool { return s.guard == nil })
}

// add makes the guard serve another part too.
func (g *guard) add(other *guard) {
	g.having = g.having || other.having
	for _, t := range other.tables {
		if !slices.Contains(g.tables, t) {
			g.tables = append(g.tables, t)
		}
	}
}

// clauseStart finds the first token of a condition, behind its keyword.
func (r *rewriter) clauseStart(root *pg.Node) (tokens, bool) {
	t, ok := r.at(leftmost(root))
	back := tokens{t.tr, t.i - 1}
	for ok && (back.is("(") || back.is("row")) { // ROW(…) OVERLAPS ROW(…) has no place of its own
		t.i--
		back.i--
	}
	if ok && !back.is("where") && !back.is("on") && !back.is("having") {
		r.fail(unplaced())
		return t, false
	}
	return t, ok
}

// guardText opens a guard; ") END" closes it.
func (r *rewriter) guardText(g *guard) string {
	var conditions []string
	for _, t := range g.tables {
		one := r.restriction(t.use)
		if t.marker != "" {
			one = "(" + one + " OR " + t.marker + " IS NULL)"
		}
		conditions = append(conditions, one)
	}
	if len(conditions) == 0 && g.having {
		conditions = []string{"pg_catalog.count(*) IS NOT NULL"}
	}
	if len(conditions) == 0 {
		conditions = []string{"pg_catalog.now() IS NOT NULL"} // not folded, since it is not immutable
	}
	return "CASE WHEN " + strings.Join(conditions, " AND ") + " THEN ("
}

// barriers gives the queries that must be barriers their OFFSET 0.
func (r *rewriter) barriers() {
	for query := range r.facts.barriers {
		at, ok := r.queryEnd(query)
		if !ok {
			r.fail(unplaced())
			return
		}
		r.close(at, " OFFSET 0")
	}
}

// queryEnd finds the bracket that closes around a whole query: the innermost one that
// holds all of it, and behind which the query does not go on.
func (r *rewriter) queryEnd(query *pg.SelectStmt) (int, bool) {
	first, ok := r.at(leftmost(query))
	last := r.tr.TokenAt(rightmost(query))
	if !ok || last < 0 {
		return 0, false
	}
	depth := 0
	for t := (tokens{first.tr, first.i - 1}); t.i >= 0; t.i-- {
		if depth -= t.nesting(); depth >= 0 {
			continue
		}
		depth = 0
		end := t
		end.group()
		before := tokens{t.tr, t.i - 1}
		inFrom := before.isAny("from", ",", "join", "lateral") // what follows goes on the query around
		if end.i > last+1 && t.opensQuery(first.i) && (inFrom || !end.isAny(goesOn...)) {
			closing := tokens{t.tr, end.i - 1}
			return closing.start(), true
		}
	}
	return 0, false
}

// opensQuery tells whether the bracket at the cursor is one around a query of which the
// token before is the first that the tree knows the place of.
func (t tokens) opensQuery(before int) bool {
	for t.is("(") {
		t.i++
	}
	return t.i <= before && t.isAny("select", "values", "table", "with")
}

// goesOn are the words by which a query goes on behind one in brackets.
var goesOn = []string{"union", "intersect", "except", "order", "limit", "offset", "fetch", "for"}

// leftmost gives the smallest place in the text beneath m; -1 where there is none. The
// query of a sub-query stands behind its bracket.
func leftmost(m proto.Message) int {
	best := offsetOf(m, -1)
	children(m, func(c proto.Message) bool {
		if s, ok := c.(*pg.SubLink); ok && s.Location >= 0 {
			c = s.Testexpr
			best = earlier(best, int(s.Location))
		}
		best = earlier(best, leftmost(c))
		return true
	})
	return best
}

// earlier gives the smaller of two places; -1 is none.
func earlier(a, b int) int {
	if a < 0 || b >= 0 && b < a {
		return b
	}
	return a
}

// rightmost gives the largest.
func rightmost(m proto.Message) int {
	best := offsetOf(m, -1)
	children(m, func(c proto.Message) bool {
		best = max(best, rightmost(c))
		return true
	})
	return best
}
