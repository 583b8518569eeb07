package sqltree

import (
	"math"
	"regexp"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// closed are the types of pg_catalog whose comparisons with whatever they can be compared
// with are all leakproof: none is converted to another type for it.
var closed = map[string]bool{"text": true, "uuid": true, "bool": true, "bytea": true}

// typeOf gives the type of an expression as far as that shows: the name of a type of
// pg_catalog, "" for a placeholder or literal that takes its type from where it stands;
// false where it is not known.
func (a *analyzer) typeOf(n *pg.Node) (string, bool) {
	switch x := n.GetNode().(type) {
	case *pg.Node_ParamRef:
		return "", true
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
	case *pg.Node_AExpr:
		return a.movedType(x.AExpr)
	case *pg.Node_SubLink:
		if list := x.SubLink.Subselect.GetSelectStmt().GetTargetList(); x.SubLink.SubLinkType == pg.SubLinkType_EXPR_SUBLINK && len(list) == 1 {
			return a.typed(list[0].GetResTarget().GetVal())
		}
	case *pg.Node_CoalesceExpr:
		for _, arg := range x.CoalesceExpr.Args {
			if t, ok := a.typeOf(arg); !ok || t != "" {
				return t, ok
			}
		}
	}
	return "", false
}

// isUntyped tells a placeholder, and a literal in quotes or NULL.
func isUntyped(n *pg.Node) bool {
	c := n.GetAConst()
	return n.GetParamRef() != nil || c != nil && (c.Isnull || c.GetSval() != nil)
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

// plainType gives a type of pg_catalog; varchar compares as text.
func plainType(t TypeName) (string, bool) {
	if t.Schema != "pg_catalog" {
		return "", false
	}
	if t.Name == "varchar" {
		return "text", true
	}
	return t.Name, true
}

// castType gives the type that a cast names; an array's is not looked at here.
func (a *analyzer) castType(t *pg.TypeName) (string, bool) {
	names, ok := stringsOf(t.GetNames())
	if !ok || len(names) == 0 || len(names) > 2 || len(t.ArrayBounds) > 0 || len(names) == 2 && names[0] != "pg_catalog" || len(names) == 1 && a.catalog.types[names[0]] != "" {
		return "", false
	}
	return plainType(TypeName{"pg_catalog", names[len(names)-1]})
}

// elementOf gives the type of an array's elements: "" for a placeholder or a literal.
func (a *analyzer) elementOf(n *pg.Node) (string, bool) {
	if cast := n.GetTypeCast(); cast != nil && len(cast.TypeName.ArrayBounds) == 1 {
		bare := &pg.TypeName{Names: cast.TypeName.Names}
		return a.castType(bare)
	}
	return "", n.GetParamRef() != nil || n.GetAConst().GetSval() != nil
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
	names, ok := stringsOf(f.Funcname)
	switch {
	case !ok || len(names) == 2 && names[0] != "pg_catalog" || len(names) == 1 && a.catalog.functions[names[0]] != "":
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

// moments are the functions that give the present. Like steadyTexts, they neither fail nor
// change within a statement, whatever their arguments are.
var moments = []string{"now", "transaction_timestamp", "statement_timestamp"}

var steadyTexts = []string{"lower", "upper", "btrim", "concat"}

// steady tells whether an expression is the same for every row, and can't be seen to be
// evaluated.
func (a *analyzer) steady(n *pg.Node) bool {
	if n == nil || !a.leakproof(n) {
		return false
	}
	return !a.looks(n, math.MaxInt) || n.GetSubLink().GetSubLinkType() == pg.SubLinkType_EXPR_SUBLINK && !a.looks(n, a.starts[n.GetSubLink()])
}

// steadyCall admits calls on what holds no column.
func (a *analyzer) steadyCall(f *pg.FuncCall) bool {
	for _, arg := range f.Args {
		if !a.steady(arg) {
			return false
		}
	}
	plain := len(f.AggOrder) == 0 && f.AggFilter == nil && f.Over == nil && !f.AggStar && !f.AggDistinct && !f.FuncVariadic
	name := a.catalogCall(f)
	return plain && (slices.Contains(moments, name) || slices.Contains(steadyTexts, name))
}

// steadyCast admits casts of placeholders and literals, which Postgres reads as that type
// at once, and to a wider integer.
func (a *analyzer) steadyCast(c *pg.TypeCast) bool {
	if c.Arg.GetParamRef() != nil && len(c.TypeName.Typmods) == 0 {
		return true
	}
	if len(c.TypeName.ArrayBounds) > 0 { // of a type of pg_catalog: one of a domain would be checked
		to, ok := a.elementOf(&pg.Node{Node: &pg.Node_TypeCast{TypeCast: c}})
		return ok && to != "" && isUntyped(c.Arg)
	}
	from, ok1 := a.typeOf(c.Arg)
	to, ok2 := a.castType(c.TypeName)
	switch {
	case !ok1 || !ok2:
		return false
	case from == "":
		return c.Arg.GetAConst() != nil // with type modifiers too: it is read at once
	}
	return len(c.TypeName.Typmods) == 0 && (from == to || from == "int2" && to == "int4" || (from == "int2" || from == "int4") && to == "int8")
}

// steadyOperator admits what moves the present by a little: further off it would fail, at
// the ends of the calendar. Without it `created_at > now() - interval '7 days'` could not
// use an index.
func (a *analyzer) steadyOperator(e *pg.A_Expr) bool {
	_, moved := a.movedType(e)
	return moved && a.isPresent(e.Lexpr) && isLittle(e.Rexpr)
}

// isPresent tells now() and its like.
func (a *analyzer) isPresent(n *pg.Node) bool {
	return n.GetSqlvalueFunction() != nil || n.GetFuncCall() != nil && slices.Contains(moments, a.catalogCall(n.GetFuncCall()))
}

// littleInterval is an interval of less than a thousand years.
var littleInterval = regexp.MustCompile(`^[+-]?(\d{1,4} ?(second|minute|hour|day|week|month)s?|\d{1,3} ?years?)$`)

// isLittle tells interval '7 days', and a number of days.
func isLittle(n *pg.Node) bool {
	if days := n.GetAConst().GetIval(); days != nil {
		return days.Ival > -1_000_000 && days.Ival < 1_000_000
	}
	cast := n.GetTypeCast()
	return len(cast.GetTypeName().GetTypmods()) == 0 && littleInterval.MatchString(cast.GetArg().GetAConst().GetSval().GetSval())
}

// movedType gives the type of a moment plus or minus an interval, or of a date and days.
func (a *analyzer) movedType(e *pg.A_Expr) (string, bool) {
	op := lastName(e.Name)
	left, ok1 := a.typeOf(e.Lexpr)
	right, ok2 := a.typeOf(e.Rexpr)
	switch {
	case !ok1 || !ok2 || e.Kind != pg.A_Expr_Kind_AEXPR_OP || op != "+" && op != "-":
		return "", false
	case (left == "timestamptz" || left == "timestamp") && right == "interval":
		return left, true
	case left == "date" && right == "interval":
		return "timestamp", true
	}
	return "date", left == "date" && right == "int4"
}
