package verify

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// comparesLiteral tells a comparison of a column with a literal, or with a test for NULL, true, false or unknown whose
// result the planner may know.
func comparesLiteral(e *pg.A_Expr) bool {
	left, right := operandsOf(e.Lexpr), operandsOf(e.Rexpr)
	return slices.ContainsFunc(left, isColumn) && slices.ContainsFunc(right, isLiteral) ||
		slices.ContainsFunc(right, isColumn) && slices.ContainsFunc(left, isLiteral)
}

// operandsOf gives the expressions whose value an operand of a comparison may have: through casts, lists and the like.
func operandsOf(n *pg.Node) []*pg.Node {
	switch x := n.GetNode().(type) {
	case *pg.Node_TypeCast:
		return operandsOf(x.TypeCast.Arg)
	case *pg.Node_CollateClause:
		return operandsOf(x.CollateClause.Arg)
	case *pg.Node_List:
		return operandsOfAll(x.List.Items)
	case *pg.Node_RowExpr:
		return operandsOfAll(x.RowExpr.Args)
	case *pg.Node_AArrayExpr:
		return operandsOfAll(x.AArrayExpr.Elements)
	case *pg.Node_CoalesceExpr:
		return operandsOfAll(x.CoalesceExpr.Args)
	case *pg.Node_MinMaxExpr:
		return operandsOfAll(x.MinMaxExpr.Args)
	case *pg.Node_BoolExpr:
		return operandsOfAll(x.BoolExpr.Args)
	case *pg.Node_CaseExpr:
		if !isChosen(x.CaseExpr) {
			return operandsOfCase(x.CaseExpr)
		}
	}
	return []*pg.Node{n}
}

// isChosen tells CASE WHEN parameter THEN NULL ELSE … END: whether it has the value or NULL is not known to the planner.
func isChosen(c *pg.CaseExpr) bool {
	if c == nil || c.Arg != nil || c.Defresult == nil || len(c.Args) != 1 {
		return false
	}
	when := c.Args[0].GetCaseWhen()
	return when.GetExpr().GetParamRef() != nil && when.Result.GetAConst().GetIsnull()
}

func operandsOfCase(c *pg.CaseExpr) []*pg.Node {
	all := operandsOf(c.Defresult)
	for _, n := range c.Args {
		all = append(all, operandsOf(n.GetCaseWhen().Result)...)
	}
	return all
}

func operandsOfAll(list []*pg.Node) (all []*pg.Node) {
	for _, n := range list {
		all = append(all, operandsOf(n)...)
	}
	return all
}

func isColumn(n *pg.Node) bool { return n.GetColumnRef() != nil }

func isLiteral(n *pg.Node) bool {
	return n.GetAConst() != nil && !n.GetAConst().Isnull || n.GetSqlvalueFunction() != nil || isKnownTest(n) || isKnownValue(n)
}

// isKnownValue tells an operator or call whose operands are literals.
func isKnownValue(n *pg.Node) bool {
	name := tree.LastName(n.GetFuncCall().GetFuncname())
	isCall := (slices.Contains(tree.SteadyCalls, name) || slices.Contains(tree.TypeCalls, name)) && !tree.IsWrittenAggregate(n.GetFuncCall())
	isComputed := n.GetAExpr() != nil && tree.IsComputation(n.GetAExpr())
	return (isCall || isComputed) && !tree.HasVariable(tree.Unwrap(n)) && holdsLiteral(tree.Unwrap(n)) && !keepsUnsteady(n)
}

// keepsUnsteady tells whether an expression is certainly not computed before the statement runs, since it computes with what a volatile
// call gives, or one that gives rows. Beside a NULL, or in what Postgres may drop, that is not certain.
func keepsUnsteady(n *pg.Node) bool {
	var args []*pg.Node
	switch x := n.GetNode().(type) {
	case *pg.Node_FuncCall:
		if isUnsteady(x.FuncCall) {
			return true
		}
		args = x.FuncCall.Args
	case *pg.Node_TypeCast:
		args = []*pg.Node{x.TypeCast.Arg}
	case *pg.Node_AExpr:
		args = []*pg.Node{x.AExpr.Lexpr, x.AExpr.Rexpr}
	}
	kept := slices.DeleteFunc(slices.Clone(args), func(n *pg.Node) bool { return n == nil || n.GetAConst() != nil && !n.GetAConst().Isnull })
	return len(kept) > 0 && !slices.ContainsFunc(kept, func(n *pg.Node) bool { return !keepsUnsteady(n) })
}

func isUnsteady(f *pg.FuncCall) bool {
	name := tree.LastName(f.Funcname)
	return inCatalog(f.Funcname, name) && (tree.GivesRows(name) || slices.Contains(tree.VolatileCalls, name) && !tree.MayBeNull(f))
}

// holdsLiteral tells whether the value of m may come from a literal. The conditions of a CASE are left out: they choose
// between its results, and give no value of their own.
func holdsLiteral(m proto.Message) bool {
	switch x := m.(type) {
	case nil:
		return false
	case *pg.A_Const:
		return !x.Isnull
	case *pg.CaseExpr:
		if x.Arg == nil {
			return slices.ContainsFunc(operandsOfCase(x), func(n *pg.Node) bool { return holdsLiteral(tree.Unwrap(n)) })
		}
	}
	return tree.AnyChild(m, holdsLiteral)
}

// isKnownTest tells x IS NULL, x IS TRUE, x IS DISTINCT FROM y and their like where nothing in x is first known when the
// statement runs: a column in x may be one that a sub-query makes of NULL.
func isKnownTest(n *pg.Node) bool {
	isTest := n.GetNullTest() != nil || n.GetBooleanTest() != nil || tree.IsDistinct(n.GetAExpr())
	return isTest && !holdsGiven(tree.Unwrap(n))
}

// holdsGiven tells whether a parameter, a sub-query, a volatile call or one that gives rows stands in m.
func holdsGiven(m proto.Message) bool {
	switch x := m.(type) {
	case *pg.ParamRef, *pg.SubLink:
		return true
	case *pg.FuncCall:
		if isUnsteady(x) {
			return true
		}
	}
	return tree.AnyChild(m, holdsGiven)
}
