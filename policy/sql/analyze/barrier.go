package analyze

import (
	"math"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
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

// place is where a condition stands.
type place uint8

const (
	inWhere place = iota // or in the ON of a join
	inFull               // in the ON of a FULL JOIN
	inHaving
)

// isColumnPair tells a.x = b.y. A FULL JOIN takes nothing but equalities, guarded ones are
// none to it, and like USING this compares two columns' values as they are.
func (a *analyzer) isColumnPair(n *pg.Node) bool {
	left, right := tree.ColumnPair(n)
	l, r := a.names[left.GetColumnRef()], a.names[right.GetColumnRef()]
	return left != nil && !a.conflict(left, right) && !l.converted && !r.converted && !a.mergeFails(l.typ, r.typ)
}

// protect finds the parts of a condition that need a guard, once all names in it are resolved.
func (a *analyzer) protect(l *level, root *pg.Node, of place) {
	if a.fault != nil || root == nil {
		return
	}
	c := &facts.Clause{Root: root, Guards: map[*pg.Node]*facts.Guard{}}
	for _, part := range tree.Conjuncts(root) {
		if left, right := tree.Equation(part); of == inFull && a.meetsScope("=", left, right) {
			f := refusal.Unsupported(tree.Leftmost(part), "a FULL JOIN of a scope column and another column is not supported")
			f.Hint = "compare two scope columns"
			a.fail(f)
		}
		if a.leakproof(part) || of == inHaving && a.keepsAggregate(part, l.start) || of == inFull && a.isColumnPair(part) {
			continue
		}
		if g := a.guard(l, part, of == inHaving); g != nil {
			c.Guards[part] = g
		}
		if a.fault != nil {
			return
		}
	}
	if len(c.Guards) > 0 {
		a.facts.Clauses = append(a.facts.Clauses, c)
	}
}

// guard gives the guard of a part; nil where it looks at nothing of this level that is
// exposed. What looks at no relation of this level, or at a sub-query that may turn out a
// constant, could fail on the rows of any.
func (a *analyzer) guard(l *level, part *pg.Node, having bool) *facts.Guard {
	mentioned := map[*relation]bool{}
	a.mentions(part, mentioned)
	g := &facts.Guard{Having: having}
	needed, named := false, false
	for _, r := range l.rels {
		named = named || r.among(mentioned) && a.stays(r)
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

// stays tells whether columns of a relation stay columns of one where Postgres plans: those
// of a sub-query, or of a function that gives one row, may be found to be constants.
func (a *analyzer) stays(r *relation) bool { return a.staysBut(r, map[*relation]bool{}) }

// staysBut leaves out what was asked before: names of joins share their parts.
func (a *analyzer) staysBut(r *relation, asked map[*relation]bool) bool {
	for _, p := range r.parts {
		if !asked[p] && !a.staysBut(p, asked) {
			return false
		}
		asked[p] = true
	}
	return len(r.parts) > 0 || r.table || r.rows || r.exposed || a.facts.Barriers[r.body]
}

// maxGuarded bounds the relations that guards look at, all guards of a statement together.
const maxGuarded = 2000

func (a *analyzer) guardRelation(g *facts.Guard, r *relation, part *pg.Node) {
	if a.guarded++; a.guarded > maxGuarded {
		a.fail(refusal.Unsupported(tree.Offset(part), "the statement has too many conditions that look at too many tables: put them into sub-queries of their own"))
		return
	}
	switch {
	case r.masked:
		f := refusal.Unsupported(tree.Offset(part), "this condition is not supported on a join with an alias")
		f.Hint = "leave the alias of the join out and name its tables' columns"
		a.fail(f)
	case r.use != nil:
		g.Tables = append(g.Tables, facts.GuardTable{Use: r.use, Marker: a.marker(r, part)})
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
		if c.NotNull && !c.NoRead && !c.Virtual && (best < 0 || c.Name == t.Scope) {
			best = i
		}
	}
	if best < 0 {
		a.fail(refusal.Unsupported(tree.Offset(part), "this condition is not supported on an outer join with a table whose columns can all be NULL"))
		return ""
	}
	return lex.Quote(r.name) + "." + lex.Quote(r.cols[best].name)
}

// barrier notes that nothing may be moved into or out of a query. One with a LIMIT or
// OFFSET is such already.
func (a *analyzer) barrier(s *pg.SelectStmt) {
	if s == nil || s.LimitCount != nil || s.LimitOffset != nil {
		return
	}
	if a.facts.Barriers == nil {
		a.facts.Barriers = map[*pg.SelectStmt]bool{}
	}
	a.facts.Barriers[s] = true
}

// tells tells whether an entry of a query's select list is not leakproof, or of no known
// type, so that no condition on it may be moved into the query. On aggregates Postgres
// moves none.
func (a *analyzer) tells(s *pg.SelectStmt, walled bool) bool {
	if s == nil || a.fault != nil {
		return false
	}
	if s.Op != pg.SetOperation_SETOP_NONE {
		return a.tells(s.Larg, walled) || a.tells(s.Rarg, walled)
	}
	for _, n := range s.TargetList {
		v := n.GetResTarget().GetVal()
		if (a.nameless(v) || !a.safe(v, walled, a.begins[s])) && !a.keepsAggregate(v, a.begins[s]) {
			return true
		}
	}
	return slices.ContainsFunc(s.ValuesLists, func(row *pg.Node) bool {
		return !a.safe(row, walled, a.begins[s]) || slices.ContainsFunc(row.GetList().GetItems(), a.nameless)
	})
}

// nameless tells an expression whose type is not known, so that USING could not judge it.
func (a *analyzer) nameless(n *pg.Node) bool {
	return n.GetColumnRef() == nil && !a.isUntyped(n) && a.outputType(n) == tree.TypeName{}
}

// tellsWithin tells whether anything in a query is not leakproof.
func (a *analyzer) tellsWithin(query *pg.Node, walled bool) bool {
	if walled {
		return a.fault == nil && a.overlooked(query, math.MaxInt)
	}
	return a.leaks(query)
}

// outputType gives the type of a select list's entry, if it is known.
func (a *analyzer) outputType(n *pg.Node) tree.TypeName {
	if ref := n.GetColumnRef(); ref != nil {
		return a.names[ref].typ
	}
	if t, ok := a.typeOf(n); ok && t != "" {
		return tree.TypeName{Schema: "pg_catalog", Name: t}
	}
	return tree.TypeName{}
}

// reach gives the first relation that is named beneath m; 0 for none.
func (a *analyzer) reach(m proto.Message) int {
	if first := a.earliest(m); first < math.MaxInt && a.fault == nil {
		return first
	}
	return 0
}
