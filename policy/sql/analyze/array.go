package analyze

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// isArray tells whether an expression is certainly an array, none of whose elements is a row: unnest makes one column of it. Of an
// array of rows it makes a row's columns, and of a tsvector three.
func (a *analyzer) isArray(n *pg.Node) bool {
	return !a.mayBeRow(n) && a.givesArray(n)
}

func (a *analyzer) givesArray(n *pg.Node) bool {
	switch x := n.GetNode().(type) {
	case *pg.Node_TypeCast:
		return len(x.TypeCast.TypeName.ArrayBounds) > 0
	case *pg.Node_ParamRef:
		return isArrayType(a.types.GivenType(x.ParamRef))
	case *pg.Node_ColumnRef:
		return isArrayType(a.names[x.ColumnRef].Type)
	case *pg.Node_AArrayExpr:
		return true
	case *pg.Node_SubLink:
		return x.SubLink.SubLinkType == pg.SubLinkType_ARRAY_SUBLINK
	case *pg.Node_FuncCall:
		return slices.Contains(tree.ArrayCalls, a.types.CatalogCall(x.FuncCall))
	case *pg.Node_CoalesceExpr:
		return slices.ContainsFunc(x.CoalesceExpr.Args, a.givesArray)
	case *pg.Node_AExpr:
		return tree.LastName(x.AExpr.Name) == "||" && (a.givesArray(x.AExpr.Lexpr) || a.givesArray(x.AExpr.Rexpr))
	}
	return false
}

func isArrayType(t tree.TypeName) bool {
	return t.Schema == "pg_catalog" && strings.HasPrefix(t.Name, "_")
}

// elementType gives the type of what unnest makes of a cast to an array, where it has the
// collation of that type.
func (a *analyzer) elementType(n *pg.Node) tree.TypeName {
	if t, _ := a.types.ElementOf(n); t != "" && t != "name" && !a.types.IsCollated(n) {
		return tree.TypeName{Schema: "pg_catalog", Name: t}
	}
	return tree.TypeName{}
}
