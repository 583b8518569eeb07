package types

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

func constType(c *pg.A_Const) string {
	switch {
	case c.Isnull || c.GetSval() != nil:
		return ""
	case c.GetIval() != nil:
		return "int4"
	case c.GetBoolval() != nil:
		return "bool"
	case c.GetBsval() != nil:
		return "bit"
	}
	return "numeric" // or int8, which compares with fewer types
}

// PlainType gives a type of pg_catalog; varchar compares as text. Arrays are none: one of
// them is not like another. Nor is what overflows when it is compared.
func PlainType(t tree.TypeName) (string, bool) {
	if t.Schema != "pg_catalog" || strings.HasPrefix(t.Name, "_") || overflowing[t] {
		return "", false
	}
	if t.Name == "varchar" {
		return "text", true
	}
	return t.Name, true
}

// CastType gives the type that a cast names; an array's is not looked at here.
func (ts *Types) CastType(t *pg.TypeName) (string, bool) {
	name := ts.CatalogType(t)
	if name == "" || len(t.ArrayBounds) > 0 {
		return "", false
	}
	return PlainType(tree.TypeName{Schema: "pg_catalog", Name: name})
}

// CatalogType gives the name of a type of pg_catalog, of int[] that of its elements; "" for
// another schema's.
func (ts *Types) CatalogType(t *pg.TypeName) string {
	names, ok := tree.Strings(t.GetNames())
	switch {
	case ok && len(names) == 2 && names[0] == "pg_catalog":
		return names[1]
	case ok && len(names) == 1 && ts.Catalog.Types[names[0]] == "":
		return names[0]
	}
	return ""
}

// ElementOf gives the type of an array's elements: "" for a placeholder or a literal.
func (ts *Types) ElementOf(n *pg.Node) (string, bool) {
	array := ts.GivenType(n.GetParamRef())
	if element, ok := strings.CutPrefix(array.Name, "_"); ok {
		return PlainType(tree.TypeName{Schema: array.Schema, Name: element})
	}
	if cast := n.GetTypeCast(); cast != nil && len(cast.TypeName.ArrayBounds) == 1 {
		bare := &pg.TypeName{Names: cast.TypeName.Names}
		return ts.CastType(bare)
	}
	return "", ts.IsUntyped(n) && !n.GetAConst().GetIsnull()
}

func valueType(op pg.SQLValueFunctionOp) (string, bool) {
	switch op {
	case pg.SQLValueFunctionOp_SVFOP_CURRENT_DATE:
		return "date", true
	case pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP, pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP_N:
		return "timestamptz", true
	case pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP, pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N:
		return "timestamp", true
	}
	return "", false
}

// Named gives the type of a column, or the one that a cast names.
func (ts *Types) Named(n *pg.Node) tree.TypeName {
	if ref := n.GetColumnRef(); ref != nil {
		return ts.names.Column(ref).Type
	}
	t := n.GetTypeCast().GetTypeName()
	names, ok := tree.Strings(t.GetNames())
	switch {
	case !ok || len(names) == 0 || len(t.GetArrayBounds()) > 0:
	case ts.CatalogType(t) != "":
		return tree.TypeName{Schema: "pg_catalog", Name: ts.CatalogType(t)}
	case len(names) == 2:
		return tree.TypeName{Schema: names[0], Name: names[1]}
	case len(names) == 1:
		return tree.TypeName{Schema: ts.Catalog.Types[names[0]], Name: names[0]}
	}
	return tree.TypeName{}
}

// Overflows tells a column of a type whose values are compared by what can overflow.
func (ts *Types) Overflows(n *pg.Node) bool {
	return n != nil && (overflowing[ts.Named(n)] || ts.Overflows(n.GetTypeCast().GetArg()))
}

var overflowing = map[tree.TypeName]bool{{Schema: "pg_catalog", Name: "circle"}: true, {Schema: "pg_catalog", Name: "lseg"}: true}
