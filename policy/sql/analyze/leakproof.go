package analyze

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// leakproof tells whether an expression may be evaluated on rows that the caller must not
// see: while it runs it can't fail at all, nor tell anything but by its result, which the
// restriction throws away. It is a list of what is known to be so, after Postgres'
// contain_leaked_vars and the operators that pg_proc marks; all else is not. That something
// holds no column does not help: in `title = 'x' OR 1 / 0 > 0` whether it fails tells of
// the title. What fails while Postgres reads or plans the statement fails for any rows.
//
// Every name in the expression must have been resolved. Results are kept, since nested
// sub-queries ask again and again.
func (a *analyzer) leakproof(n *pg.Node) bool {
	if n == nil || n.GetNode() == nil {
		return true
	}
	known, done := a.quiet[n]
	if !done {
		known = a.judge(n)
		a.quiet[n] = known
	}
	return known
}

func (a *analyzer) allLeakproof(list []*pg.Node) bool {
	return !slices.ContainsFunc(list, func(n *pg.Node) bool { return !a.leakproof(n) })
}

func (a *analyzer) judge(n *pg.Node) bool {
	switch x := n.Node.(type) {
	case *pg.Node_ColumnRef:
		return !a.names[x.ColumnRef].converted
	case *pg.Node_ParamRef, *pg.Node_AConst, *pg.Node_SqlvalueFunction, *pg.Node_GroupingFunc:
		return true
	case *pg.Node_BoolExpr:
		return a.allLeakproof(x.BoolExpr.Args)
	case *pg.Node_NullTest:
		return a.leakproofOperand(x.NullTest.Arg)
	case *pg.Node_BooleanTest:
		return a.leakproof(x.BooleanTest.Arg)
	case *pg.Node_AArrayExpr:
		return a.allLeakproof(x.AArrayExpr.Elements) && a.oneType(x.AArrayExpr.Elements)
	case *pg.Node_List:
		return a.allLeakproof(x.List.Items)
	case *pg.Node_CaseExpr:
		return x.CaseExpr.Arg == nil && a.leakproof(x.CaseExpr.Defresult) && a.allLeakproof(x.CaseExpr.Args) && a.oneType(results(x.CaseExpr))
	case *pg.Node_CaseWhen:
		return a.leakproof(x.CaseWhen.Expr) && a.leakproof(x.CaseWhen.Result)
	case *pg.Node_CoalesceExpr:
		return a.allLeakproof(x.CoalesceExpr.Args) && a.oneType(x.CoalesceExpr.Args)
	case *pg.Node_AExpr:
		return a.leakproofOperator(x.AExpr)
	case *pg.Node_SubLink:
		return a.leakproofSubLink(x.SubLink)
	case *pg.Node_TypeCast:
		return a.leakproof(x.TypeCast.Arg) && a.steadyCast(x.TypeCast)
	case *pg.Node_FuncCall:
		return a.steadyCall(x.FuncCall)
	}
	return false
}

// oneType tells whether expressions are of one type, so that none of them is converted but
// literals, and of one collation.
func (a *analyzer) oneType(list []*pg.Node) bool {
	common := ""
	for _, n := range list {
		t, ok := a.typeOf(n)
		if !ok || a.collated(n) || common != "" && t != "" && t != common {
			return false
		}
		if t != "" {
			common = t
		}
	}
	return true
}

// oneArray tells whether nothing in the list of x IN (…) is converted while the statement
// runs: what is no column of the level Postgres puts into an array, of rows alone it makes none.
func (a *analyzer) oneArray(e *pg.A_Expr) bool {
	if e.Lexpr.GetRowExpr() != nil {
		return true
	}
	return a.oneType(slices.DeleteFunc(slices.Clone(e.Rexpr.GetList().GetItems()), func(n *pg.Node) bool { return n.GetAConst() != nil }))
}

// results gives what a CASE may result in.
func results(c *pg.CaseExpr) []*pg.Node {
	var list []*pg.Node
	for _, n := range c.Args {
		list = append(list, n.GetCaseWhen().GetResult())
	}
	if c.Defresult != nil {
		list = append(list, c.Defresult)
	}
	return list
}

// leakproofOperator judges an operator, and what is short for several.
func (a *analyzer) leakproofOperator(e *pg.A_Expr) bool {
	op := tree.LastName(e.Name)
	if !a.leakproofOperand(e.Lexpr) || !a.leakproofOperand(e.Rexpr) || a.operatorMeetsScope(e) {
		return false
	}
	switch e.Kind {
	case pg.A_Expr_Kind_AEXPR_OP:
		return a.leakproofPair(op, e.Lexpr, e.Rexpr) || a.steadyOperator(e)
	case pg.A_Expr_Kind_AEXPR_DISTINCT, pg.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		return a.leakproofPair("=", e.Lexpr, e.Rexpr)
	case pg.A_Expr_Kind_AEXPR_IN:
		return a.pairs([]string{op}, e.Lexpr, e.Rexpr.GetList().GetItems()) && a.oneArray(e)
	case pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN, pg.A_Expr_Kind_AEXPR_BETWEEN_SYM, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		return a.pairs([]string{"<", "<=", ">", ">="}, e.Lexpr, e.Rexpr.GetList().GetItems())
	case pg.A_Expr_Kind_AEXPR_OP_ANY, pg.A_Expr_Kind_AEXPR_OP_ALL:
		return a.leakproofArray(op, e.Lexpr, e.Rexpr)
	}
	return false
}

// leakproofOperand judges an operand: rows are compared part by part, and lists hold rows;
// elsewhere a row is a record, whose comparison can fail.
func (a *analyzer) leakproofOperand(n *pg.Node) bool {
	switch n = uncollated(n); {
	case n.GetRowExpr() != nil:
		return a.allLeakproof(n.GetRowExpr().Args)
	case n.GetList() != nil:
		for _, item := range n.GetList().Items {
			if !a.leakproofOperand(item) {
				return false
			}
		}
		return true
	}
	return a.leakproof(n)
}

func (a *analyzer) pairs(ops []string, left *pg.Node, rights []*pg.Node) bool {
	for _, op := range ops {
		for _, right := range rights {
			if !a.leakproofPair(op, left, right) {
				return false
			}
		}
	}
	return true
}

// leakproofPair tells whether an operator between two operands is certainly one on the list.
// What has no type yet takes the other side's.
func (a *analyzer) leakproofPair(op string, left, right *pg.Node) bool {
	if l, r := left.GetRowExpr(), right.GetRowExpr(); l != nil && r != nil {
		return a.leakproofRows(op, l.Args, r.Args)
	}
	if a.catalog.Namesakes.Operators[op] || a.conflict(left, right) || !tree.IsComparison(op) && (a.collated(left) || a.collated(right)) {
		return false
	}
	left, right = uncollated(left), uncollated(right)
	l, ok1 := a.typeOf(left)
	r, ok2 := a.typeOf(right)
	switch {
	case left == nil || right == nil:
		return false
	case !ok1 && ok2 && closed[r] && a.steady(left), ok1 && !ok2 && closed[l] && a.steady(right):
		return tree.IsComparison(op) && !a.catalog.OwnOperator(op)
	case !ok1 || !ok2:
		return false
	case l == "":
		l = r
	case r == "":
		r = l
	}
	return l == "" && tree.IsComparison(op) || l == "numeric" && r == "numeric" && tree.IsComparison(op) || a.catalog.Leakproof[tree.OperatorName{Name: op, Left: l, Right: r}]
}

// leakproofRows is leakproofPair for (a, b) = (1, 2), which compares the columns in turn.
func (a *analyzer) leakproofRows(op string, left, right []*pg.Node) bool {
	if len(left) != len(right) || !tree.IsComparison(op) {
		return false
	}
	for i := range left {
		if left[i].GetRowExpr() != nil || right[i].GetRowExpr() != nil { // compared as records, with literals as text
			return false
		}
		for _, each := range []string{op, "="} {
			if !a.leakproofPair(each, left[i], right[i]) {
				return false
			}
		}
	}
	return true
}

// leakproofArray is leakproofPair for = ANY (array).
func (a *analyzer) leakproofArray(op string, left, array *pg.Node) bool {
	if list := array.GetAArrayExpr(); list != nil {
		return a.pairs([]string{op}, left, list.Elements)
	}
	if a.catalog.Namesakes.Operators[op] || a.conflict(left, array) {
		return false
	}
	l, ok1 := a.typeOf(left)
	r, ok2 := a.elementOf(array)
	if r == "" {
		r = l
	}
	return ok1 && ok2 && l != "" && a.catalog.Leakproof[tree.OperatorName{Name: op, Left: l, Right: r}]
}

// uncollated takes COLLATE off an operand, where it decides how to compare; what has one
// elsewhere fails when it meets another.
func uncollated(n *pg.Node) *pg.Node {
	if c := n.GetCollateClause(); c != nil {
		return c.Arg
	}
	return n
}
