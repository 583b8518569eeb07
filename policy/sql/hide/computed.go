package hide

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
	"github.com/tenantgate/tenantgate/policy/sql/types"
)

// What computes on a column is no constant to the planner, and what is in it stays. But that
// something in an expression is not known before the statement runs is not enough: Postgres drops
// what nobody reads. coalesce('a', $1) is 'a', and 'a' || coalesce('b', $1) a constant then.

// operator looks through an operator whose result may be compared with a column.
func (h *hider) operator(n *pg.Node, e *pg.A_Expr) {
	asks := !tree.IsComputation(e) && (h.asksUnsteady(e.Lexpr, e.Rexpr) || h.asksUnsteady(e.Rexpr, e.Lexpr))
	if asks || tree.IsComputation(e) && h.settled(n) {
		h.computed(n)
		return
	}
	h.sides(e)
	if tree.IsDistinct(e) && !h.hidesOne(e.Lexpr) && !h.hidesOne(e.Rexpr) {
		h.distinct(e)
	}
}

// hidesOne tells whether an expression is certainly no constant to the planner: what is in it is hidden already, or is
// first known when the statement runs.
func (h *hider) hidesOne(n *pg.Node) bool {
	return h.KeepsOne(n, func(n *pg.Node) bool { return h.isUnknown(n) || h.found[n] != nil })
}

// distinct hides what IS DISTINCT FROM gives, which is a test for NULL where one side is NULL.
func (h *hider) distinct(e *pg.A_Expr) {
	isNull := e.Lexpr.GetAConst().GetIsnull() // which has no type: a CASE of it would be a text
	switch {
	case e.Lexpr.GetRowExpr() != nil || e.Rexpr.GetRowExpr() != nil || isNull && e.Rexpr.GetColumnRef() == nil:
		h.fail(refusal.Unsupported(tree.Offset(e.Lexpr), "IS DISTINCT FROM between rows, or of NULL and an expression, is not supported where its result may be compared"))
	case isNull:
		h.add(e.Rexpr, facts.AsSubquery)
	default:
		h.add(e.Lexpr, facts.AsCase)
	}
}

// boolColumn hides a column that is a condition by itself.
func (h *hider) boolColumn(n *pg.Node) {
	meant := h.Column(n.GetColumnRef())
	if meant.Type == (tree.TypeName{}) && !meant.Row {
		h.add(n, facts.AsCase)
		return
	}
	if h.isBool(n) {
		h.add(n, facts.AsComparison)
		return
	}
	h.fail(&refusal.Refusal{Code: refusal.QueryFailed, SQLState: "42804", Offset: tree.Offset(n), Message: "a condition must be of type boolean, and this column is not"})
}

// call looks through a call whose value may be compared with a column. Without columns it is
// as good as a literal.
func (h *hider) call(n *pg.Node, f *pg.FuncCall) {
	switch {
	case h.IsAggregate(f) || h.settled(n):
		h.computed(n)
	case h.isSteady(f) || h.castsLiteral(f):
		h.add(n, facts.AsSubquery)
		h.computed(n)
	default:
		h.arguments(f)
	}
}

// asks looks through a call that is a condition. The planner estimates some of them as it does
// operators: starts_with(title, 'a') as title ^@ 'a'.
func (h *hider) asks(n *pg.Node, f *pg.FuncCall) {
	switch {
	case h.IsAggregate(f) || h.closed(n):
		h.computed(n)
	case len(f.Args) == 1 && h.CatalogCall(f) == "bool": // a cast
		h.madeBool(n, f.Args[0])
	default:
		h.arguments(f)
	}
}

// isBool tells a column that may be a bool.
func (h *hider) isBool(n *pg.Node) bool {
	ref := n.GetColumnRef()
	meant := h.Column(ref)
	return ref != nil && !meant.Row && (meant.Type == tree.TypeName{} || meant.Type == tree.TypeName{Schema: "pg_catalog", Name: "bool"})
}

// madeBool looks through a condition that is a cast of arg to bool, which Postgres drops where arg is a bool.
func (h *hider) madeBool(n, arg *pg.Node) {
	for h.toBool(arg.GetTypeCast()) {
		arg = arg.GetTypeCast().Arg
	}
	if arg.GetColumnRef() != nil { // its type may be another
		h.add(n, facts.AsComparison)
	} else {
		h.condition(arg)
	}
}

func (h *hider) toBool(c *pg.TypeCast) bool {
	return c != nil && len(c.TypeName.ArrayBounds) == 0 && h.CatalogType(c.TypeName) == "bool"
}

// test hides what a test for NULL, true, false or unknown gives. A column in it may be one that a sub-query makes of
// NULL, and Postgres knows the result then; what holds a parameter or a sub-query is known when the statement runs.
func (h *hider) test(n, arg *pg.Node) {
	if !h.KeepsOne(arg, h.isUnknown) {
		h.add(n, facts.AsComparison)
	}
}

// settled tells whether an expression is certainly no constant to the planner, or is guarded
// where it might become one, as what holds a column is (kept.go).
func (h *hider) settled(n *pg.Node) bool {
	return tree.HoldsColumn(tree.Unwrap(n)) || h.KeepsOne(n, h.isUnknown)
}

// isUnknown tells what the planner does not know a value of: also a volatile call, and one that gives rows. A literal in it stays.
// Were it hidden, it would have to be in every repetition of the call, or Postgres would call the function twice.
func (h *hider) isUnknown(n *pg.Node) bool { return types.IsGiven(n) || h.isUnsteady(n) }

// asksUnsteady tells whether a value that is not known is compared with one in which there is no column.
func (h *hider) asksUnsteady(a, b *pg.Node) bool {
	return h.KeepsOne(a, h.isUnsteady) && !tree.HoldsColumn(tree.Unwrap(b))
}

func (h *hider) isUnsteady(n *pg.Node) bool {
	f := n.GetFuncCall()
	return f != nil && (h.givesRows(f) || slices.Contains(tree.VolatileCalls, h.CatalogCall(f)) && !tree.MayBeNull(f))
}

// isSteady tells a plain call of functions that give one value, and the same throughout a
// statement.
func (h *hider) isSteady(f *pg.FuncCall) bool {
	steady := f.Funcformat == pg.CoercionForm_COERCE_EXPLICIT_CALL
	types.Within(f, func(f *pg.FuncCall) {
		steady = steady && !f.FuncVariadic && !h.IsAggregate(f) && slices.Contains(tree.SteadyCalls, h.CatalogCall(f))
	})
	return steady
}

// isKeyword tells an argument that the grammar made of a keyword: the field of EXTRACT, and
// the form of NORMALIZE.
func isKeyword(f *pg.FuncCall, i int) bool {
	if f.Funcformat != pg.CoercionForm_COERCE_SQL_SYNTAX {
		return false
	}
	switch tree.LastName(f.Funcname) {
	case "extract":
		return i == 0
	case "normalize", "is_normalized":
		return i == 1
	}
	return false
}

// closed tells whether an expression is made of nothing but literals and calls: the planner
// may know its value.
func (h *hider) closed(n *pg.Node) bool {
	known, done := h.closes[n]
	if !done {
		known = !tree.HasVariable(n)
		h.closes[n] = known
	}
	return known
}
