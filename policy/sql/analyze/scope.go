package analyze

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/fence"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// where analyzes a WHERE and finds its scope conditions.
func (a *analyzer) where(l *level, n *pg.Node) {
	a.expr(l, n)
	a.protect(l, n, fence.InWhere)
	a.conditions(l, n)
}

// conditions notes the scope conditions among the conjuncts of a condition: the scope
// column of a scoped table of this level, =, and a placeholder, either way round. Some
// drivers cast every placeholder, so a cast around it does not matter.
func (a *analyzer) conditions(l *level, n *pg.Node) {
	for _, c := range tree.Conjuncts(n) {
		if condition, ok := scopeCondition(l, c); ok {
			l.facts.Conditions = append(l.facts.Conditions, condition)
		}
	}
}

func scopeCondition(l *level, n *pg.Node) (facts.Condition, bool) {
	e := n.GetAExpr()
	if e == nil || e.Kind != pg.A_Expr_Kind_AEXPR_OP || len(e.Name) != 1 || e.Name[0].GetString_().GetSval() != "=" {
		return facts.Condition{}, false
	}
	ref, param := e.Lexpr.GetColumnRef(), tree.WithoutCasts(e.Rexpr).GetParamRef()
	if ref == nil {
		ref, param = e.Rexpr.GetColumnRef(), tree.WithoutCasts(e.Lexpr).GetParamRef()
	}
	if ref == nil || param == nil {
		return facts.Condition{}, false
	}
	t := l.scopedBy(ref)
	if t == nil {
		return facts.Condition{}, false
	}
	return facts.Condition{Number: param.Number, Offset: int(param.Location), Table: t}, true
}

// scopedBy gives the scoped table whose scope column a reference means, at this very
// level: not at an outer one, and not a sub-query's column of that name; nil otherwise.
func (l *level) scopedBy(ref *pg.ColumnRef) *tree.Table {
	names, ok := tree.Strings(ref.Fields)
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

// scopeValue tells what a value given to a scope column is. Casts around a
// placeholder or a constant stay where they are.
func scopeValue(t *tree.Table, n *pg.Node, otherwise int) facts.ScopeValue {
	v := facts.ScopeValue{Table: t, Offset: otherwise}
	if at := tree.Offset(n); at >= 0 {
		v.Offset = at
	}
	for n.GetTypeCast() != nil {
		cast := n.GetTypeCast()
		before := int(cast.TypeName.GetLocation()) < tree.Offset(cast.Arg) // text '…', where no parameter can stand
		if before || !tree.Lossless(cast.TypeName, t) {
			return v
		}
		n = cast.Arg
	}
	switch x := n.GetNode().(type) {
	case *pg.Node_ParamRef:
		v.Kind, v.Number, v.Offset = facts.ScopeParam, x.ParamRef.Number, int(x.ParamRef.Location)
	case *pg.Node_AConst:
		if s := x.AConst.GetSval(); s != nil {
			v.Kind, v.Const, v.Offset = facts.ScopeConst, s.Sval, int(x.AConst.Location)
		}
	case *pg.Node_ColumnRef:
		if tree.Star(n) == nil {
			v.Kind, v.Offset = facts.ScopeColumn, int(x.ColumnRef.Location)
		}
	case *pg.Node_SetToDefault:
		v.Kind, v.Offset = facts.ScopeDefault, int(x.SetToDefault.Location)
	}
	return v
}
