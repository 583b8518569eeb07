package sqltree

import (
	"errors"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// hides checks that an expression which must be hidden from the planner is, and that it means
// what it meant.
func (v *verifier) hides(f *hidden, a, b *pg.Node) error {
	switch f.form {
	case asParameter:
		value, typ := literalValue(a.GetAConst())
		return v.carries(b, value, typ)
	case asSubquery:
		if c := b.GetCoalesceExpr(); c != nil && len(c.Args) == 1 {
			b = c.Args[0]
		}
		inside, ok := plainSubquery(b)
		if !ok {
			return errors.New("a call is not hidden from the planner")
		}
		return v.shown(a, inside)
	case asComparison:
		e := b.GetAExpr()
		if op, ok := stringsOf(e.GetName()); e.GetKind() != pg.A_Expr_Kind_AEXPR_OP || !ok || !slices.Equal(op, []string{"="}) {
			return errors.New("a column that is a condition is not hidden from the planner")
		}
		return errors.Join(v.shown(a, e.Lexpr), v.carries(e.Rexpr, "t", boolOID))
	}
	return errors.New("an expression is hidden in a way that is not known")
}

// carries checks that an expression is a parameter which carries a literal.
func (v *verifier) carries(n *pg.Node, value string, oid uint32) error {
	p := n.GetParamRef()
	if p == nil || p.Number < 1 || int(p.Number) > len(v.params) {
		return errors.New("a literal is not hidden from the planner")
	}
	if l := v.params[p.Number-1].Literal; l == nil || l.Value != value || l.Type != oid {
		return errors.New("a literal is not what its parameter carries")
	}
	return nil
}

// plainSubquery gives what (SELECT …) without anything else selects.
func plainSubquery(n *pg.Node) (*pg.Node, bool) {
	s := n.GetSubLink()
	list := s.GetSubselect().GetSelectStmt().GetTargetList()
	if s.GetSubLinkType() != pg.SubLinkType_EXPR_SUBLINK || s.Testexpr != nil || len(s.OperName) > 0 || len(list) != 1 {
		return nil, false
	}
	plain := &pg.SelectStmt{TargetList: list, LimitOption: pg.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg.SetOperation_SETOP_NONE}
	t := list[0].GetResTarget()
	return t.GetVal(), equal(s.Subselect.GetSelectStmt(), plain) && t.GetName() == "" && len(t.Indirection) == 0
}

// bare finds a literal of the final tree that is compared with a column where the planner
// looks. It goes by that tree alone, and not by what the analysis found. outermost tells that
// no condition can look at the results of m.
func bare(m proto.Message, outermost bool) bool {
	switch x := m.(type) {
	case *pg.Node:
		return bare(inner(x), outermost)
	case *pg.InsertStmt:
		return bareWith(x.WithClause) || bare(x.SelectStmt, true) || bareBeneath(x.OnConflictClause) || bareBeneath(&pg.List{Items: x.ReturningList})
	case *pg.UpdateStmt:
		return bareWith(x.WithClause) || bareAny(x.FromClause, false) || bare(x.WhereClause, false) || bareBeneath(&pg.List{Items: slices.Concat(x.TargetList, x.ReturningList)})
	case *pg.DeleteStmt:
		return bareWith(x.WithClause) || bareAny(x.UsingClause, false) || bare(x.WhereClause, false) || bareBeneath(&pg.List{Items: x.ReturningList})
	case *pg.SelectStmt:
		return bareQuery(x, outermost)
	case *pg.SubLink:
		return bare(x.Testexpr, false) || bare(x.Subselect, x.SubLinkType == pg.SubLinkType_EXISTS_SUBLINK)
	case *pg.FuncCall, *pg.NullTest: // what they give is computed
		return bareBeneath(x)
	case *pg.A_Expr:
		if isComputation(x) {
			return bareBeneath(x)
		}
		if comparesLiteral(x) {
			return true
		}
	case nil:
		return false
	}
	return anyChild(m, func(c proto.Message) bool { return bare(c, false) })
}

func bareQuery(s *pg.SelectStmt, outermost bool) bool {
	if s == nil {
		return false
	}
	results := &pg.List{Items: slices.Concat(s.TargetList, s.ValuesLists)}
	rest := &pg.List{Items: slices.Concat(s.DistinctClause, s.GroupClause, s.WindowClause, s.SortClause, []*pg.Node{s.LimitCount, s.LimitOffset})}
	return bareWith(s.WithClause) || bareQuery(s.Larg, outermost) || bareQuery(s.Rarg, outermost) ||
		bareAny(s.FromClause, false) || bare(s.WhereClause, false) || bare(s.HavingClause, false) || bareBeneath(rest) ||
		outermost && bareBeneath(results) || !outermost && bare(results, false)
}

func bareWith(w *pg.WithClause) bool {
	return slices.ContainsFunc(w.GetCtes(), func(n *pg.Node) bool { return bare(n.GetCommonTableExpr().GetCtequery(), false) })
}

func bareAny(list []*pg.Node, outermost bool) bool {
	return slices.ContainsFunc(list, func(n *pg.Node) bool { return bare(n, outermost) })
}

// bareBeneath looks into the sub-queries beneath m alone.
func bareBeneath(m proto.Message) (found bool) {
	children(m, func(c proto.Message) bool {
		subLinks(c, func(s *pg.SubLink) { found = found || bare(s, false) })
		return !found
	})
	return found
}

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
		return operandsOfCase(x.CaseExpr)
	}
	return []*pg.Node{n}
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
	return n.GetAConst() != nil && !n.GetAConst().Isnull || n.GetSqlvalueFunction() != nil || isKnownTest(n)
}

// isKnownTest tells x IS NULL, x IS TRUE and their like where nothing in x is first known when the statement runs: a
// column in x may be one that a sub-query makes of NULL.
func isKnownTest(n *pg.Node) bool {
	return n.GetNullTest() != nil && !holdsGiven(n.GetNullTest().Arg) || n.GetBooleanTest() != nil && !holdsGiven(n.GetBooleanTest().Arg)
}

// holdsGiven tells whether a parameter or a sub-query stands in m.
func holdsGiven(m proto.Message) bool {
	switch m.(type) {
	case *pg.ParamRef, *pg.SubLink:
		return true
	}
	return anyChild(m, holdsGiven)
}
