package rewrite

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// guardedPart is a part of a condition in the text, and its guard.
type guardedPart struct {
	in    lex.Span
	guard *facts.Guard
}

// guardedParts finds the parts of all conditions that are guarded.
func (r *rewriter) guardedParts() (all []guardedPart) {
	for _, c := range r.facts.Clauses {
		all = append(all, r.guardedPartsOf(c)...)
	}
	return all
}

// guardedPartsOf gives what stands between the ANDs of a condition, where some of it must be
// guarded. A part in brackets may be several of the tree's, which then share a guard.
func (r *rewriter) guardedPartsOf(c *facts.Clause) []guardedPart {
	t, ok := r.clauseStart(c.Root)
	if !ok {
		return nil
	}
	var parts []guardedPart
	for _, s := range t.Parts() {
		parts = append(parts, guardedPart{in: s})
	}
	for _, n := range tree.Conjuncts(c.Root) {
		g, at := c.Guards[n], tree.Leftmost(n)
		if g == nil {
			continue
		}
		i := slices.IndexFunc(parts, func(p guardedPart) bool { return p.in.Start <= at && at < p.in.End })
		if i < 0 {
			r.fail(refusal.Unplaced())
			return nil
		}
		if parts[i].guard == nil {
			parts[i].guard = &facts.Guard{}
		}
		parts[i].guard.Add(g)
	}
	return slices.DeleteFunc(parts, func(p guardedPart) bool { return p.guard == nil })
}

// clauseStart finds the first token of a condition, behind its keyword.
func (r *rewriter) clauseStart(root *pg.Node) (lex.Cursor, bool) {
	t, ok := r.at(tree.Leftmost(root))
	back := lex.Cursor{Source: t.Source, Pos: t.Pos - 1}
	for ok && (back.Is("(") || back.Is("row")) { // ROW(…) OVERLAPS ROW(…) has no place of its own
		t.Pos--
		back.Pos--
	}
	if ok && !back.Is("where") && !back.Is("on") && !back.Is("having") {
		r.fail(refusal.Unplaced())
		return t, false
	}
	return t, ok
}

// guardText opens a guard; ") END" closes it.
func (r *rewriter) guardText(g *facts.Guard) string {
	var conditions []string
	for _, t := range g.Tables {
		one := r.restriction(t.Use)
		if t.Marker != "" {
			one = "(" + one + " OR " + t.Marker + " IS NULL)"
		}
		conditions = append(conditions, one)
	}
	if len(conditions) == 0 && g.Having {
		conditions = []string{"pg_catalog.count(*) IS NOT NULL"}
	}
	if len(conditions) == 0 {
		conditions = []string{"pg_catalog.now() IS NOT NULL"} // not folded, since it is not immutable
	}
	return "CASE WHEN " + strings.Join(conditions, " AND ") + " THEN ("
}

// barriers gives the queries that must be barriers their OFFSET 0.
func (r *rewriter) barriers() {
	for query := range r.facts.Barriers {
		at, ok := r.queryEnd(query)
		if !ok {
			r.fail(refusal.Unplaced())
			return
		}
		r.close(at, " OFFSET 0")
	}
}

// queryEnd finds the bracket that closes around a whole query: the innermost one that
// holds all of it, and behind which the query does not go on.
func (r *rewriter) queryEnd(query *pg.SelectStmt) (int, bool) {
	first, ok := r.at(tree.Leftmost(query))
	right := rightmost(query)
	last := r.tr.TokenAt(right)
	if last < 0 {
		last = r.tr.TokenAt(right - 1) // N'…' is one token, and its literal begins behind the N
	}
	if !ok || last < 0 {
		return 0, false
	}
	depth := 0
	for t := (lex.Cursor{Source: first.Source, Pos: first.Pos - 1}); t.Pos >= 0; t.Pos-- {
		if depth -= t.Nesting(); depth >= 0 {
			continue
		}
		depth = 0
		end := t
		end.SkipGroup()
		before := lex.Cursor{Source: t.Source, Pos: t.Pos - 1}
		inFrom := before.IsAny("from", ",", "join", "lateral") // what follows goes on the query around
		if end.Pos > last+1 && t.OpensQuery(first.Pos) && (inFrom || !end.IsAny(goesOn...)) {
			closing := lex.Cursor{Source: t.Source, Pos: end.Pos - 1}
			return closing.Start(), true
		}
	}
	return 0, false
}

// goesOn are the words by which a query goes on behind one in brackets.
var goesOn = []string{"union", "intersect", "except", "order", "limit", "offset", "fetch", "for"}

// rightmost gives the largest.
func rightmost(m proto.Message) int {
	best := tree.OffsetOf(m, -1)
	tree.Children(m, func(c proto.Message) bool {
		best = max(best, rightmost(c))
		return true
	})
	return best
}
