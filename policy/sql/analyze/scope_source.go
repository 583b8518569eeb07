package analyze

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// alwaysOneRow tells whether a query certainly gives a row.
func (a *analyzer) alwaysOneRow(s *pg.SelectStmt) bool {
	bare := len(s.GetFromClause()) == 0 && s.GetWhereClause() == nil && s.GetHavingClause() == nil && len(s.GetGroupClause()) == 0
	bare = bare && s.GetOp() == pg.SetOperation_SETOP_NONE && s.GetLimitCount() == nil && s.GetLimitOffset() == nil
	return bare && !slices.ContainsFunc(s.TargetList, func(n *pg.Node) bool { return a.mayGiveRows(tree.Unwrap(n)) })
}

// mayGiveRows tells whether a call in m may give any number of rows.
func (a *analyzer) mayGiveRows(m proto.Message) bool {
	if f, ok := m.(*pg.FuncCall); ok {
		name := a.types.CatalogCall(f)
		if !a.catalog.Builtin[name] || tree.GivesRows(name) || slices.Contains(tree.RowCalls, name) {
			return true
		}
	}
	return tree.AnyOfLevel(m, a.mayGiveRows)
}

// sourceValues finds what a query gives in one of its columns: one value for each row
// of VALUES, and one for each arm of a set operation.
func (a *analyzer) sourceValues(t *tree.Table, s *pg.SelectStmt, index, at int) []facts.ScopeValue {
	other := facts.ScopeValue{Table: t, Offset: at}
	if s == nil {
		return []facts.ScopeValue{other}
	}
	if s.Op != pg.SetOperation_SETOP_NONE && tree.SortsByType(s, t) {
		return []facts.ScopeValue{other}
	}
	if s.Op != pg.SetOperation_SETOP_NONE {
		return append(a.sourceValues(t, s.Larg, index, at), a.sourceValues(t, s.Rarg, index, at)...)
	}
	if len(s.ValuesLists) == 0 && (tree.GroupsBySets(s) || tree.SortsByType(s, t)) {
		return []facts.ScopeValue{other}
	}
	if len(s.ValuesLists) == 0 {
		return []facts.ScopeValue{targetValue(t, s.TargetList, index, other)}
	}
	var values []facts.ScopeValue
	for _, row := range s.ValuesLists {
		if items := row.GetList().GetItems(); index < len(items) && !slices.ContainsFunc(items, tree.ExpandsToColumns) {
			values = append(values, scopeValue(t, items[index], at))
		} else {
			values = append(values, other)
		}
	}
	return values
}

func targetValue(t *tree.Table, list []*pg.Node, index int, other facts.ScopeValue) facts.ScopeValue {
	if index >= len(list) {
		return other
	}
	for _, n := range list[:index+1] {
		if tree.ExpandsToColumns(n.GetResTarget().GetVal()) {
			return other // the position can't be told
		}
	}
	return scopeValue(t, list[index].GetResTarget().GetVal(), other.Offset)
}

// keepNames has an entry of a select list whose scope column is replaced keep its name: ORDER BY may name it.
func (a *analyzer) keepNames(s *pg.SelectStmt, index int) {
	for s.GetLarg() != nil {
		s = s.Larg
	}
	if list := s.GetTargetList(); index < len(list) {
		entry := list[index].GetResTarget()
		if tree.WithoutCasts(entry.GetVal()).GetColumnRef() != nil && entry.Name == "" && !tree.ExpandsToColumns(entry.Val) {
			a.facts.Named[list[index]] = tree.StrongName(entry.Val)
		}
	}
}
