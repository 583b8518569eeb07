package analyze

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// What Postgres keeps from other servers' rows behind row-level security are functions that
// are given a column. That a column stands in the text is not enough: Postgres folds
// constants, inlines functions in SQL and drops what nobody reads, and what is left may hold
// none. Here stands what it certainly keeps.

// keeps tells whether an expression, as long as anything is left of it, is one of a column
// of the query level whose relations count from start: not one of the query around, which
// is a parameter by then, and not one of a sub-query that may be an expression.
func (a *analyzer) keeps(n *pg.Node, start int) bool {
	return a.keepsOne(n, func(n *pg.Node) bool {
		meant := a.names[n.GetColumnRef()]
		return len(meant.relations) == 1 && (!meant.varying || meant.relations[0].rows) && meant.relations[0].serial >= start
	})
}

// keepsOne tells whether an expression is one of what is kept, through functions and
// operators: of a NULL they may be constants, so what stands beside it is a literal.
func (a *analyzer) keepsOne(n *pg.Node, kept func(*pg.Node) bool) bool {
	if n == nil || kept(n) {
		return n != nil
	}
	var args []*pg.Node
	switch x := n.Node.(type) {
	case *pg.Node_NamedArgExpr:
		args = []*pg.Node{x.NamedArgExpr.Arg}
	case *pg.Node_TypeCast:
		args = []*pg.Node{x.TypeCast.Arg}
	case *pg.Node_AExpr:
		if x.AExpr.Kind == pg.A_Expr_Kind_AEXPR_OP {
			args = []*pg.Node{x.AExpr.Lexpr, x.AExpr.Rexpr}
		}
	case *pg.Node_FuncCall:
		if a.catalogCall(x.FuncCall) != "" && !a.isAggregate(x.FuncCall) {
			args = x.FuncCall.Args
		}
	}
	found := false
	for _, arg := range args {
		c := arg.GetAConst()
		switch {
		case arg == nil || c != nil && !c.Isnull:
		case a.keepsOne(arg, kept):
			found = true
		default:
			return false
		}
	}
	return found
}

// heldCall tells whether row-level security keeps a call from others' rows: one of
// pg_catalog, which is given a column. What Postgres calls leakproof it does not keep; that
// fails where an argument is converted, and for values of some types and collations.
func (a *analyzer) heldCall(f *pg.FuncCall, start int) bool {
	if a.catalogCall(f) == "" || slices.ContainsFunc(f.Args, a.fragile) {
		return false
	}
	held := false
	for _, n := range f.Args {
		switch {
		case a.keeps(n, start):
			held = true
		case n.GetAConst() == nil && !a.isUntyped(n):
			return false
		}
	}
	return held
}

// heldOperator is heldCall for operators, and for what is short for several.
func (a *analyzer) heldOperator(e *pg.A_Expr, start int) bool {
	switch {
	case e.Lexpr.GetRowExpr() != nil || e.Rexpr.GetRowExpr() != nil || a.conflict(e.Lexpr, e.Rexpr) || a.converts(e, start):
		return false
	case a.overflows(e.Lexpr) || a.overflows(e.Rexpr) || !tree.IsComparison(tree.LastName(e.Name)) && (a.collated(e.Lexpr) || a.collated(e.Rexpr)):
		return false
	case a.keeps(e.Lexpr, start):
		return true
	}
	switch e.Kind {
	case pg.A_Expr_Kind_AEXPR_OP, pg.A_Expr_Kind_AEXPR_OP_ANY, pg.A_Expr_Kind_AEXPR_OP_ALL, pg.A_Expr_Kind_AEXPR_DISTINCT, pg.A_Expr_Kind_AEXPR_NOT_DISTINCT,
		pg.A_Expr_Kind_AEXPR_LIKE, pg.A_Expr_Kind_AEXPR_ILIKE, pg.A_Expr_Kind_AEXPR_SIMILAR:
		return a.keeps(e.Rexpr, start)
	}
	return false
}

// fragile tells an operand on which functions that Postgres calls leakproof can fail.
func (a *analyzer) fragile(n *pg.Node) bool { return a.collated(n) || a.overflows(n) }

// overflows tells a column of a type whose values are compared by what can overflow.
func (a *analyzer) overflows(n *pg.Node) bool {
	return n != nil && (overflowing[a.namedType(n)] || a.overflows(n.GetTypeCast().GetArg()))
}

var overflowing = map[tree.TypeName]bool{{Schema: "pg_catalog", Name: "circle"}: true, {Schema: "pg_catalog", Name: "lseg"}: true}

// isIndex tells a subscript that is not converted, or none.
func (a *analyzer) isIndex(n *pg.Node) bool {
	t, ok := a.typeOf(n)
	return n == nil || ok && (t == "" || t == "int4" || t == "int2" || t == "text")
}

// heldSubLink tells whether Postgres certainly takes a sub-query for one that looks at the
// rows of the level whose relations count from start: else it may be a parameter, which is
// evaluated when it is first asked for. x IN (SELECT …) never is one.
func (a *analyzer) heldSubLink(s *pg.SubLink, start int) bool {
	query := s.Subselect.GetSelectStmt()
	switch {
	case query == nil || query.Op != pg.SetOperation_SETOP_NONE || query.WithClause != nil:
		return false
	case s.SubLinkType == pg.SubLinkType_ANY_SUBLINK:
		list := query.TargetList
		return len(list) == 1 && a.keeps(s.Testexpr, start) && a.oneType([]*pg.Node{s.Testexpr, list[0].GetResTarget().GetVal()})
	case len(query.GroupClause) > 0 || query.HavingClause != nil || failsOnNone(query): // it may give a row though it finds none
		return false
	case !isCount(query.LimitCount) || !isCount(query.LimitOffset):
		return false
	}
	return slices.ContainsFunc(tree.Conjuncts(query.WhereClause), func(part *pg.Node) bool { return a.ties(part, start, a.starts[s]) })
}

// failsOnNone tells whether a query has functions that may fail though it finds no row:
// window functions, and the likes of percentile_cont(2) WITHIN GROUP (…).
func failsOnNone(query *pg.SelectStmt) bool {
	found := len(query.WindowClause) > 0
	within(query, func(f *pg.FuncCall) { found = found || f.Over != nil || f.AggWithinGroup })
	return found
}

// ties tells whether a part of a sub-query's WHERE compares a column of its own, whose
// relations count from inner, with one of the level around, whose relations count from
// start. It is dropped only with all of the WHERE, by which the sub-query finds no row: then
// it is evaluated, if at all, on none.
func (a *analyzer) ties(part *pg.Node, start, inner int) bool {
	left, right := tree.ColumnPair(part)
	l, r := a.tableOf(left.GetColumnRef()), a.tableOf(right.GetColumnRef())
	if l == nil || r == nil {
		return false
	}
	near, far := max(l.serial, r.serial), min(l.serial, r.serial)
	return near >= inner && far < inner && far >= start
}
