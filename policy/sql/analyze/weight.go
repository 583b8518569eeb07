package analyze

import (
	"fmt"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// Postgres puts a sub-query into the query around it: each use of a column becomes a copy of
// the expression that the column stands for, each row one of all its columns, and each plan
// node carries all that goes through it. So a short text may make a plan of any size, and to
// make it takes some ten times as much (Postgres 15, 2026-11-23: 16 sub-queries in each other,
// 620 bytes, in which each names the row of the next twice: 300 MB, and twice that with each
// further one). A weight counts the expressions of a plan: about 200 bytes each, where it is kept,
// and 1 KB while it is made.

// The weights of what is in a plan by itself, in expressions.
const (
	relationWeight = 64
	recordBytes    = 200 // of a record type in a backend, beside its columns
	columnBytes    = 112 // of each column
)

// load is what a query level has to carry.
type load struct {
	uses   int // expressions, those that columns of sub-queries stand for included
	stages int // relations, those of its sub-queries included, and what sorts or groups
}

// weigh begins a query level. What it gives ends the level: it adds the level's weight to the
// statement's, and its relations to the level around, into which Postgres may put them.
func (a *analyzer) weigh() (end func()) {
	outer := a.load
	a.load = load{}
	return func() {
		inner := a.load
		a.load = outer
		a.load.stages += inner.stages
		a.addWeight((1 + inner.stages) * inner.uses)
	}
}

// weighQuery begins a WITH query. What it gives ends it: what it has to carry counts where it
// is referred to.
func (a *analyzer) weighQuery(c *cte) (end func()) {
	outer, before := a.load, a.facts.Weight
	a.load = load{}
	return func() {
		c.weight, c.stages = a.facts.Weight-before, a.load.stages
		a.load = outer
	}
}

func (a *analyzer) addWeight(weight int) {
	most := a.catalog.Limit.MaxWeight()
	a.facts.Weight += weight
	if a.facts.Weight > most {
		f := refusal.Unsupported(-1, fmt.Sprintf("the statement's plan would be too large: its expressions, as often as sub-queries repeat them, and carried through each relation of their level, are more than %d", most))
		f.Hint = "select fewer columns through the joins and sub-queries, or split the statement; a row of a sub-query, such as row_to_json(s), counts as all its columns"
		a.fail(f)
	}
}

// use counts what a reference to columns stands for.
func (a *analyzer) use(cols []column) {
	for i := range cols {
		a.load.uses = a.atMost(a.load.uses + 1 + cols[i].weight)
	}
}

// relate counts a table or function of a level, or a WITH query that is planned by itself.
func (a *analyzer) relate() {
	a.load.stages++
	a.facts.Relations++
	a.addWeight(relationWeight)
}

// makesRow counts a row of so many columns: a backend keeps the type of each until its end.
func (a *analyzer) makesRow(columns int) { a.facts.RecordBytes += recordBytes + columnBytes*columns }

// rowOf is makesRow of a relation's row. A table's row has the type of the table.
func (a *analyzer) rowOf(r *relation) {
	a.rows.add(r)
	if !r.Table {
		a.makesRow(len(r.cols))
	}
}

// weight is what was counted so far: what comes to it until later is the weight of what
// stands between.
func (a *analyzer) weight() int { return a.facts.Weight + a.load.uses }

// repeat counts what came after before so many times.
func (a *analyzer) repeat(times, before int) {
	a.load.uses = a.atMost(a.load.uses + (times-1)*(a.weight()-before))
}

// atMost keeps a number so small that it can't overflow, and large enough for its statement to
// be refused.
func (a *analyzer) atMost(n int) int { return min(n, 2*a.catalog.Limit.MaxWeight()) }

// copiesOf is how often Postgres copies the operands of an expression.
func copiesOf(e *pg.A_Expr) int {
	switch e.Kind {
	case pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN:
		return 2
	case pg.A_Expr_Kind_AEXPR_BETWEEN_SYM, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		return 4
	case pg.A_Expr_Kind_AEXPR_IN:
		varying := slices.DeleteFunc(slices.Clone(e.Rexpr.GetList().GetItems()), func(n *pg.Node) bool { n = tree.WithoutCasts(n); return n.GetAConst() != nil || n.GetParamRef() != nil })
		return 1 + len(varying)
	}
	return 1
}

// final makes the columns of a query that Postgres puts nowhere else stand for themselves.
func final(s *pg.SelectStmt, out output) output {
	if s.LimitCount == nil && s.LimitOffset == nil {
		return out
	}
	return out.light()
}

// light gives columns that stand for nothing but themselves.
func (o output) light() output {
	o.cols = slices.Clone(o.cols)
	for i := range o.cols {
		o.cols[i].weight = 0
	}
	return o
}

// referred gives the columns of a WITH query for a reference to it, and counts what Postgres
// makes of that: a query that is NOT MATERIALIZED is planned for each reference, and another one
// that has several once, by itself.
func (a *analyzer) referred(c *cte) []column {
	c.uses++
	c.recursive = c.recursive || c.open
	if c.repeats {
		a.load.stages += c.stages
		a.facts.Relations = a.atMost(a.facts.Relations + c.stages)
		a.addWeight(c.weight)
		return c.cols
	}
	if c.uses > 1 || c.open {
		a.relate()
		return output{cols: c.cols}.light().cols
	}
	a.load.stages += c.stages
	return c.cols
}

// groupings counts the grouping sets of a GROUP BY; 0 where there are no such.
func groupings(list []*pg.Node) int {
	sets := product(list)
	if sets <= 1 {
		return 0
	}
	return sets
}

func product(list []*pg.Node) int {
	sets := 1
	for _, n := range list {
		sets = min(sets*groupingSets(n.GetGroupingSet()), 1<<20)
	}
	return sets
}

// groupingSets counts those of one entry of GROUP BY.
func groupingSets(g *pg.GroupingSet) int {
	switch g.GetKind() {
	case pg.GroupingSetKind_GROUPING_SET_ROLLUP:
		return len(g.Content) + 1
	case pg.GroupingSetKind_GROUPING_SET_CUBE:
		return 1 << min(len(g.Content), 20)
	case pg.GroupingSetKind_GROUPING_SET_SETS:
		sets := 0
		for _, n := range g.Content {
			sets += groupingSets(n.GetGroupingSet())
		}
		return sets
	}
	return 1
}
