package types

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// A placeholder is as good as a literal of whatever type stands beside it, if it stands in
// one place. $1 in several places has the type that Postgres finds first, and is converted
// in the others, which may fail while the statement runs. Such a placeholder is torn.

// TornBy gives the placeholders of a statement, all names of which are resolved, that may be
// torn: none, or all that stand in several places where one of them does so in places that
// are not certainly of one type, for what it is compared with has no known type either.
func (ts *Types) TornBy(stmt *pg.RawStmt) map[int32]bool {
	p := params{Types: ts, places: map[int32]string{}, several: map[int32]bool{}}
	p.walk(stmt)
	if !p.differ {
		return nil
	}
	return p.several
}

// params are the placeholders seen so far, each with the type that all its places have.
type params struct {
	*Types
	places  map[int32]string // "" where it isn't known
	several map[int32]bool   // those that stand in several places
	differ  bool             // some of these are not certainly of one type
}

func (p *params) walk(m proto.Message) {
	switch n := m.(type) {
	case *pg.MultiAssignRef:
		if n.Colno > 1 { // a copy of the first one's source
			return
		}
	case *pg.ParamRef:
		p.note(n, "")
		return
	case *pg.TypeCast:
		if ref := n.Arg.GetParamRef(); ref != nil {
			t, _ := p.CastType(n.TypeName)
			p.note(ref, t)
			return
		}
	case *pg.A_Expr:
		p.operands(n)
		return
	}
	tree.Children(m, func(c proto.Message) bool {
		p.walk(c)
		return true
	})
}

// operands notes the operands that are placeholders with the type that a comparison gives
// them, which is that of what they are compared with.
func (p *params) operands(e *pg.A_Expr) {
	for _, pair := range p.operandsOf(e) {
		t := pair.typ
		if known, ok := p.TypeOf(pair.with); ok && pair.with.GetAConst() == nil {
			t = known
		}
		switch ref := pair.operand.GetParamRef(); {
		case ref != nil && pair.array && t != "":
			p.note(ref, t+"[]")
		case ref != nil:
			p.note(ref, t)
		case pair.operand != nil:
			p.walk(pair.operand)
		}
	}
}

// operand is one of an operator's, with what decides its type, or the type; neither where
// nothing does.
type operand struct {
	operand, with *pg.Node
	typ           string
	array         bool // of the type
}

// operandsOf gives the operands of an operator. The left one of BETWEEN stands in two places.
func (p *params) operandsOf(e *pg.A_Expr) []operand {
	list := e.Rexpr.GetList().GetItems()
	switch e.Kind {
	case pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN, pg.A_Expr_Kind_AEXPR_BETWEEN_SYM, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		if len(list) != 2 {
			break
		}
		pairs := []operand{{operand: e.Lexpr, with: list[0]}, {operand: list[0], with: e.Lexpr}, {operand: list[1], with: e.Lexpr}}
		if e.Lexpr.GetParamRef() != nil {
			pairs = append(pairs, operand{operand: e.Lexpr, with: list[1]})
		}
		return pairs
	case pg.A_Expr_Kind_AEXPR_IN:
		with := e.Lexpr
		if all := append(list[:len(list):len(list)], e.Lexpr); !p.OneType(all) {
			with = nil
		}
		pairs := []operand{{operand: e.Lexpr}}
		for _, n := range list {
			pairs = append(pairs, operand{operand: n, with: with})
		}
		return pairs
	case pg.A_Expr_Kind_AEXPR_OP_ANY, pg.A_Expr_Kind_AEXPR_OP_ALL:
		return []operand{{operand: e.Lexpr}, {operand: e.Rexpr, with: e.Lexpr, array: true}}
	case pg.A_Expr_Kind_AEXPR_LIKE, pg.A_Expr_Kind_AEXPR_ILIKE:
		if t, ok := p.TypeOf(e.Lexpr); ok && t == "text" {
			return []operand{{operand: e.Lexpr}, {operand: e.Rexpr, typ: t}}
		}
	case pg.A_Expr_Kind_AEXPR_OP, pg.A_Expr_Kind_AEXPR_DISTINCT, pg.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		switch {
		case p.JoinsTexts(e):
			return []operand{{operand: e.Lexpr, typ: "text"}, {operand: e.Rexpr, typ: "text"}}
		case tree.IsComparison(tree.LastName(e.Name)):
			return []operand{{operand: e.Lexpr, with: e.Rexpr}, {operand: e.Rexpr, with: e.Lexpr}}
		}
	}
	return []operand{{operand: e.Lexpr}, {operand: e.Rexpr}}
}

// note takes in a place of a placeholder.
func (p *params) note(ref *pg.ParamRef, t string) {
	if p.GivenType(ref) != (tree.TypeName{}) {
		return
	}
	before, seen := p.places[ref.Number]
	if seen {
		p.several[ref.Number] = true
		p.differ = p.differ || t == "" || t != before
	}
	p.places[ref.Number] = t
}
