package sqltree

import (
	"math"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// OperatorName is an operator of pg_catalog by its name and its operands' types, as in
// pg_type; Left is "" for a prefix operator.
type OperatorName struct{ Name, Left, Right string }

// leakproof tells whether an expression may be evaluated on rows that the caller must not
// see: whatever their values, it neither fails nor tells anything but by its result, which
// the restriction throws away. It is a list of what is known to be so, after Postgres'
// contain_leaked_vars and the operators that pg_proc marks; all else is not. What holds no
// column can't tell of a row, but could fail on any: of that, only what a statement needs
// to keep its index is on the list.
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

func (a *analyzer) allLeakproof(lists ...[]*pg.Node) bool {
	for _, list := range lists {
		for _, n := range list {
			if !a.leakproof(n) {
				return false
			}
		}
	}
	return true
}

func (a *analyzer) judge(n *pg.Node) bool {
	switch x := n.Node.(type) {
	case *pg.Node_ColumnRef, *pg.Node_ParamRef, *pg.Node_AConst, *pg.Node_SqlvalueFunction, *pg.Node_GroupingFunc:
		return true
	case *pg.Node_BoolExpr:
		return a.allLeakproof(x.BoolExpr.Args)
	case *pg.Node_NullTest:
		return a.leakproof(x.NullTest.Arg)
	case *pg.Node_BooleanTest:
		return a.leakproof(x.BooleanTest.Arg)
	case *pg.Node_CollateClause:
		return a.leakproof(x.CollateClause.Arg)
	case *pg.Node_RowExpr:
		return a.allLeakproof(x.RowExpr.Args)
	case *pg.Node_AArrayExpr:
		return a.allLeakproof(x.AArrayExpr.Elements)
	case *pg.Node_List:
		return a.allLeakproof(x.List.Items)
	case *pg.Node_CaseExpr:
		return x.CaseExpr.Arg == nil && a.leakproof(x.CaseExpr.Defresult) && a.allLeakproof(x.CaseExpr.Args)
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

// oneType tells whether expressions are of one type, so that none of them is converted.
func (a *analyzer) oneType(list []*pg.Node) bool {
	common := ""
	for _, n := range list {
		t, ok := a.typeOf(n)
		if !ok || common != "" && t != "" && t != common {
			return false
		}
		if t != "" {
			common = t
		}
	}
	return common != ""
}

// leakproofOperator judges an operator, and what is short for several.
func (a *analyzer) leakproofOperator(e *pg.A_Expr) bool {
	op := lastName(e.Name)
	if !a.leakproof(e.Lexpr) || !a.leakproof(e.Rexpr) {
		return false
	}
	switch e.Kind {
	case pg.A_Expr_Kind_AEXPR_OP:
		return a.leakproofPair(op, e.Lexpr, e.Rexpr) || a.steadyOperator(e)
	case pg.A_Expr_Kind_AEXPR_DISTINCT, pg.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		return a.leakproofPair("=", e.Lexpr, e.Rexpr)
	case pg.A_Expr_Kind_AEXPR_IN:
		return a.pairs([]string{op}, e.Lexpr, e.Rexpr.GetList().GetItems())
	case pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN, pg.A_Expr_Kind_AEXPR_BETWEEN_SYM, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		return a.pairs([]string{"<", "<=", ">", ">="}, e.Lexpr, e.Rexpr.GetList().GetItems())
	case pg.A_Expr_Kind_AEXPR_OP_ANY, pg.A_Expr_Kind_AEXPR_OP_ALL:
		return a.leakproofArray(op, e.Lexpr, e.Rexpr)
	}
	return false
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
	l, ok1 := a.typeOf(left)
	r, ok2 := a.typeOf(right)
	switch {
	case left == nil || right == nil:
		return false
	case !ok1 && ok2 && closed[r] && a.steady(left), ok1 && !ok2 && closed[l] && a.steady(right):
		return isComparison(op)
	case !ok1 || !ok2:
		return false
	case l == "":
		l = r
	case r == "":
		r = l
	}
	return l == "" && isComparison(op) || l == "numeric" && r == "numeric" && isComparison(op) || a.catalog.leakproof[OperatorName{op, l, r}]
}

// leakproofRows is leakproofPair for (a, b) = (1, 2), which compares the columns in turn.
func (a *analyzer) leakproofRows(op string, left, right []*pg.Node) bool {
	if len(left) != len(right) || !isComparison(op) {
		return false
	}
	for i := range left {
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
	l, ok1 := a.typeOf(left)
	r, ok2 := a.elementOf(array)
	if r == "" {
		r = l
	}
	return ok1 && ok2 && l != "" && a.catalog.leakproof[OperatorName{op, l, r}]
}

func isComparison(op string) bool {
	return slices.Contains([]string{"=", "<>", "!=", "<", "<=", ">", ">="}, op)
}

// leakproofSubLink tells whether evaluating a sub-query for a row tells nothing of it.
// Either it does not look at the rows of the query around, or nothing in it can fail:
// what fails on a row of its own would still tell that the row around led there. One that
// gives a value fails where it gives two, unless it can't.
func (a *analyzer) leakproofSubLink(s *pg.SubLink) bool {
	query := s.Subselect.GetSelectStmt()
	apart, silent := !a.looks(s.Subselect, a.starts[s]), !a.leaks(s.Subselect.ProtoReflect())
	harmless := isConst(query.GetLimitCount()) && isConst(query.GetLimitOffset())
	switch s.SubLinkType {
	case pg.SubLinkType_EXISTS_SUBLINK:
		return apart || silent && harmless
	case pg.SubLinkType_EXPR_SUBLINK:
		return apart && silent && singleRow(query)
	case pg.SubLinkType_ANY_SUBLINK, pg.SubLinkType_ALL_SUBLINK:
		return a.leakproofColumn(s, query) && (apart || silent && harmless)
	}
	return false
}

// isConst tells a number, or nothing at all.
func isConst(n *pg.Node) bool { return n == nil || n.GetAConst() != nil }

// leakproofColumn judges x IN (SELECT y …): y is a plain column or the like.
func (a *analyzer) leakproofColumn(s *pg.SubLink, query *pg.SelectStmt) bool {
	op := "="
	if len(s.OperName) > 0 {
		op = lastName(s.OperName)
	}
	if list := query.GetTargetList(); len(list) == 1 && query.Op == pg.SetOperation_SETOP_NONE {
		y := list[0].GetResTarget().GetVal()
		return a.leakproof(s.Testexpr) && a.leakproof(y) && a.leakproofPair(op, s.Testexpr, y)
	}
	return false
}

// singleRow tells whether a query gives one row at most: LIMIT 1, or one plain aggregate.
func singleRow(s *pg.SelectStmt) bool {
	if s.GetLimitCount().GetAConst().GetIval().GetIval() == 1 {
		return s.LimitOption == pg.LimitOption_LIMIT_OPTION_COUNT
	}
	list := s.GetTargetList()
	return s.GetOp() == pg.SetOperation_SETOP_NONE && len(list) == 1 && len(s.GroupClause) == 0 && isPick(list[0].GetResTarget().GetVal())
}

// isPick tells a call of count, min or max, which can't fail where their argument can't.
func isPick(n *pg.Node) bool {
	f := n.GetFuncCall()
	names, ok := stringsOf(f.GetFuncname())
	return ok && len(names) == 1 && slices.Contains([]string{"count", "min", "max"}, names[0]) && f.Over == nil
}

// leaks tells whether something beneath m is not leakproof.
func (a *analyzer) leaks(m protoreflect.Message) bool {
	n, isNode := m.Interface().(*pg.Node)
	if found, done := a.leaky[n]; isNode && done {
		return found
	}
	found := isNode && isExpression(n) && !isPick(n) && !a.leakproof(n)
	if !found {
		children(m, func(_ protoreflect.Name, c protoreflect.Message) bool {
			found = a.leaks(c)
			return !found
		})
	}
	if isNode {
		a.leaky[n] = found
	}
	return found
}

// isExpression tells the nodes that are judged; the rest only holds such.
func isExpression(n *pg.Node) bool {
	switch n.Node.(type) {
	case *pg.Node_SelectStmt, *pg.Node_InsertStmt, *pg.Node_UpdateStmt, *pg.Node_DeleteStmt, *pg.Node_ResTarget, *pg.Node_SortBy,
		*pg.Node_RangeVar, *pg.Node_RangeSubselect, *pg.Node_RangeFunction, *pg.Node_JoinExpr, *pg.Node_CommonTableExpr,
		*pg.Node_List, *pg.Node_LockingClause, *pg.Node_WindowDef, *pg.Node_GroupingSet, *pg.Node_ColumnDef, *pg.Node_String_,
		*pg.Node_Integer, *pg.Node_AStar, *pg.Node_SetToDefault:
		return false
	}
	return true
}

// looks tells whether a name in an expression means a relation that came into sight
// before start.
func (a *analyzer) looks(n *pg.Node, start int) bool {
	return n != nil && a.earliest(n.ProtoReflect()) < start
}

// earliest gives the serial number of the first relation that is named beneath m.
func (a *analyzer) earliest(m protoreflect.Message) int {
	n, isNode := m.Interface().(*pg.Node)
	if first, done := a.firsts[n]; isNode && done {
		return first
	}
	first := math.MaxInt
	if ref, ok := m.Interface().(*pg.ColumnRef); ok {
		for _, r := range a.names[ref].relations {
			first = min(first, r.serial)
		}
	}
	children(m, func(_ protoreflect.Name, c protoreflect.Message) bool {
		first = min(first, a.earliest(c))
		return true
	})
	if isNode {
		a.firsts[n] = first
	}
	return first
}

// mentions adds the relations whose columns are named beneath m.
func (a *analyzer) mentions(m protoreflect.Message, all map[*relation]bool) {
	if ref, ok := m.Interface().(*pg.ColumnRef); ok {
		for _, r := range a.names[ref].relations {
			all[r] = true
		}
	}
	children(m, func(_ protoreflect.Name, c protoreflect.Message) bool {
		a.mentions(c, all)
		return true
	})
}

// meaning is what a column reference was resolved to.
type meaning struct {
	relations []*relation
	typ       TypeName // of the column; zero where it isn't known
}

// resolve notes what a reference means; a name that may mean one of several means all.
func (a *analyzer) resolve(ref *pg.ColumnRef, r *relation, cols []column) {
	if ref == nil {
		return
	}
	n, seen := a.names[ref]
	n.relations = append(n.relations, r)
	for i, c := range cols {
		if !seen && i == 0 {
			n.typ = c.typ
		} else if n.typ != c.typ {
			n.typ = TypeName{}
		}
	}
	if len(cols) == 0 {
		n.typ = TypeName{}
	}
	a.names[ref] = n
}
