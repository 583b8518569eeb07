package fence

import (
	"math"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// barrier notes that nothing may be moved into or out of a query. One with a LIMIT or
// OFFSET is such already.
func (j *Judge) barrier(s *pg.SelectStmt) {
	if s == nil || s.LimitCount != nil || s.LimitOffset != nil {
		return
	}
	if j.facts.Barriers == nil {
		j.facts.Barriers = map[*pg.SelectStmt]bool{}
	}
	j.facts.Barriers[s] = true
}

// tells tells whether an entry of a query's select list is not leakproof, or of no known
// type, so that no condition on it may be moved into the query. On aggregates Postgres
// moves none.
func (j *Judge) tells(s *pg.SelectStmt, walled bool) bool {
	if s == nil {
		return false
	}
	if s.Op != pg.SetOperation_SETOP_NONE {
		return j.tells(s.Larg, walled) || j.tells(s.Rarg, walled)
	}
	for _, n := range s.TargetList {
		v := n.GetResTarget().GetVal()
		if (j.nameless(v) || !j.safe(v, walled, j.starts[s])) && !j.keepsAggregate(v, j.starts[s]) {
			return true
		}
	}
	return slices.ContainsFunc(s.ValuesLists, func(row *pg.Node) bool {
		return !j.safe(row, walled, j.starts[s]) || slices.ContainsFunc(row.GetList().GetItems(), j.nameless)
	})
}

// Correlated has a query stay by itself because a query inside names a computed column of it: there the column's expression would hold
// no column of the inner query's tables, and row-level security takes such an expression for leakproof. Postgres merges no query that
// groups. What was judged before is only stricter for it.
func (j *Judge) Correlated(r *Relation) {
	for _, p := range r.Parts {
		if p.Masked || p.Body != nil { // what another name for a join is made of is among these itself
			j.Correlated(p)
		}
	}
	if s := r.Body; len(s.GetGroupClause()) == 0 && s.GetHavingClause() == nil && len(s.GetDistinctClause()) == 0 {
		j.barrier(s)
	}
}

// nameless tells an expression whose type is not known, so that USING could not judge it. A computed column's query is a barrier itself.
func (j *Judge) nameless(n *pg.Node) bool {
	if ref := n.GetColumnRef(); ref != nil {
		return j.names.Reference(ref).Whole && tree.Star(n) == nil
	}
	return !j.IsUntyped(n) && j.OutputType(n) == tree.TypeName{}
}

// tellsWithin tells whether anything in a query is not leakproof.
func (j *Judge) tellsWithin(query *pg.Node, walled bool) bool {
	if walled {
		return j.overlooked(query, math.MaxInt)
	}
	return j.leaks(query)
}

// Reach gives the first relation that is named beneath m; 0 for none.
func (j *Judge) Reach(m proto.Message) int {
	if first := j.earliest(m); first < math.MaxInt {
		return first
	}
	return 0
}
