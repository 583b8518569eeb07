package analyze

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// figureName gives the name that Postgres gives to an unnamed expression of a select
// list (FigureColname in its parser), once the expression was analyzed; "" where that is
// not known. A cast names what has no strong name of its own.
func (a *analyzer) figureName(n *pg.Node) string {
	if name := a.strongName(n); name != "" || a.unnamed(n) {
		return name
	}
	return tree.WeakName(n)
}

// unnamed tells whether an expression takes its name from a sub-query, whose own is not
// known.
func (a *analyzer) unnamed(n *pg.Node) bool {
	sub := tree.Naming(n).GetSubLink()
	_, known := a.subqueries[sub]
	return sub != nil && sub.SubLinkType == pg.SubLinkType_EXPR_SUBLINK && !known
}

func (a *analyzer) strongName(n *pg.Node) string {
	n = tree.Naming(n)
	switch x := n.GetNode().(type) {
	case *pg.Node_ColumnRef:
		return tree.LastName(x.ColumnRef.Fields)
	case *pg.Node_FuncCall:
		return tree.LastName(x.FuncCall.Funcname)
	case *pg.Node_AExpr:
		if x.AExpr.Kind == pg.A_Expr_Kind_AEXPR_NULLIF {
			return "nullif"
		}
	case *pg.Node_SubLink:
		return a.subLinkName(x.SubLink)
	}
	return fixedName(n)
}

func fixedName(n *pg.Node) string {
	switch x := n.GetNode().(type) {
	case *pg.Node_GroupingFunc:
		return "grouping"
	case *pg.Node_AArrayExpr:
		return "array"
	case *pg.Node_RowExpr:
		return "row"
	case *pg.Node_CoalesceExpr:
		return "coalesce"
	case *pg.Node_MinMaxExpr:
		if x.MinMaxExpr.Op == pg.MinMaxOp_IS_LEAST {
			return "least"
		}
		return "greatest"
	case *pg.Node_SqlvalueFunction:
		op := strings.TrimPrefix(x.SqlvalueFunction.Op.String(), "SVFOP_")
		return strings.ToLower(strings.TrimSuffix(op, "_N"))
	}
	return ""
}

// subLinkName is the name of a sub-query's one column, for one that is a value.
func (a *analyzer) subLinkName(s *pg.SubLink) string {
	switch s.SubLinkType {
	case pg.SubLinkType_EXISTS_SUBLINK:
		return "exists"
	case pg.SubLinkType_ARRAY_SUBLINK:
		return "array"
	case pg.SubLinkType_EXPR_SUBLINK:
		return a.subqueries[s]
	}
	return ""
}
