package fence

import (
	"math"
	"regexp"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
	"github.com/tenantgate/tenantgate/policy/sql/types"
)

// moments are the functions that give the present. Like steadyTexts, they neither fail nor
// change within a statement, whatever their arguments are.
var moments = []string{"now", "transaction_timestamp", "statement_timestamp"}

var steadyTexts = []string{"lower", "upper", "btrim", "concat"}

// steady tells whether an expression is the same for every row, and can't be seen to be
// evaluated.
func (j *Judge) steady(n *pg.Node) bool {
	if n == nil || !j.leakproof(n) {
		return false
	}
	return !j.looks(n, math.MaxInt) || n.GetSubLink().GetSubLinkType() == pg.SubLinkType_EXPR_SUBLINK && !j.looks(n, j.starts[n.GetSubLink()])
}

// steadyCall admits calls on what holds no column.
func (j *Judge) steadyCall(f *pg.FuncCall) bool {
	for _, arg := range f.Args {
		if !j.steady(arg) || j.IsCollated(arg) || !j.isShort(arg) {
			return false
		}
	}
	plain := len(f.AggOrder) == 0 && f.AggFilter == nil && f.Over == nil && !f.AggStar && !f.AggDistinct && !f.FuncVariadic
	name := j.CatalogCall(f)
	slow := name == "btrim" && len(f.Args) > 1 // it compares each character with each
	return plain && !slow && (slices.Contains(moments, name) || slices.Contains(steadyTexts, name))
}

// isHidden tells a call on a parameter that the engine may put into a sub-query (package hide), as concat($1, now()). It costs
// nothing to Postgres then, and takes long on a large value.
func (j *Judge) isHidden(call *pg.Node) bool {
	return tree.HasVariable(call) && !tree.HoldsColumn(call) && !j.KeepsOne(call, types.IsGiven)
}

// builds tells whether something beneath m puts values of the statement's together, which takes time for each row that it is asked for.
// What a column is compared with is put together once, where the engine hides it.
func (j *Judge) builds(m proto.Message) bool {
	switch x := m.(type) {
	case *pg.A_ArrayExpr:
		return true
	case *pg.FuncCall:
		if !slices.Contains(moments, j.CatalogCall(x)) && j.isGiven(x) {
			return true
		}
	case *pg.A_Expr:
		if j.JoinsTexts(x) && j.isGiven(x) {
			return true
		}
	}
	return tree.AnyChild(m, j.builds)
}

// isGiven tells what is made of parameters and literals alone, which are not padded. Bind bounds how large it gets, so that putting it
// together can't fail; a column may hold 1 GB, and so may the value of a sub-query.
func (j *Judge) isGiven(m proto.Message) bool {
	switch x := m.(type) {
	case *pg.ColumnRef, *pg.SubLink:
		return false
	case *pg.TypeCast:
		if len(x.TypeName.GetTypmods()) > 0 && slices.Contains([]string{"bit", "bpchar", ""}, j.CatalogType(x.TypeName)) {
			return false
		}
	}
	return !tree.AnyChild(m, func(c proto.Message) bool { return !j.isGiven(c) })
}

// shortTypes are those whose values are as text not much longer than what was given; "" is that of a literal or placeholder.
var shortTypes = []string{"", "text", "varchar", "int2", "int4", "int8", "bool", "uuid", "date", "timestamp", "timestamptz"}

// isShort is isGiven of what may become a part of a text. The text of a number can be 131,000 digits longer than what was given.
func (j *Judge) isShort(n *pg.Node) bool {
	if c := n.GetCoalesceExpr(); c != nil {
		return !slices.ContainsFunc(c.Args, func(arg *pg.Node) bool { return !j.isShort(arg) })
	}
	t, known := j.TypeOf(n)
	return known && slices.Contains(shortTypes, t) && j.isGiven(n)
}

// steadyCast admits casts of placeholders and literals, which Postgres reads as that type
// at once, and to a wider integer.
func (j *Judge) steadyCast(c *pg.TypeCast) bool {
	if p := c.Arg.GetParamRef(); p != nil && len(c.TypeName.Typmods) == 0 && j.GivenType(p) == (tree.TypeName{}) {
		return j.IsUntyped(c.Arg)
	}
	if len(c.TypeName.ArrayBounds) > 0 { // of a type of pg_catalog: one of a domain would be checked
		to, ok := j.ElementOf(&pg.Node{Node: &pg.Node_TypeCast{TypeCast: c}})
		asRead := c.Arg.GetAConst() != nil || len(c.TypeName.Typmods) == 0 // a placeholder is cut to numeric(3,1)[] while the statement runs
		return ok && to != "" && asRead && j.IsUntyped(c.Arg)
	}
	from, ok1 := j.TypeOf(c.Arg)
	to, ok2 := j.CastType(c.TypeName)
	switch {
	case !ok1 || !ok2:
		return false
	case from == "":
		return c.Arg.GetAConst() != nil // with type modifiers too: it is read at once
	}
	return len(c.TypeName.Typmods) == 0 && (from == to || from == "int2" && to == "int4" || (from == "int2" || from == "int4") && to == "int8")
}

// steadyOperator admits texts put together, and what moves the present by a little: further
// off it would fail, at the ends of the calendar. Without it `created_at > now() - interval
// '7 days'` could not use an index.
func (j *Judge) steadyOperator(e *pg.A_Expr) bool {
	if j.JoinsTexts(e) {
		return j.steady(e.Lexpr) && j.steady(e.Rexpr) && j.isShort(e.Lexpr) && j.isShort(e.Rexpr)
	}
	_, moved := j.MovedType(e)
	return moved && j.isPresent(e.Lexpr) && isLittle(e.Rexpr)
}

// isPresent tells now() and its like.
func (j *Judge) isPresent(n *pg.Node) bool {
	return n.GetSqlvalueFunction() != nil || n.GetFuncCall() != nil && slices.Contains(moments, j.CatalogCall(n.GetFuncCall()))
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
