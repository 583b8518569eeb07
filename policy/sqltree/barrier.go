package sqltree

import (
	"math"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Where no row-level security stands behind a scoped table, Postgres is free to evaluate
// what the caller wrote on another server's row before it looks at the restriction, and
// at the planner's statistics, which hold all servers' values. What then fails tells of
// that row. Row-level security is a barrier of Postgres' own, with holes: see overlooked.
// So, unless it is known to be leakproof, or row-level security sees to it,
//
//   - a part of a WHERE or ON that looks at such a table is put into CASE WHEN scope
//     column = server THEN (…) END, which also keeps it from the statistics;
//   - one that looks at a sub-query or WITH query which reads such a table is put into a
//     CASE too, and the query gets OFFSET 0, past which nothing is moved;
//   - a query with such an entry in its select list gets OFFSET 0, since conditions on
//     its columns are conditions on these expressions; and so does a LATERAL one that
//     holds such an expression of what stands beside it;
//   - a part of a HAVING without aggregates, which Postgres would make a WHERE of, gets one.

// clause is a condition of which some parts are guarded.
type clause struct {
	root   *pg.Node
	guards map[*pg.Node]*guard // by part: see conjuncts
}

// guard is what must be true where a part of a condition is evaluated.
type guard struct {
	tables []guardTable
	having bool
}

// guardTable is a table whose scope column is compared. marker is a column of it that is
// NULL only in the row of NULLs that an outer join makes; "" where there is no such join.
type guardTable struct {
	use    *TableUse
	marker string
}

// place is where a condition stands.
type place uint8

const (
	inWhere place = iota // or in the ON of a join
	inFull               // in the ON of a FULL JOIN
	inHaving
)

// isColumnPair tells a.x = b.y. A FULL JOIN takes nothing but equalities, guarded ones are
// none to it, and like USING this compares two columns' values as they are.
func isColumnPair(n *pg.Node) bool {
	e := n.GetAExpr()
	return e.GetKind() == pg.A_Expr_Kind_AEXPR_OP && lastName(e.Name) == "=" && e.Lexpr.GetColumnRef() != nil && e.Rexpr.GetColumnRef() != nil
}

// protect finds the parts of a condition that need a guard, once all names in it are resolved.
func (a *analyzer) protect(l *level, root *pg.Node, of place) {
	if a.fault != nil || root == nil {
		return
	}
	c := &clause{root: root, guards: map[*pg.Node]*guard{}}
	for _, part := range conjuncts(root) {
		if a.leakproof(part) || of == inHaving && a.aggregates(part, l.start) || of == inFull && isColumnPair(part) {
			continue
		}
		if g := a.guard(l, part, of == inHaving); g != nil {
			c.guards[part] = g
		}
	}
	if len(c.guards) > 0 {
		a.facts.clauses = append(a.facts.clauses, c)
	}
}

// guard gives the guard of a part; nil where it looks at nothing of this level that is
// exposed. What looks at no relation of this level, or at a sub-query that may turn out a
// constant, could fail on the rows of any.
func (a *analyzer) guard(l *level, part *pg.Node, having bool) *guard {
	mentioned := map[*relation]bool{}
	a.mentions(part.ProtoReflect(), mentioned)
	g := &guard{having: having}
	needed, named := false, false
	for _, r := range l.rels {
		named = named || r.among(mentioned) && (r.body == nil || r.exposed || a.facts.barriers[r.body])
	}
	for _, r := range l.rels {
		exposed, walled := r.exposedAs()
		if !exposed || a.safe(part, walled, l.start) || named && !r.among(mentioned) {
			continue
		}
		needed = true
		if !having {
			a.guardRelation(g, r, part)
		}
	}
	if !needed {
		return nil
	}
	return g
}

func (a *analyzer) guardRelation(g *guard, r *relation, part *pg.Node) {
	switch {
	case r.masked:
		f := construct(nodeOffset(part), "this condition is not supported on a join with an alias")
		f.Hint = "leave the alias of the join out and name its tables' columns"
		a.fail(f)
	case r.use != nil:
		g.tables = append(g.tables, guardTable{r.use, a.marker(r, part)})
	case r.body != nil:
		a.barrier(r.body)
	}
}

// marker spells a column of a table on the nullable side of an outer join that is NULL
// only in the row that the join makes.
func (a *analyzer) marker(r *relation, part *pg.Node) string {
	if !r.nullable {
		return ""
	}
	t := r.use.Table
	best := -1
	for i, c := range t.Columns {
		if c.NotNull && !c.NoRead && (best < 0 || c.Name == t.Scope) {
			best = i
		}
	}
	if best < 0 {
		a.fail(construct(nodeOffset(part), "this condition is not supported on an outer join with a table whose columns can all be NULL"))
		return ""
	}
	return quote(r.name) + "." + quote(r.cols[best].name)
}

// barrier notes that nothing may be moved into or out of a query. One with a LIMIT or
// OFFSET is such already.
func (a *analyzer) barrier(s *pg.SelectStmt) {
	if s == nil || s.LimitCount != nil || s.LimitOffset != nil {
		return
	}
	if a.facts.barriers == nil {
		a.facts.barriers = map[*pg.SelectStmt]bool{}
	}
	a.facts.barriers[s] = true
}

// tells tells whether an entry of a query's select list is not leakproof, so that no
// condition on it may be moved into the query. On aggregates Postgres moves none.
func (a *analyzer) tells(s *pg.SelectStmt, walled bool) bool {
	if s == nil || a.fault != nil {
		return false
	}
	if s.Op != pg.SetOperation_SETOP_NONE {
		return a.tells(s.Larg, walled) || a.tells(s.Rarg, walled)
	}
	for _, n := range s.TargetList {
		if v := n.GetResTarget().GetVal(); !a.safe(v, walled, a.begins[s]) && !a.aggregates(v, a.begins[s]) {
			return true
		}
	}
	return slices.ContainsFunc(s.ValuesLists, func(row *pg.Node) bool { return !a.safe(row, walled, a.begins[s]) })
}

// tellsWithin tells whether anything in a query is not leakproof.
func (a *analyzer) tellsWithin(query *pg.Node, walled bool) bool {
	if walled {
		return a.fault == nil && a.overlooked(query.ProtoReflect(), math.MaxInt)
	}
	return a.leaks(query.ProtoReflect())
}

// aggregates tells whether an expression holds an aggregate or a window function of its own
// query level, whose relations count from start. An aggregate of nothing but columns of the
// query around is that query's.
func (a *analyzer) aggregates(n *pg.Node, start int) bool {
	found := false
	within(n.ProtoReflect(), func(f *pg.FuncCall) {
		mentioned := map[*relation]bool{}
		a.mentions(f.ProtoReflect(), mentioned)
		own := len(mentioned) == 0
		for r := range mentioned {
			own = own || r.serial >= start
		}
		found = found || own && a.isAggregate(f)
	})
	return found
}

// within calls visit for the calls beneath m that belong to m's own query level.
func within(m protoreflect.Message, visit func(*pg.FuncCall)) {
	switch n := m.Interface().(type) {
	case *pg.SubLink:
		return
	case *pg.FuncCall:
		visit(n)
	}
	children(m, func(_ protoreflect.Name, c protoreflect.Message) bool {
		within(c, visit)
		return true
	})
}

// isAggregate tells whether a call is certainly that of an aggregate or window function.
func (a *analyzer) isAggregate(f *pg.FuncCall) bool {
	written := f.Over != nil || f.AggStar || f.AggDistinct || f.AggFilter != nil || len(f.AggOrder) > 0
	return written || slices.Contains(aggregates, a.catalogCall(f))
}

// aggregates are those of pg_catalog that are called like functions. One that is missing
// here costs a barrier that is not needed.
var aggregates = []string{
	"count", "sum", "avg", "min", "max", "array_agg", "string_agg", "json_agg", "jsonb_agg", "json_object_agg", "jsonb_object_agg",
	"bool_and", "bool_or", "every", "bit_and", "bit_or", "bit_xor", "stddev", "stddev_pop", "stddev_samp", "variance", "var_pop", "var_samp",
}

// outputType gives the type of a select list's entry, if it is known.
func (a *analyzer) outputType(n *pg.Node) TypeName {
	if ref := n.GetColumnRef(); ref != nil {
		return a.names[ref].typ
	}
	if t, ok := a.typeOf(n); ok && t != "" {
		return TypeName{"pg_catalog", t}
	}
	return TypeName{}
}

// reach gives the first relation that is named beneath m; 0 for none.
func (a *analyzer) reach(m protoreflect.Message) int {
	if first := a.earliest(m); first < math.MaxInt && a.fault == nil {
		return first
	}
	return 0
}

// expose counts a reference to an exposed relation.
func (a *analyzer) expose(e exposure) {
	if e.exposed {
		a.exposures++
	}
	if e.exposed && !e.walled {
		a.unwalled++
	}
}

// counts are how many references to exposed relations there were at some point.
type counts struct{ exposures, unwalled int }

func (a *analyzer) exposed() counts { return counts{a.exposures, a.unwalled} }

// exposedBy is what a reference to a WITH query exposes. One to itself sees only rows
// that the query gave already, and forbids OFFSET in it.
func (a *analyzer) exposedBy(c *cte) exposure {
	if c.open {
		c.body = nil
		return exposure{}
	}
	a.expose(c.exposure)
	return c.exposure
}

// outerJoin notes which relations the join can make rows of NULLs of.
func outerJoin(kind pg.JoinType, left, right []*relation) {
	for _, r := range left {
		r.nullable = r.nullable || kind == pg.JoinType_JOIN_RIGHT || kind == pg.JoinType_JOIN_FULL
	}
	for _, r := range right {
		r.nullable = r.nullable || kind == pg.JoinType_JOIN_LEFT || kind == pg.JoinType_JOIN_FULL
	}
}

// exposedAs looks at the parts of a join that cannot be named any more; others stand
// beside their common name.
func (r *relation) exposedAs() (exposed, walled bool) {
	if !r.masked {
		return r.exposed, r.walled
	}
	walled = true
	for _, p := range r.parts {
		e, w := p.exposedAs()
		exposed, walled = exposed || e, walled && (w || !e)
	}
	return exposed, walled
}

// among tells whether the relation, or a name for it and others, is in the set.
func (r *relation) among(mentioned map[*relation]bool) bool {
	if mentioned[r] {
		return true
	}
	for m := range mentioned {
		for _, p := range m.parts {
			if p == r {
				return true
			}
		}
	}
	return false
}
