package fence

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
	"github.com/tenantgate/tenantgate/policy/sql/types"
)

// keepsAggregate tells whether a condition, or an entry of a select list, as long as
// anything is left of it, is one of an aggregate of its own query level, whose relations
// count from start.
func (j *Judge) keepsAggregate(n *pg.Node, start int) bool {
	kept := func(n *pg.Node) bool {
		return j.KeepsOne(n, func(n *pg.Node) bool {
			return n.GetFuncCall() != nil && j.isAggregate(n.GetFuncCall()) && j.aggregates(n, start)
		})
	}
	switch x := n.GetNode().(type) {
	case *pg.Node_BoolExpr:
		return !slices.ContainsFunc(x.BoolExpr.Args, func(arg *pg.Node) bool { return !j.keepsAggregate(arg, start) })
	case *pg.Node_AExpr:
		return kept(x.AExpr.Lexpr) || x.AExpr.Kind == pg.A_Expr_Kind_AEXPR_OP && kept(x.AExpr.Rexpr)
	case *pg.Node_NullTest:
		return kept(x.NullTest.Arg)
	case *pg.Node_FuncCall:
		if j.CatalogCall(x.FuncCall) != "" && slices.ContainsFunc(x.FuncCall.Args, kept) {
			return true
		}
	}
	return kept(n)
}

// isAggregate is IsAggregate for what runs on rows that passed: max(f(a)) is a column max where f is a function outside pg_catalog that
// gives a row.
func (j *Judge) isAggregate(f *pg.FuncCall) bool {
	if !j.IsAggregate(f) || len(f.Args) != 1 || tree.IsWrittenAggregate(f) {
		return j.IsAggregate(f)
	}
	return !j.holdsOthers(tree.Unwrap(f.Args[0]))
}

// holdsOthers tells whether m is or holds a call of a function outside pg_catalog, or a column of a type that is none of pg_catalog's.
func (j *Judge) holdsOthers(m proto.Message) bool {
	switch x := m.(type) {
	case *pg.FuncCall:
		if j.CatalogCall(x) == "" {
			return true
		}
	case *pg.ColumnRef:
		t := j.Column(x).Type
		return t.Schema != "" && t.Schema != "pg_catalog"
	}
	return tree.AnyChild(m, j.holdsOthers)
}

// aggregates tells whether an expression holds an aggregate or a window function of its own
// query level, whose relations count from start, and certainly of that: one that names
// columns of a query around may be that query's.
func (j *Judge) aggregates(n *pg.Node, start int) bool {
	found := false
	types.Within(n, func(f *pg.FuncCall) {
		found = found || j.isAggregate(f) && j.earliest(f) >= start
	})
	return found
}
