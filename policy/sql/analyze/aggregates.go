package analyze

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// keepsAggregate tells whether a condition, or an entry of a select list, as long as
// anything is left of it, is one of an aggregate of its own query level, whose relations
// count from start.
func (a *analyzer) keepsAggregate(n *pg.Node, start int) bool {
	kept := func(n *pg.Node) bool {
		return a.keepsOne(n, func(n *pg.Node) bool {
			return n.GetFuncCall() != nil && a.isAggregate(n.GetFuncCall()) && a.aggregates(n, start)
		})
	}
	switch x := n.GetNode().(type) {
	case *pg.Node_BoolExpr:
		return !slices.ContainsFunc(x.BoolExpr.Args, func(arg *pg.Node) bool { return !a.keepsAggregate(arg, start) })
	case *pg.Node_AExpr:
		return kept(x.AExpr.Lexpr) || x.AExpr.Kind == pg.A_Expr_Kind_AEXPR_OP && kept(x.AExpr.Rexpr)
	case *pg.Node_NullTest:
		return kept(x.NullTest.Arg)
	case *pg.Node_FuncCall:
		if a.catalogCall(x.FuncCall) != "" && slices.ContainsFunc(x.FuncCall.Args, kept) {
			return true
		}
	}
	return kept(n)
}

// aggregates tells whether an expression holds an aggregate or a window function of its own
// query level, whose relations count from start, and certainly of that: one that names
// columns of a query around may be that query's.
func (a *analyzer) aggregates(n *pg.Node, start int) bool {
	found := false
	within(n, func(f *pg.FuncCall) {
		found = found || a.isAggregate(f) && a.earliest(f) >= start
	})
	return found
}

// within calls visit for the calls beneath m that belong to m's own query level.
func within(m proto.Message, visit func(*pg.FuncCall)) {
	switch n := m.(type) {
	case *pg.SubLink:
		return
	case *pg.FuncCall:
		visit(n)
	}
	tree.Children(m, func(c proto.Message) bool {
		within(c, visit)
		return true
	})
}

// isAggregate tells whether a call is certainly that of an aggregate or window function.
func (a *analyzer) isAggregate(f *pg.FuncCall) bool {
	return tree.IsWrittenAggregate(f) || slices.Contains(tree.Aggregates, a.catalogCall(f))
}
