package sqltree

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// where analyzes a WHERE and finds its scope conditions.
func (a *analyzer) where(l *level, n *pg.Node) {
	a.expr(l, n)
	a.protect(l, n, inWhere)
	a.conditions(l, n)
}

// conditions notes the scope conditions among the conjuncts of a condition: the scope
// column of a scoped table of this level, =, and a placeholder, either way round. Some
// drivers cast every placeholder, so a cast around it does not matter.
func (a *analyzer) conditions(l *level, n *pg.Node) {
	for _, c := range conjuncts(n) {
		if condition, ok := scopeCondition(l, c); ok {
			l.facts.Conditions = append(l.facts.Conditions, condition)
		}
	}
}

// conjuncts gives what is joined by AND at the top of a condition.
func conjuncts(n *pg.Node) []*pg.Node {
	if n == nil {
		return nil
	}
	b := n.GetBoolExpr()
	if b == nil || b.Boolop != pg.BoolExprType_AND_EXPR {
		return []*pg.Node{n}
	}
	var all []*pg.Node
	for _, arg := range b.Args {
		all = append(all, conjuncts(arg)...)
	}
	return all
}

func scopeCondition(l *level, n *pg.Node) (Condition, bool) {
	e := n.GetAExpr()
	if e == nil || e.Kind != pg.A_Expr_Kind_AEXPR_OP || len(e.Name) != 1 || e.Name[0].GetString_().GetSval() != "=" {
		return Condition{}, false
	}
	ref, param := e.Lexpr.GetColumnRef(), uncast(e.Rexpr).GetParamRef()
	if ref == nil {
		ref, param = e.Rexpr.GetColumnRef(), uncast(e.Lexpr).GetParamRef()
	}
	if ref == nil || param == nil {
		return Condition{}, false
	}
	t := l.scopedBy(ref)
	if t == nil {
		return Condition{}, false
	}
	return Condition{Number: param.Number, Offset: int(param.Location), Table: t}, true
}

// uncast takes the casts off an expression.
func uncast(n *pg.Node) *pg.Node {
	for n.GetTypeCast() != nil {
		n = n.GetTypeCast().Arg
	}
	return n
}

// scopedBy gives the scoped table whose scope column a reference means, at this very
// level: not at an outer one, and not a sub-query's column of that name; nil otherwise.
func (l *level) scopedBy(ref *pg.ColumnRef) *Table {
	names, ok := stringsOf(ref.Fields)
	if !ok {
		return nil
	}
	var cols []column
	var at *level
	switch name := names[len(names)-1]; len(names) {
	case 1:
		cols, at = l.columns(name)
	case 2:
		cols, at = l.qualified("", names[0], name)
	case 3:
		cols, at = l.qualified(names[0], names[1], name)
	}
	// Several are one where USING joins them, and ambiguous otherwise.
	i := slices.IndexFunc(cols, column.scopes)
	if i < 0 || at != l {
		return nil
	}
	return cols[i].table
}

func (l *level) qualified(schema, rel, name string) ([]column, *level) {
	r, at := l.relation(schema, rel)
	if r == nil {
		return nil, nil
	}
	return r.named(name), at
}

// lossless tells whether a cast that a caller has around the server's id keeps it whole:
// ?::varchar(5) would write another one.
func lossless(n *pg.TypeName, t *Table) bool {
	names, ok := stringsOf(n.Names)
	if !ok || len(n.Typmods)+len(n.ArrayBounds) > 0 || len(names) == 0 || len(names) > 1 && (len(names) > 2 || names[0] != "pg_catalog") {
		return false
	}
	name := names[len(names)-1]
	return name == "text" || name == "varchar" || t.ScopeType == TypeName{"pg_catalog", name}
}

// scopeValue tells what a value given to a scope column is. Casts around a
// placeholder or a constant stay where they are.
func scopeValue(t *Table, n *pg.Node, otherwise int) ScopeValue {
	v := ScopeValue{Table: t, Offset: otherwise}
	if at := nodeOffset(n); at >= 0 {
		v.Offset = at
	}
	for n.GetTypeCast() != nil {
		cast := n.GetTypeCast()
		before := int(cast.TypeName.GetLocation()) < nodeOffset(cast.Arg) // text '…', where no parameter can stand
		if before || !lossless(cast.TypeName, t) {
			return v
		}
		n = cast.Arg
	}
	switch x := n.GetNode().(type) {
	case *pg.Node_ParamRef:
		v.Kind, v.Number, v.Offset = ScopeParam, x.ParamRef.Number, int(x.ParamRef.Location)
	case *pg.Node_AConst:
		if s := x.AConst.GetSval(); s != nil {
			v.Kind, v.Const, v.Offset = ScopeConst, s.Sval, int(x.AConst.Location)
		}
	case *pg.Node_ColumnRef:
		if starRef(n) == nil {
			v.Kind, v.Offset = ScopeColumn, int(x.ColumnRef.Location)
		}
	case *pg.Node_SetToDefault:
		v.Kind, v.Offset = ScopeDefault, int(x.SetToDefault.Location)
	}
	return v
}
