package analyze

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// closed are the types of pg_catalog whose comparisons with whatever they can be compared
// with are all leakproof: none is converted to another type for it.
var closed = map[string]bool{"text": true, "uuid": true, "bool": true, "bytea": true}

// typing is the type of an expression, as far as that shows.
type typing struct {
	name  string
	known bool
}

// typeOf gives the type of an expression as far as that shows: the name of a type of
// pg_catalog, "" for a placeholder or literal that takes its type from where it stands;
// false where it is not known. Results are kept, since each operator asks for its operands'.
func (a *analyzer) typeOf(n *pg.Node) (string, bool) {
	if n == nil {
		return "", false
	}
	t, done := a.typings[n]
	if !done {
		t.name, t.known = a.findType(n)
		a.typings[n] = t
	}
	return t.name, t.known
}

func (a *analyzer) findType(n *pg.Node) (string, bool) {
	switch x := n.GetNode().(type) {
	case *pg.Node_ParamRef:
		if t := a.givenType(x.ParamRef); t != (tree.TypeName{}) {
			return plainType(t)
		}
		return "", !a.torn[x.ParamRef.Number]
	case *pg.Node_AConst:
		return constType(x.AConst), true
	case *pg.Node_ColumnRef:
		return plainType(a.names[x.ColumnRef].typ)
	case *pg.Node_TypeCast:
		return a.castType(x.TypeCast.TypeName)
	case *pg.Node_SqlvalueFunction:
		return valueType(x.SqlvalueFunction.Op)
	case *pg.Node_FuncCall:
		return a.resultType(x.FuncCall)
	case *pg.Node_BoolExpr, *pg.Node_NullTest, *pg.Node_BooleanTest:
		return "bool", true
	case *pg.Node_AExpr:
		switch {
		case x.AExpr.Kind == pg.A_Expr_Kind_AEXPR_OP && tree.IsComparison(tree.LastName(x.AExpr.Name)):
			return "bool", !a.catalog.Namesakes.Operators[tree.LastName(x.AExpr.Name)]
		case a.joinsTexts(x.AExpr):
			return "text", true
		}
		return a.movedType(x.AExpr)
	case *pg.Node_SubLink:
		if list := x.SubLink.Subselect.GetSelectStmt().GetTargetList(); x.SubLink.SubLinkType == pg.SubLinkType_EXPR_SUBLINK && len(list) == 1 {
			return a.typed(list[0].GetResTarget().GetVal())
		}
	case *pg.Node_CoalesceExpr:
		return a.commonType(x.CoalesceExpr.Args)
	case *pg.Node_CaseExpr:
		return a.commonType(results(x.CaseExpr))
	}
	return "", false
}

// commonType gives the type that all of some expressions have which are more than literals.
func (a *analyzer) commonType(list []*pg.Node) (string, bool) {
	if !a.oneType(list) {
		return "", false
	}
	for _, n := range list {
		if t, ok := a.typed(n); ok {
			return t, true
		}
	}
	return "", false
}

// isUntyped tells a placeholder, and a literal in quotes or NULL.
func (a *analyzer) isUntyped(n *pg.Node) bool {
	c := n.GetAConst()
	p := n.GetParamRef()
	return p != nil && !a.torn[p.Number] && a.givenType(p) == tree.TypeName{} || c != nil && (c.Isnull || c.GetSval() != nil)
}

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

// plainType gives a type of pg_catalog; varchar compares as text. Arrays are none: one of
// them is not like another. Nor is what overflows when it is compared.
func plainType(t tree.TypeName) (string, bool) {
	if t.Schema != "pg_catalog" || strings.HasPrefix(t.Name, "_") || overflowing[t] {
		return "", false
	}
	if t.Name == "varchar" {
		return "text", true
	}
	return t.Name, true
}

// castType gives the type that a cast names; an array's is not looked at here.
func (a *analyzer) castType(t *pg.TypeName) (string, bool) {
	name := a.catalogType(t)
	if name == "" || len(t.ArrayBounds) > 0 {
		return "", false
	}
	return plainType(tree.TypeName{Schema: "pg_catalog", Name: name})
}

// catalogType gives the name of a type of pg_catalog, of int[] that of its elements; "" for
// another schema's.
func (a *analyzer) catalogType(t *pg.TypeName) string {
	names, ok := tree.Strings(t.GetNames())
	switch {
	case ok && len(names) == 2 && names[0] == "pg_catalog":
		return names[1]
	case ok && len(names) == 1 && a.catalog.Types[names[0]] == "":
		return names[0]
	}
	return ""
}

// elementOf gives the type of an array's elements: "" for a placeholder or a literal.
func (a *analyzer) elementOf(n *pg.Node) (string, bool) {
	array := a.givenType(n.GetParamRef())
	if element, ok := strings.CutPrefix(array.Name, "_"); ok {
		return plainType(tree.TypeName{Schema: array.Schema, Name: element})
	}
	if cast := n.GetTypeCast(); cast != nil && len(cast.TypeName.ArrayBounds) == 1 {
		bare := &pg.TypeName{Names: cast.TypeName.Names}
		return a.castType(bare)
	}
	return "", a.isUntyped(n) && !n.GetAConst().GetIsnull()
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

// resultTypes are those of some functions of pg_catalog, whatever their arguments.
var resultTypes = map[string]string{
	"count": "int8", "row_number": "int8", "rank": "int8", "dense_rank": "int8",
	"lower": "text", "upper": "text", "btrim": "text", "concat": "text",
	"now": "timestamptz", "transaction_timestamp": "timestamptz", "statement_timestamp": "timestamptz",
	"gen_random_uuid": "uuid",
}

// typed is typeOf where a literal has become text already.
func (a *analyzer) typed(n *pg.Node) (string, bool) {
	t, ok := a.typeOf(n)
	return t, ok && t != ""
}

func (a *analyzer) resultType(f *pg.FuncCall) (string, bool) {
	name := a.catalogCall(f)
	if (name == "min" || name == "max") && len(f.Args) == 1 {
		return a.typed(f.Args[0])
	}
	t, ok := resultTypes[name]
	return t, ok
}

// catalogCall gives the name of a call that means a function of pg_catalog; "" otherwise.
// lower and upper are text's, or those of ranges.
func (a *analyzer) catalogCall(f *pg.FuncCall) string {
	names, ok := tree.Strings(f.Funcname)
	switch {
	case !ok || len(names) == 2 && names[0] != "pg_catalog" || len(names) == 1 && a.catalog.OwnCall(names[0]):
		return ""
	case slices.Contains([]string{"lower", "upper", "btrim"}, names[len(names)-1]):
		if len(f.Args) == 0 {
			return ""
		}
		if t, known := a.typeOf(f.Args[0]); !known || t != "" && t != "text" {
			return ""
		}
	}
	return names[len(names)-1]
}

// movedType gives the type of a moment plus or minus an interval, or of a date and days.
func (a *analyzer) movedType(e *pg.A_Expr) (string, bool) {
	if op := tree.LastName(e.Name); e.Kind != pg.A_Expr_Kind_AEXPR_OP || op != "+" && op != "-" || a.catalog.Namesakes.Operators[op] {
		return "", false
	}
	left, ok1 := a.typeOf(e.Lexpr)
	right, ok2 := a.typeOf(e.Rexpr)
	switch {
	case !ok1 || !ok2:
		return "", false
	case (left == "timestamptz" || left == "timestamp") && right == "interval":
		return left, true
	case left == "date" && right == "interval":
		return "timestamp", true
	}
	return "date", left == "date" && right == "int4"
}

// joinsTexts tells '%' || ? || '%', which fails beyond a gigabyte only, unless it is of two
// collations.
func (a *analyzer) joinsTexts(e *pg.A_Expr) bool {
	if e.Kind != pg.A_Expr_Kind_AEXPR_OP || tree.LastName(e.Name) != "||" || e.Lexpr == nil || e.Rexpr == nil || a.collated(e.Lexpr) || a.collated(e.Rexpr) || a.catalog.OwnOperator("||") {
		return false
	}
	left, ok1 := a.typeOf(e.Lexpr)
	right, ok2 := a.typeOf(e.Rexpr)
	leftText, rightText := left == "" || left == "text", right == "" || right == "text"
	return ok1 && ok2 && (leftText || rightText) && (leftText || printed[left]) && (rightText || printed[right])
}

// printed are types of pg_catalog whose values || adds to a text in their text form, which
// can be made of all of them.
var printed = map[string]bool{"int2": true, "int4": true, "int8": true, "numeric": true, "bool": true, "uuid": true}
