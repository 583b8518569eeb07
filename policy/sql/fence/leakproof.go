package fence

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
	"github.com/tenantgate/tenantgate/policy/sql/types"
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
func (j *Judge) leakproof(n *pg.Node) bool {
	if n == nil || n.GetNode() == nil {
		return true
	}
	known, done := j.quiet[n]
	if !done {
		known = j.judge(n)
		j.quiet[n] = known
	}
	return known
}

func (j *Judge) allLeakproof(list []*pg.Node) bool {
	return !slices.ContainsFunc(list, func(n *pg.Node) bool { return !j.leakproof(n) })
}

func (j *Judge) judge(n *pg.Node) bool {
	switch x := n.Node.(type) {
	case *pg.Node_ColumnRef:
		return !j.names.Reference(x.ColumnRef).Converted
	case *pg.Node_ParamRef, *pg.Node_AConst, *pg.Node_SqlvalueFunction, *pg.Node_GroupingFunc:
		return true
	case *pg.Node_BoolExpr:
		return j.allLeakproof(x.BoolExpr.Args)
	case *pg.Node_NullTest:
		return !j.builds(x.NullTest.Arg) && j.leakproofOperand(x.NullTest.Arg)
	case *pg.Node_BooleanTest:
		return j.leakproof(x.BooleanTest.Arg)
	case *pg.Node_AArrayExpr:
		return j.isGiven(x.AArrayExpr) && j.allLeakproof(x.AArrayExpr.Elements) && j.OneType(x.AArrayExpr.Elements)
	case *pg.Node_List:
		return j.allLeakproof(x.List.Items)
	case *pg.Node_CaseExpr:
		return x.CaseExpr.Arg == nil && j.leakproof(x.CaseExpr.Defresult) && j.allLeakproof(x.CaseExpr.Args) && j.OneType(types.Results(x.CaseExpr))
	case *pg.Node_CaseWhen:
		return j.leakproof(x.CaseWhen.Expr) && j.leakproof(x.CaseWhen.Result)
	case *pg.Node_CoalesceExpr:
		return j.allLeakproof(x.CoalesceExpr.Args) && j.OneType(x.CoalesceExpr.Args)
	case *pg.Node_AExpr:
		return j.leakproofOperator(x.AExpr)
	case *pg.Node_SubLink:
		return j.leakproofSubLink(x.SubLink)
	case *pg.Node_TypeCast:
		return j.leakproof(x.TypeCast.Arg) && j.steadyCast(x.TypeCast)
	case *pg.Node_FuncCall:
		return j.steadyCall(x.FuncCall) && !j.isHidden(n)
	}
	return false
}

// oneArray tells whether nothing in the list of x IN (…) is converted while the statement
// runs: what is no column of the level Postgres puts into an array, of rows alone it makes none.
func (j *Judge) oneArray(e *pg.A_Expr) bool {
	if e.Lexpr.GetRowExpr() != nil {
		return true
	}
	return !j.listGrows(e) && j.OneType(slices.DeleteFunc(slices.Clone(e.Rexpr.GetList().GetItems()), func(n *pg.Node) bool { return n.GetAConst() != nil }))
}

// listGrows tells whether the list of x IN (…) has more than parameters and literals. Postgres puts what is no column of the level into an
// array, which may get too large: of sub-queries, of columns of the query around, and of literals that are padded.
func (j *Judge) listGrows(e *pg.A_Expr) bool {
	return e.Kind == pg.A_Expr_Kind_AEXPR_IN && slices.ContainsFunc(e.Rexpr.GetList().GetItems(), func(n *pg.Node) bool { return !j.isGiven(n) })
}

// leakproofOperator judges an operator, and what is short for several.
func (j *Judge) leakproofOperator(e *pg.A_Expr) bool {
	op := tree.LastName(e.Name)
	if !j.leakproofOperand(e.Lexpr) || !j.leakproofOperand(e.Rexpr) || j.operatorMeetsScope(e) {
		return false
	}
	switch e.Kind {
	case pg.A_Expr_Kind_AEXPR_OP:
		return j.leakproofPair(op, e.Lexpr, e.Rexpr) || j.steadyOperator(e)
	case pg.A_Expr_Kind_AEXPR_DISTINCT, pg.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		return j.leakproofPair("=", e.Lexpr, e.Rexpr) && !j.builds(e) // x IS DISTINCT FROM NULL is x IS NOT NULL
	case pg.A_Expr_Kind_AEXPR_IN:
		return j.pairs([]string{op}, e.Lexpr, e.Rexpr.GetList().GetItems()) && j.oneArray(e)
	case pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN, pg.A_Expr_Kind_AEXPR_BETWEEN_SYM, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		return j.pairs([]string{"<", "<=", ">", ">="}, e.Lexpr, e.Rexpr.GetList().GetItems())
	case pg.A_Expr_Kind_AEXPR_OP_ANY, pg.A_Expr_Kind_AEXPR_OP_ALL:
		return j.leakproofArray(op, e.Lexpr, e.Rexpr)
	}
	return false
}

// leakproofOperand judges an operand: rows are compared part by part, and lists hold rows;
// elsewhere a row is a record, whose comparison can fail.
func (j *Judge) leakproofOperand(n *pg.Node) bool {
	switch n = uncollated(n); {
	case n.GetRowExpr() != nil:
		return j.allLeakproof(n.GetRowExpr().Args)
	case n.GetList() != nil:
		for _, item := range n.GetList().Items {
			if !j.leakproofOperand(item) {
				return false
			}
		}
		return true
	}
	return j.leakproof(n)
}

func (j *Judge) pairs(ops []string, left *pg.Node, rights []*pg.Node) bool {
	for _, op := range ops {
		for _, right := range rights {
			if !j.leakproofPair(op, left, right) {
				return false
			}
		}
	}
	return true
}

// leakproofPair tells whether an operator between two operands is certainly one on the list.
// What has no type yet takes the other side's.
func (j *Judge) leakproofPair(op string, left, right *pg.Node) bool {
	if l, r := left.GetRowExpr(), right.GetRowExpr(); l != nil && r != nil {
		return j.leakproofRows(op, l.Args, r.Args)
	}
	if j.Catalog.Namesakes.Operators[op] || j.Conflict(left, right) || !tree.IsComparison(op) && (j.IsCollated(left) || j.IsCollated(right)) {
		return false
	}
	left, right = uncollated(left), uncollated(right)
	l, ok1 := j.TypeOf(left)
	r, ok2 := j.TypeOf(right)
	switch {
	case left == nil || right == nil:
		return false
	case !ok1 && ok2 && types.Closed[r] && j.steady(left), ok1 && !ok2 && types.Closed[l] && j.steady(right):
		return tree.IsComparison(op) && !j.Catalog.OwnOperator(op)
	case !ok1 || !ok2:
		return false
	case l == "":
		l = r
	case r == "":
		r = l
	}
	return l == "" && tree.IsComparison(op) || l == "numeric" && r == "numeric" && tree.IsComparison(op) || j.Catalog.Leakproof[tree.OperatorName{Name: op, Left: l, Right: r}]
}

// leakproofRows is leakproofPair for (a, b) = (1, 2), which compares the columns in turn.
func (j *Judge) leakproofRows(op string, left, right []*pg.Node) bool {
	if len(left) != len(right) || !tree.IsComparison(op) {
		return false
	}
	for i := range left {
		if left[i].GetRowExpr() != nil || right[i].GetRowExpr() != nil { // compared as records, with literals as text
			return false
		}
		for _, each := range []string{op, "="} {
			if !j.leakproofPair(each, left[i], right[i]) {
				return false
			}
		}
	}
	return true
}

// leakproofArray is leakproofPair for = ANY (array).
func (j *Judge) leakproofArray(op string, left, array *pg.Node) bool {
	if list := array.GetAArrayExpr(); list != nil {
		return j.pairs([]string{op}, left, list.Elements)
	}
	if j.Catalog.Namesakes.Operators[op] || j.Conflict(left, array) {
		return false
	}
	l, ok1 := j.TypeOf(left)
	r, ok2 := j.ElementOf(array)
	if r == "" {
		r = l
	}
	return ok1 && ok2 && l != "" && j.Catalog.Leakproof[tree.OperatorName{Name: op, Left: l, Right: r}]
}

// uncollated takes COLLATE off an operand, where it decides how to compare; what has one
// elsewhere fails when it meets another.
func uncollated(n *pg.Node) *pg.Node {
	if c := n.GetCollateClause(); c != nil {
		return c.Arg
	}
	return n
}
