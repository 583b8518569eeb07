package fence

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
	"github.com/tenantgate/tenantgate/policy/sql/types"
)

// What Postgres keeps from other servers' rows behind row-level security are functions that
// are given a column. That a column stands in the text is not enough: Postgres folds
// constants, inlines functions in SQL and drops what nobody reads, and what is left may hold
// none. Here stands what it certainly keeps.

// keeps tells whether an expression, as long as anything is left of it, is one of a column
// of the query level whose relations count from start: not one of the query around, which
// is a parameter by then, and not one of a sub-query that may be an expression.
func (j *Judge) keeps(n *pg.Node, start int) bool {
	return j.KeepsOne(n, func(n *pg.Node) bool {
		meant := j.names.Reference(n.GetColumnRef())
		return len(meant.Relations) == 1 && (!meant.Varying || meant.Relations[0].Rows) && meant.Relations[0].serial >= start
	})
}

// heldCall tells whether row-level security keeps a call from others' rows: one of
// pg_catalog, which is given a column. What Postgres calls leakproof it does not keep; that
// fails where an argument is converted, and for values of some types and collations.
func (j *Judge) heldCall(f *pg.FuncCall, start int) bool {
	if j.CatalogCall(f) == "" || slices.ContainsFunc(f.Args, j.fragile) {
		return false
	}
	held := false
	for _, n := range f.Args {
		switch {
		case j.keeps(n, start):
			held = true
		case n.GetAConst().GetFval() != nil: // converted, as to float8, while the statement runs
			return false
		case n.GetAConst() == nil && !j.IsUntyped(n):
			return false
		}
	}
	return held
}

// heldOperator is heldCall for operators, and for what is short for several.
func (j *Judge) heldOperator(e *pg.A_Expr, start int) bool {
	switch {
	case e.Lexpr.GetRowExpr() != nil || e.Rexpr.GetRowExpr() != nil || j.listGrows(e) || j.Conflict(e.Lexpr, e.Rexpr) || j.converts(e, start):
		return false
	case j.Overflows(e.Lexpr) || j.Overflows(e.Rexpr) || !tree.IsComparison(tree.LastName(e.Name)) && (j.IsCollated(e.Lexpr) || j.IsCollated(e.Rexpr)):
		return false
	case j.keeps(e.Lexpr, start):
		return true
	}
	switch e.Kind {
	case pg.A_Expr_Kind_AEXPR_OP, pg.A_Expr_Kind_AEXPR_OP_ANY, pg.A_Expr_Kind_AEXPR_OP_ALL, pg.A_Expr_Kind_AEXPR_DISTINCT, pg.A_Expr_Kind_AEXPR_NOT_DISTINCT,
		pg.A_Expr_Kind_AEXPR_LIKE, pg.A_Expr_Kind_AEXPR_ILIKE, pg.A_Expr_Kind_AEXPR_SIMILAR:
		return j.keeps(e.Rexpr, start)
	}
	return false
}

// fragile tells an operand on which functions that Postgres calls leakproof can fail.
func (j *Judge) fragile(n *pg.Node) bool { return j.IsCollated(n) || j.Overflows(n) }

// heldSubLink tells whether Postgres certainly takes a sub-query for one that looks at the
// rows of the level whose relations count from start: else it may be a parameter, which is
// evaluated when it is first asked for. x IN (SELECT …) never is one.
func (j *Judge) heldSubLink(s *pg.SubLink, start int) bool {
	query := s.Subselect.GetSelectStmt()
	switch {
	case query == nil || query.Op != pg.SetOperation_SETOP_NONE || query.WithClause != nil:
		return false
	case s.SubLinkType == pg.SubLinkType_ANY_SUBLINK:
		list := query.TargetList
		return len(list) == 1 && j.keeps(s.Testexpr, start) && j.OneType([]*pg.Node{s.Testexpr, list[0].GetResTarget().GetVal()})
	case len(query.GroupClause) > 0 || query.HavingClause != nil || failsOnNone(query): // it may give a row though it finds none
		return false
	case !isCount(query.LimitCount) || !isCount(query.LimitOffset):
		return false
	}
	return j.tied(query, start, j.starts[s])
}

// tied tells whether a part of a query's WHERE ties it to the level around.
func (j *Judge) tied(query *pg.SelectStmt, start, inner int) bool {
	return slices.ContainsFunc(tree.Conjuncts(query.WhereClause), func(part *pg.Node) bool { return j.ties(part, start, inner) })
}

// failsOnNone tells whether a query has functions that may fail though it finds no row:
// window functions, and the likes of percentile_cont(2) WITHIN GROUP (…).
func failsOnNone(query *pg.SelectStmt) bool {
	found := len(query.WindowClause) > 0
	types.Within(query, func(f *pg.FuncCall) { found = found || f.Over != nil || f.AggWithinGroup })
	return found
}

// ties tells whether a part of a sub-query's WHERE compares a column of its own, whose
// relations count from inner, with one of the level around, whose relations count from
// start. It is dropped only with all of the WHERE, by which the sub-query finds no row: then
// it is evaluated, if at all, on none.
func (j *Judge) ties(part *pg.Node, start, inner int) bool {
	left, right := tree.ColumnPair(part)
	l, r := j.names.Reference(left.GetColumnRef()).table(), j.names.Reference(right.GetColumnRef()).table()
	if l == nil || r == nil {
		return false
	}
	near, far := max(l.serial, r.serial), min(l.serial, r.serial)
	return near >= inner && far < inner && far >= start
}
