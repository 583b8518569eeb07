package sqltree

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// A placeholder is as good as a literal of whatever type stands beside it, if it stands in
// one place. $1 in several places has the type that Postgres finds first, and is converted
// in the others, which may fail while the statement runs. Such a placeholder is torn.

// tornBy gives the placeholders of a statement, all names of which are resolved, that stand in
// several places which are not certainly of one type.
func (a *analyzer) tornBy(stmt *pg.RawStmt) map[int32]bool {
	p := params{analyzer: a, types: map[int32]string{}, seen: map[int32]bool{}, torn: map[int32]bool{}}
	p.walk(stmt.ProtoReflect())
	return p.torn
}

// params are the placeholders seen so far, each with the type that all its places have.
type params struct {
	*analyzer
	types map[int32]string // "" where it isn't known
	seen  map[int32]bool
	torn  map[int32]bool
}

func (p *params) walk(m protoreflect.Message) {
	switch n := m.Interface().(type) {
	case *pg.MultiAssignRef:
		if n.Colno > 1 { // a copy of the first one's source
			return
		}
	case *pg.ParamRef:
		p.note(n, "")
		return
	case *pg.TypeCast:
		if ref := n.Arg.GetParamRef(); ref != nil {
			t, _ := p.castType(n.TypeName)
			p.note(ref, t)
			return
		}
	case *pg.A_Expr:
		p.operands(n)
		return
	}
	children(m, func(_ protoreflect.Name, c protoreflect.Message) bool {
		p.walk(c)
		return true
	})
}

// operands notes the operands that are placeholders with the type that a comparison gives
// them, which is that of what they are compared with.
func (p *params) operands(e *pg.A_Expr) {
	list := []*pg.Node{e.Lexpr, e.Rexpr}
	if items := e.Rexpr.GetList(); items != nil {
		list = append(items.Items[:len(items.Items):len(items.Items)], e.Lexpr)
	}
	t := ""
	for _, n := range list {
		if known, ok := p.typeOf(n); ok && n.GetAConst() == nil && t == "" {
			t = known
		}
	}
	switch e.Kind {
	case pg.A_Expr_Kind_AEXPR_OP_ANY, pg.A_Expr_Kind_AEXPR_OP_ALL:
		t += "[]"
	case pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN, pg.A_Expr_Kind_AEXPR_BETWEEN_SYM, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
	default:
		if !isComparison(lastName(e.Name)) {
			t = ""
		}
	}
	for _, n := range list {
		if ref := n.GetParamRef(); ref != nil {
			p.note(ref, t)
		} else if n != nil {
			p.walk(n.ProtoReflect())
		}
	}
}

func (p *params) note(ref *pg.ParamRef, t string) {
	if p.seen[ref.Number] && (t == "" || t == "[]" || t != p.types[ref.Number]) {
		p.torn[ref.Number] = true
	}
	p.seen[ref.Number] = true
	p.types[ref.Number] = t
}
