package verify

import (
	"errors"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// hides checks that an expression which must be hidden from the planner is, and that it means
// what it meant.
func (v *verifier) hides(f *facts.Hidden, a, b *pg.Node) error {
	switch f.Form {
	case facts.AsParameter:
		value, typ := f.LiteralValue(a.GetAConst())
		return v.carries(b, value, typ)
	case facts.AsSubquery:
		if c := b.GetCoalesceExpr(); c != nil && len(c.Args) == 1 {
			b = c.Args[0]
		}
		inside, ok := tree.PlainSubquery(b)
		if !ok {
			return errors.New("a call is not hidden from the planner")
		}
		if isOfRows(tree.Unwrap(inside)) {
			return errors.New("what the rows or groups of a query level give is computed in a sub-query")
		}
		return v.shown(a, inside)
	case facts.AsComparison:
		e := b.GetAExpr()
		if op, ok := tree.Strings(e.GetName()); e.GetKind() != pg.A_Expr_Kind_AEXPR_OP || !ok || !slices.Equal(op, []string{"="}) {
			return errors.New("a column that is a condition is not hidden from the planner")
		}
		return errors.Join(v.shown(a, e.Lexpr), v.carries(e.Rexpr, "t", tree.BoolOID))
	case facts.AsCase:
		c := b.GetCaseExpr()
		if !isChosen(c) {
			return errors.New("a column, or a side of IS DISTINCT FROM, is not hidden from the planner")
		}
		return errors.Join(v.carries(c.Args[0].GetCaseWhen().Expr, "f", tree.BoolOID), v.shown(a, c.Defresult))
	}
	return errors.New("an expression is hidden in a way that is not known")
}

// isOfRows tells whether an aggregate, a window function, GROUPING or what differs at each call stands in m, at m's own query level: a
// sub-query around it would be the level whose rows it is computed from.
func isOfRows(m proto.Message) bool {
	switch x := m.(type) {
	case *pg.GroupingFunc:
		return true
	case *pg.FuncCall:
		if tree.IsWrittenAggregate(x) || slices.Contains(tree.Aggregates, tree.LastName(x.Funcname)) || isUnsteady(x) {
			return true
		}
	}
	return tree.AnyOfLevel(m, isOfRows)
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
