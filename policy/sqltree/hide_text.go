package sqltree

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// Most literals in quotation marks become parameters whose type Postgres finds, as it does that of the literal.
// In some places it does not look for a type: there a literal is taken as it is, and a parameter is an error, or it
// chooses another function. The parameter is declared as text then, which Postgres reads like the literal.

// arguments looks through the arguments of a call.
func (h *hider) arguments(f *pg.FuncCall) {
	untyped := slices.Contains(takeAny, h.catalogCall(f)) || len(f.Args) == 1 && slices.Contains(typeCalls, h.catalogCall(f))
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

// sides looks through both sides of an operator. Of x IS DISTINCT FROM NULL Postgres makes a test of x, whatever its type.
func (h *hider) sides(e *pg.A_Expr) {
	if isDistinct(e) && (e.Lexpr.GetAConst().GetIsnull() || e.Rexpr.GetAConst().GetIsnull()) {
		h.texts(e.Lexpr, e.Rexpr)
		return
	}
	h.operand(e.Lexpr)
	h.operand(e.Rexpr)
}

// operand looks through a side of an operator, which finds the types of the fields of a row.
func (h *hider) operand(n *pg.Node) {
	switch x := n.GetNode().(type) {
	case *pg.Node_RowExpr:
		h.values(x.RowExpr.Args...)
	case *pg.Node_List:
		for _, item := range x.List.Items {
			h.operand(item)
		}
	default:
		h.value(n)
	}
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
			f.text = true
		}
	}
}

// takeAny are functions of pg_catalog with arguments of the pseudo-type "any".
var takeAny = []string{
	"concat", "concat_ws", "format", "json_build_array", "json_build_object", "jsonb_build_array", "jsonb_build_object", "num_nonnulls", "num_nulls",
}

// typeCalls are functions of pg_catalog that have the name of a type. Postgres takes int4('1') for the cast '1'::int4,
// and does the same with a text, but looks for a function where an argument's type is not known.
var typeCalls = []string{
	"bit", "bool", "box", "bpchar", "char", "cidr", "circle", "date", "datemultirange", "daterange", "float4", "float8", "int2", "int4", "int4multirange",
	"int4range", "int8", "int8multirange", "int8range", "interval", "line", "lseg", "macaddr", "macaddr8", "money", "name", "numeric", "nummultirange",
	"numrange", "point", "text", "time", "timestamp", "timestamptz", "timetz", "tsmultirange", "tsrange", "tstzmultirange", "tstzrange", "varbit", "varchar",
}
