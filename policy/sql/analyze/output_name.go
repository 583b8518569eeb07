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
	if name := weakName(n); name != "" {
		return name
	}
	return "?column?"
}

// unnamed tells whether an expression takes its name from a sub-query, whose own is not
// known.
func (a *analyzer) unnamed(n *pg.Node) bool {
	sub := naming(n).GetSubLink()
	_, known := a.subqueries[sub]
	return sub != nil && sub.SubLinkType == pg.SubLinkType_EXPR_SUBLINK && !known
}

// naming gives the expression that a cast, COLLATE, element or CASE takes its name from.
func naming(n *pg.Node) *pg.Node {
	switch x := n.GetNode().(type) {
	case *pg.Node_TypeCast:
		return naming(x.TypeCast.Arg)
	case *pg.Node_CollateClause:
		return naming(x.CollateClause.Arg)
	case *pg.Node_AIndirection:
		return naming(x.AIndirection.Arg)
	case *pg.Node_CaseExpr:
		return naming(x.CaseExpr.Defresult)
	}
	return n
}

// weakName gives the name of a cast's type, and of CASE.
func weakName(n *pg.Node) string {
	switch x := n.GetNode().(type) {
	case *pg.Node_TypeCast:
		return tree.LastName(x.TypeCast.TypeName.Names)
	case *pg.Node_CollateClause:
		return weakName(x.CollateClause.Arg)
	case *pg.Node_AIndirection:
		return weakName(x.AIndirection.Arg)
	case *pg.Node_CaseExpr:
		return "case"
	}
	return ""
}

func (a *analyzer) strongName(n *pg.Node) string {
	n = naming(n)
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
