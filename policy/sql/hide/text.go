package hide

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// Most literals in quotation marks become parameters whose type Postgres finds, as it does that of the literal.
// In some places it does not look for a type: there a literal is taken as it is, and a parameter without a type is an
// error, or makes Postgres choose another function. Such a parameter is declared as text, which Postgres reads like
// the literal.

// arguments looks through the arguments of a call.
func (h *hider) arguments(f *pg.FuncCall) {
	untyped := slices.Contains(takeAny, h.CatalogCall(f)) || len(f.Args) == 1 && slices.Contains(tree.TypeCalls, h.CatalogCall(f))
	for i, arg := range f.Args {
		if named := arg.GetNamedArgExpr(); named != nil {
			arg = named.Arg
		}
		switch {
		case isKeyword(f, i):
		case untyped:
			h.text(arg)
		default:
			h.value(arg)
		}
	}
}

// sides looks through both sides of an operator. Of x IS DISTINCT FROM NULL Postgres makes a test of x, whatever its
// type. It compares a row with a row, or with a sub-query, field by field, and finds the types of the fields.
func (h *hider) sides(e *pg.A_Expr) {
	if tree.IsDistinct(e) && (e.Lexpr.GetAConst().GetIsnull() || e.Rexpr.GetAConst().GetIsnull()) {
		h.texts(e.Lexpr, e.Rexpr)
		return
	}
	right := []*pg.Node{e.Rexpr}
	if list := e.Rexpr.GetList(); list != nil {
		right = list.Items
	}
	h.rowOfText(e, right)
	isNoRow := func(n *pg.Node) bool { return n.GetRowExpr() == nil }
	byField := !isNoRow(e.Lexpr) && (e.Rexpr.GetSubLink() != nil || !slices.ContainsFunc(right, isNoRow))
	for _, n := range append([]*pg.Node{e.Lexpr}, right...) {
		if row := n.GetRowExpr(); byField && row != nil {
			h.values(row.Args...)
		} else {
			h.value(n)
		}
	}
}

// rowOfText refuses a literal in quotation marks that is compared with a row, as Postgres does before it looks at the
// rest of the text: of a parameter it finds that later, and another error may come first.
func (h *hider) rowOfText(e *pg.A_Expr, right []*pg.Node) {
	isComparison := tree.IsComparison(tree.LastName(e.Name)) && e.Kind != pg.A_Expr_Kind_AEXPR_OP_ANY && e.Kind != pg.A_Expr_Kind_AEXPR_OP_ALL
	for _, n := range right {
		for _, pair := range [][2]*pg.Node{{e.Lexpr, n}, {n, e.Lexpr}} {
			if isComparison && pair[0].GetRowExpr() != nil && pair[1].GetAConst().GetSval() != nil {
				h.fail(&refusal.Refusal{Code: refusal.QueryFailed, SQLState: "0A000", Offset: tree.Offset(pair[1]), Message: "input of anonymous composite types is not implemented"})
			}
		}
	}
}

// castsLiteral tells a call that Postgres takes for a cast of a literal in quotation marks, which it reads once.
func (h *hider) castsLiteral(f *pg.FuncCall) bool {
	return len(f.Args) == 1 && slices.Contains(tree.TypeCalls, h.CatalogCall(f)) && f.Args[0].GetAConst().GetSval() != nil
}

func (h *hider) texts(list ...*pg.Node) {
	for _, n := range list {
		h.text(n)
	}
}

// text looks through an expression as value does, where Postgres looks for no type of a literal.
func (h *hider) text(n *pg.Node) {
	switch x := n.GetNode().(type) {
	case *pg.Node_CollateClause:
		h.text(x.CollateClause.Arg)
	default:
		h.value(n)
		if f := h.found[n]; f != nil {
			f.Text = true
		}
	}
}

// takeAny are functions of pg_catalog with arguments of the pseudo-type "any".
var takeAny = []string{
	"concat", "concat_ws", "format", "json_build_array", "json_build_object", "jsonb_build_array", "jsonb_build_object", "num_nonnulls", "num_nulls",
}
