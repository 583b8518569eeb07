package types

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// resultTypes are those of some functions of pg_catalog, whatever their arguments.
var resultTypes = map[string]string{
	"count": "int8", "row_number": "int8", "rank": "int8", "dense_rank": "int8",
	"lower": "text", "upper": "text", "btrim": "text", "concat": "text",
	"now": "timestamptz", "transaction_timestamp": "timestamptz", "statement_timestamp": "timestamptz",
	"gen_random_uuid": "uuid",
}

func (ts *Types) resultType(f *pg.FuncCall) (string, bool) {
	name := ts.CatalogCall(f)
	if (name == "min" || name == "max") && len(f.Args) == 1 {
		return ts.Typed(f.Args[0])
	}
	t, ok := resultTypes[name]
	return t, ok
}

// CatalogCall gives the name of a call that means a function of pg_catalog; "" otherwise.
// lower and upper are text's, or those of ranges.
func (ts *Types) CatalogCall(f *pg.FuncCall) string {
	names, ok := tree.Strings(f.Funcname)
	switch {
	case !ok || len(names) == 2 && names[0] != "pg_catalog" || len(names) == 1 && ts.Catalog.OwnCall(names[0]):
		return ""
	case slices.Contains([]string{"lower", "upper", "btrim"}, names[len(names)-1]):
		if len(f.Args) == 0 {
			return ""
		}
		if t, known := ts.TypeOf(f.Args[0]); !known || t != "" && t != "text" {
			return ""
		}
	}
	return names[len(names)-1]
}

// MovedType gives the type of a moment plus or minus an interval, or of a date and days.
func (ts *Types) MovedType(e *pg.A_Expr) (string, bool) {
	if op := tree.LastName(e.Name); e.Kind != pg.A_Expr_Kind_AEXPR_OP || op != "+" && op != "-" || ts.Catalog.Namesakes.Operators[op] {
		return "", false
	}
	left, ok1 := ts.TypeOf(e.Lexpr)
	right, ok2 := ts.TypeOf(e.Rexpr)
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

// JoinsTexts tells '%' || ? || '%', which fails beyond a gigabyte only, unless it is of two
// collations.
func (ts *Types) JoinsTexts(e *pg.A_Expr) bool {
	if e.Kind != pg.A_Expr_Kind_AEXPR_OP || tree.LastName(e.Name) != "||" || e.Lexpr == nil || e.Rexpr == nil || ts.IsCollated(e.Lexpr) || ts.IsCollated(e.Rexpr) || ts.Catalog.OwnOperator("||") {
		return false
	}
	left, ok1 := ts.TypeOf(e.Lexpr)
	right, ok2 := ts.TypeOf(e.Rexpr)
	leftText, rightText := left == "" || left == "text", right == "" || right == "text"
	return ok1 && ok2 && (leftText || rightText) && (leftText || printed[left]) && (rightText || printed[right])
}

// printed are types of pg_catalog whose values || adds to a text in their text form, which
// can be made of all of them.
var printed = map[string]bool{"int2": true, "int4": true, "int8": true, "numeric": true, "bool": true, "uuid": true}

// Within calls visit for the calls beneath m that belong to m's own query level.
func Within(m proto.Message, visit func(*pg.FuncCall)) {
	if f, ok := m.(*pg.FuncCall); ok {
		visit(f)
	}
	tree.LevelChildren(m, func(c proto.Message) bool {
		Within(c, visit)
		return true
	})
}

// IsAggregate tells whether a call is certainly that of an aggregate or window function.
func (ts *Types) IsAggregate(f *pg.FuncCall) bool {
	return tree.IsWrittenAggregate(f) || slices.Contains(tree.Aggregates, ts.CatalogCall(f))
}

// KeepsOne tells whether an expression is one of what is kept, through functions and
// operators: of a NULL they may be constants, so what stands beside it is a literal.
func (ts *Types) KeepsOne(n *pg.Node, kept func(*pg.Node) bool) bool {
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
		if ts.CatalogCall(x.FuncCall) != "" && !ts.IsAggregate(x.FuncCall) {
			args = x.FuncCall.Args
		}
	}
	found := false
	for _, arg := range args {
		c := arg.GetAConst()
		switch {
		case arg == nil || c != nil && !c.Isnull:
		case ts.KeepsOne(arg, kept):
			found = true
		default:
			return false
		}
	}
	return found
}

// IsGiven tells what has a value when the statement runs.
func IsGiven(n *pg.Node) bool { return n.GetParamRef() != nil || n.GetSubLink() != nil }
