package fence

import (
	"math"
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
	"github.com/tenantgate/tenantgate/policy/sql/types"
)

// safe tells whether an expression of a query level, whose relations count from start, may
// stand as it is where it looks at rows of scoped tables, behind all of which row-level
// security stands if walled is true.
func (j *Judge) safe(n *pg.Node, walled bool, start int) bool {
	return j.leakproof(n) || walled && !j.overlooked(n, start)
}

// overlooked tells whether something beneath m can fail that row-level security may not
// keep from other servers' rows. Postgres evaluates what it takes for leakproof before it
// looks at the policy, and takes for it all but functions that are given a column, and
// sub-queries that look at the rows around (contain_leaked_vars, 15 to 18). So in
// `title = 'x' OR (SELECT …)` an error of the sub-query tells of the title. What it overlooks:
//
//   - what holds no column of the query's own tables once Postgres has folded constants and
//     dropped what nobody reads (kept.go), an uncorrelated sub-query among it;
//   - ARRAY[…], which fails on elements of different lengths, ARRAY[…] and ROW(…), which fail if they get too large, casts of
//     arrays, and the comparisons of CASE x WHEN y;
//   - a scope column that is compared with another column, which fails nowhere and tells by its estimate (scope.go);
//   - what its own list calls leakproof and is not: the area of a circle overflows, the
//     length of an lseg too, and two collations can't be compared.
func (j *Judge) overlooked(m proto.Message, start int) bool {
	if query, ok := m.(*pg.SelectStmt); ok {
		start = j.starts[query]
	}
	n, isNode := m.(*pg.Node)
	if !isNode || !isExpression(n) {
		return j.overlookedBeneath(m, start)
	}
	found, done := j.overlooks[n]
	if !done {
		found = !j.leakproof(n) && (j.overlookedHere(n, start) || j.overlookedBeneath(m, start))
		j.overlooks[n] = found
	}
	return found
}

func (j *Judge) overlookedBeneath(m proto.Message, start int) bool {
	return tree.AnyChild(m, func(c proto.Message) bool { return j.overlooked(c, start) })
}

// overlookedHere judges an expression that is not leakproof, apart from what is in it.
func (j *Judge) overlookedHere(n *pg.Node, start int) bool {
	switch x := n.Node.(type) {
	case *pg.Node_NullTest:
		return j.builds(x.NullTest.Arg)
	case *pg.Node_BoolExpr, *pg.Node_BooleanTest, *pg.Node_CaseWhen, *pg.Node_List,
		*pg.Node_CollateClause, *pg.Node_NamedArgExpr:
		return false // they fail by what is in them alone
	case *pg.Node_FuncCall: // an aggregate runs on rows that passed
		return !j.isAggregate(x.FuncCall) && !j.heldCall(x.FuncCall, start)
	case *pg.Node_AExpr:
		return j.operatorMeetsScope(x.AExpr) || !j.heldOperator(x.AExpr, start)
	case *pg.Node_TypeCast: // each element of an array is cast out of sight of its column
		return j.mayBeArray(x.TypeCast.TypeName) || !j.keeps(x.TypeCast.Arg, start)
	case *pg.Node_SubLink:
		return j.meetsScopeIn(x.SubLink) || !j.heldSubLink(x.SubLink, start)
	case *pg.Node_MinMaxExpr:
		return !j.OneType(x.MinMaxExpr.Args)
	case *pg.Node_CaseExpr: // CASE x WHEN y compares out of sight of the column too
		return x.CaseExpr.Arg != nil && !j.pairs([]string{"="}, x.CaseExpr.Arg, compared(x.CaseExpr)) || !j.OneType(types.Results(x.CaseExpr))
	case *pg.Node_CoalesceExpr:
		return !j.OneType(x.CoalesceExpr.Args)
	}
	return true
}

// mayBeArray tells int[], _int4, which is its own name, and what may be a domain over it.
func (j *Judge) mayBeArray(t *pg.TypeName) bool {
	name := j.CatalogType(t)
	return name == "" || len(t.ArrayBounds) > 0 || strings.HasPrefix(name, "_")
}

// compared gives what CASE x WHEN y compares x with.
func compared(c *pg.CaseExpr) []*pg.Node {
	var list []*pg.Node
	for _, n := range c.Args {
		list = append(list, n.GetCaseWhen().GetExpr())
	}
	return list
}

// converts tells whether an operand that is none of a column of the level may be converted
// for an operator, while the statement runs: one in quotation marks is at once. So is each
// element of an array, out of sight of its column.
func (j *Judge) converts(e *pg.A_Expr, start int) bool {
	if e.Kind == pg.A_Expr_Kind_AEXPR_OP_ANY || e.Kind == pg.A_Expr_Kind_AEXPR_OP_ALL {
		return j.convertsElements(e)
	}
	if t := j.Named(e.Rexpr); (t != tree.TypeName{}) && t == j.Named(e.Lexpr) {
		return false
	}
	operands := []*pg.Node{e.Lexpr, e.Rexpr}
	if list := e.Rexpr.GetList(); list != nil {
		operands = append(slices.Clone(list.Items), e.Lexpr)
	}
	if j.OneType(operands) {
		return false
	}
	return slices.ContainsFunc(operands, func(n *pg.Node) bool {
		array := n.GetAArrayExpr()
		constant := n == nil || j.IsUntyped(n) || j.widens(n, operands) || array != nil && j.OneType(array.Elements)
		return !constant && !j.keeps(n, start)
	})
}

// widens tells a literal that can be converted to the type of whatever number it is compared
// with: 1e400 is no float8. Being a parameter it is converted while the statement runs.
func (j *Judge) widens(n *pg.Node, operands []*pg.Node) bool {
	c := n.GetAConst()
	if c == nil || c.GetFval() == nil {
		return c != nil
	}
	float, err := strconv.ParseFloat(c.GetFval().Fval, 64)
	fits := err == nil && (float == 0 || math.Abs(float) >= 1e-300)
	return fits && !slices.ContainsFunc(operands, func(other *pg.Node) bool {
		t, known := j.TypeOf(other)
		return !known || !slices.Contains([]string{"", "int2", "int4", "int8", "numeric", "float4", "float8"}, t)
	})
}

// convertsElements is converts for x = ANY (array).
func (j *Judge) convertsElements(e *pg.A_Expr) bool {
	if list := e.Rexpr.GetAArrayExpr(); list != nil {
		return !j.OneType(append(slices.Clone(list.Elements), e.Lexpr))
	}
	element, ok := j.ElementOf(e.Rexpr)
	if array := j.Column(e.Rexpr.GetColumnRef()).Type; !ok && strings.HasPrefix(array.Name, "_") {
		element, ok = types.PlainType(tree.TypeName{Schema: array.Schema, Name: array.Name[1:]})
	}
	t, known := j.TypeOf(e.Lexpr)
	return !ok || !known || t != "" && element != "" && t != element
}
