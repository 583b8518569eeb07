package verify

import (
	"errors"
	"fmt"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// join compares two joins; their conditions part by part.
func (v *verifier) join(a *pg.JoinExpr, b proto.Message) error {
	y, ok := b.(*pg.JoinExpr)
	if !ok {
		return errors.New("a join became something else")
	}
	if err := v.same(a, b, "Quals"); err != nil {
		return err
	}
	return v.condition(a.Quals, y.Quals)
}

// condition compares a WHERE, ON or HAVING with the final one, in which parts that the
// barrier demands it of are guarded.
func (v *verifier) condition(a, b *pg.Node) error {
	return v.parts(tree.Conjuncts(a), tree.Conjuncts(b))
}

// parts compares what AND joins. A guard may hold several parts at once, as many as the
// caller had in brackets.
func (v *verifier) parts(a, b []*pg.Node) error {
	for len(b) > 0 {
		if len(a) == 0 {
			return errors.New("a condition gained a part")
		}
		held := 1
		if err := v.plain(a[0], b[0]); err != nil {
			if held, err = v.guarded(a, b[0], err); err != nil {
				return err
			}
		}
		a, b = a[held:], b[1:]
	}
	if len(a) > 0 {
		return errors.New("a condition lost a part")
	}
	return nil
}

// plain compares a part that stands as it was.
func (v *verifier) plain(a, b *pg.Node) error {
	if v.Guards[a] != nil {
		return errors.New("a part of a condition is not guarded")
	}
	return v.node(a, b)
}

// guarded checks CASE WHEN guard THEN (parts) END and gives the number of its parts. The
// guard must be what these parts need, all of it and nothing else: it is true for the
// server's rows, so that it changes nothing for them.
func (v *verifier) guarded(a []*pg.Node, n *pg.Node, otherwise error) (int, error) {
	when := onlyWhen(n)
	if when == nil {
		return 0, otherwise
	}
	inside := tree.Conjuncts(when.GetResult())
	if len(inside) > len(a) {
		return 0, otherwise
	}
	needs := &facts.Guard{}
	demanded := false
	for i, part := range inside {
		if err := v.node(a[i], part); err != nil {
			return 0, err
		}
		if g := v.Guards[a[i]]; g != nil {
			demanded = true
			needs.Add(g)
		}
	}
	if !demanded {
		return 0, otherwise
	}
	return len(inside), v.isGuard(needs, tree.Conjuncts(when.Expr))
}

// isGuard checks the condition of a guard.
func (v *verifier) isGuard(g *facts.Guard, parts []*pg.Node) error {
	if len(g.Tables) == 0 {
		call := "now"
		if g.Having {
			call = "count"
		}
		if len(parts) != 1 || !isAlways(parts[0], call) {
			return errors.New("a guard that names no table is malformed")
		}
		return nil
	}
	if g.Having || len(parts) != len(g.Tables) {
		return errors.New("a guard does not name the tables that it must")
	}
	for i, t := range g.Tables {
		if err := v.isGuardOf(t, parts[i]); err != nil {
			return err
		}
	}
	return nil
}

// isGuardOf checks scope column = server, or that the row is an outer join's row of NULLs.
func (v *verifier) isGuardOf(t facts.GuardTable, n *pg.Node) error {
	if t.Marker == "" {
		return v.restriction(n, t.Use.Node, t.Use.Table)
	}
	or := n.GetBoolExpr()
	if or == nil || or.Boolop != pg.BoolExprType_OR_EXPR || len(or.Args) != 2 {
		return fmt.Errorf("the guard of table %s is malformed", t.Use.Table.Name)
	}
	null := or.Args[1].GetNullTest()
	marker, ok := tree.Strings(null.GetArg().GetColumnRef().GetFields())
	if !ok || len(marker) != 2 || lex.Quote(marker[0])+"."+lex.Quote(marker[1]) != t.Marker || null.Nulltesttype != pg.NullTestType_IS_NULL || null.Argisrow {
		return fmt.Errorf("the guard of table %s is malformed", t.Use.Table.Name)
	}
	return v.restriction(or.Args[0], t.Use.Node, t.Use.Table)
}

// onlyWhen gives the WHEN of CASE WHEN … THEN … END; nil for any other expression.
func onlyWhen(n *pg.Node) *pg.CaseWhen {
	c := n.GetCaseExpr()
	if c == nil || len(c.Args) != 1 || c.Arg != nil || c.Defresult != nil {
		return nil
	}
	return c.Args[0].GetCaseWhen()
}

// delayed gives what stands in CASE WHEN now() = now() THEN … END.
func delayed(n *pg.Node) (*pg.Node, bool) {
	when := onlyWhen(n)
	e := when.GetExpr().GetAExpr()
	op, _ := tree.Strings(e.GetName())
	always := e.GetKind() == pg.A_Expr_Kind_AEXPR_OP && slices.Equal(op, []string{"="}) && isPlainCall(e.GetLexpr(), "now") && isPlainCall(e.GetRexpr(), "now")
	return when.GetResult(), always
}

// isAlways checks pg_catalog.call() IS NOT NULL.
func isAlways(n *pg.Node, call string) bool {
	null := n.GetNullTest()
	return isPlainCall(null.GetArg(), call) && null.Nulltesttype == pg.NullTestType_IS_NOT_NULL && !null.Argisrow
}

// isPlainCall checks pg_catalog.call(), for count with a *.
func isPlainCall(n *pg.Node, call string) bool {
	f := n.GetFuncCall()
	names, ok := tree.Strings(f.GetFuncname())
	plain := &pg.FuncCall{Funcname: f.GetFuncname(), AggStar: call == "count", Funcformat: pg.CoercionForm_COERCE_EXPLICIT_CALL, Location: f.GetLocation()}
	return f != nil && ok && slices.Equal(names, []string{"pg_catalog", call}) && tree.Equal(f, plain)
}

// barrier checks that a query which must be a barrier has OFFSET 0, and gives the fields
// that differ for it.
func (v *verifier) barrier(a, b *pg.SelectStmt) ([]string, error) {
	if !v.Barriers[a] {
		return nil, nil
	}
	zero := b.LimitOffset.GetAConst()
	if zero.GetIval() == nil || zero.GetIval().Ival != 0 || a.LimitOffset != nil || a.LimitCount != nil || b.LimitOption != pg.LimitOption_LIMIT_OPTION_COUNT {
		return nil, errors.New("a query is not the barrier that it must be")
	}
	return []string{"LimitOffset", "LimitOption"}, nil
}
