package fence

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// leakproofSubLink tells whether evaluating a sub-query can't fail: nothing in it can, and
// one that gives a value gives no two. That it does not look at the rows around is not
// enough, since whether it is evaluated may depend on them.
func (j *Judge) leakproofSubLink(s *pg.SubLink) bool {
	query := s.Subselect.GetSelectStmt()
	if query == nil || j.leaks(s.Subselect) || j.meetsScopeIn(s) {
		return false
	}
	switch s.SubLinkType {
	case pg.SubLinkType_EXISTS_SUBLINK:
		return true
	case pg.SubLinkType_EXPR_SUBLINK:
		return j.singleRow(query)
	case pg.SubLinkType_ANY_SUBLINK, pg.SubLinkType_ALL_SUBLINK:
		return j.leakproofColumn(s, query)
	}
	return false
}

// isCount tells a number of rows that LIMIT and OFFSET take, or none at all.
func isCount(n *pg.Node) bool {
	return n == nil || n.GetAConst().GetIval() != nil && n.GetAConst().GetIval().Ival >= 0
}

// leakproofColumn judges x IN (SELECT y …): y is a plain column or the like.
func (j *Judge) leakproofColumn(s *pg.SubLink, query *pg.SelectStmt) bool {
	if list := query.GetTargetList(); len(list) == 1 && query.Op == pg.SetOperation_SETOP_NONE {
		y := list[0].GetResTarget().GetVal()
		return j.leakproof(s.Testexpr) && j.leakproof(y) && j.leakproofPair(linkOperator(s), s.Testexpr, y)
	}
	return false
}

// linkOperator is by what x is compared with the values of a sub-query: = for IN.
func linkOperator(s *pg.SubLink) string {
	if len(s.OperName) == 0 {
		return "="
	}
	return tree.LastName(s.OperName)
}

// singleRow tells whether a query gives one row at most: LIMIT 1, or one plain aggregate.
func (j *Judge) singleRow(s *pg.SelectStmt) bool {
	if s.GetLimitCount().GetAConst().GetIval().GetIval() == 1 {
		return s.LimitOption == pg.LimitOption_LIMIT_OPTION_COUNT
	}
	list := s.GetTargetList()
	if s.GetOp() != pg.SetOperation_SETOP_NONE || len(list) != 1 || len(s.GroupClause) > 0 {
		return false
	}
	pick := list[0].GetResTarget().GetVal()
	return j.isPick(pick) && j.aggregates(pick, j.starts[s])
}

// isPick tells a plain call of count, min or max, which can't fail where their argument can't.
func (j *Judge) isPick(n *pg.Node) bool {
	f := n.GetFuncCall()
	if f == nil || f.Over != nil || f.AggDistinct || f.AggFilter != nil || len(f.AggOrder) > 0 || f.FuncVariadic {
		return false
	}
	switch j.CatalogCall(f) {
	case "count":
		return true
	case "min", "max":
		return len(f.Args) == 1 && j.sortable(f.Args[0]) && !j.IsCollated(f.Args[0])
	}
	return false
}

// compares tells whether a query sorts and groups by nothing but what can be compared
// without failing: a row of whatever types can fail.
func (j *Judge) compares(s *pg.SelectStmt) bool {
	list := slices.Clone(s.GroupClause)
	for _, n := range s.SortClause {
		list = append(list, n.GetSortBy().GetNode())
	}
	for _, n := range list {
		if n.GetAConst() != nil || !j.sortable(n) || j.IsCollated(n) || renames(s, n) { // 1 is a place in the select list
			return false
		}
	}
	return len(s.DistinctClause) == 0 && s.Op == pg.SetOperation_SETOP_NONE
}

// renames tells whether a name may be that of an entry of the select list which is something else: one that has no name
// of its own may get any.
func renames(s *pg.SelectStmt, n *pg.Node) bool {
	names, ok := tree.Strings(n.GetColumnRef().GetFields())
	return ok && len(names) == 1 && slices.ContainsFunc(s.TargetList, func(entry *pg.Node) bool {
		t := entry.GetResTarget()
		return t.GetName() == names[0] || t.GetName() == "" && t.GetVal().GetColumnRef() == nil
	})
}

// sortable tells whether values of an expression's type can be compared without failing.
func (j *Judge) sortable(n *pg.Node) bool {
	t, ok := j.TypeOf(n)
	return ok && (t == "numeric" || j.Catalog.Leakproof[tree.OperatorName{Name: "<", Left: t, Right: t}])
}

// leaks tells whether something beneath m is not leakproof. Of queries these are those of
// tables, joins and WITH queries: what Postgres makes of others is not followed.
func (j *Judge) leaks(m proto.Message) bool {
	n, isNode := m.(*pg.Node)
	if found, done := j.leaky[n]; isNode && done {
		return found
	}
	if isNode {
		j.leaky[n] = true // to what refers back to it, a recursive query to itself
	}
	found := isNode && isExpression(n) && !j.isPick(n) && !j.leakproof(n)
	switch s := m.(type) {
	case *pg.SelectStmt: // itself, and as the arm of a set operation
		found = found || j.mixed[s] || !isCount(s.LimitCount) || !isCount(s.LimitOffset) || len(s.ValuesLists) > 0 || !j.compares(s)
	case *pg.JoinExpr:
		found = found || j.mixed[s]
	case *pg.RangeVar: // of a WITH query, which runs when it is first read
		query, open := j.names.WithQuery(s)
		found = query != nil && (open || j.leaks(query))
	case *pg.LockingClause, *pg.InsertStmt, *pg.UpdateStmt, *pg.DeleteStmt, *pg.RangeSubselect, *pg.RangeFunction:
		found = true
	}
	found = found || tree.AnyChild(m, j.leaks)
	if isNode {
		j.leaky[n] = found
	}
	return found
}

// isExpression tells the nodes that are judged; the rest only holds such.
func isExpression(n *pg.Node) bool {
	switch n.Node.(type) {
	case *pg.Node_SelectStmt, *pg.Node_InsertStmt, *pg.Node_UpdateStmt, *pg.Node_DeleteStmt, *pg.Node_ResTarget, *pg.Node_SortBy,
		*pg.Node_RangeVar, *pg.Node_RangeSubselect, *pg.Node_RangeFunction, *pg.Node_JoinExpr, *pg.Node_CommonTableExpr,
		*pg.Node_List, *pg.Node_LockingClause, *pg.Node_WindowDef, *pg.Node_GroupingSet, *pg.Node_ColumnDef, *pg.Node_String_,
		*pg.Node_Integer, *pg.Node_AStar, *pg.Node_SetToDefault:
		return false
	}
	return true
}
