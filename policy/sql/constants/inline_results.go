package constants

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// queryOf gives the query that a statement or command is.
func queryOf(stmt *pg.RawStmt) *pg.SelectStmt {
	switch s := stmt.GetStmt().GetNode().(type) {
	case *pg.Node_DeclareCursorStmt:
		return s.DeclareCursorStmt.Query.GetSelectStmt()
	case *pg.Node_CopyStmt:
		return s.CopyStmt.Query.GetSelectStmt()
	}
	return stmt.GetStmt().GetSelectStmt()
}

// hidesInSets tells whether a query level beneath m has ROLLUP, CUBE or GROUPING SETS of an expression in which a value is hidden. Each
// such value is another sub-query to the planner. So a repetition of the expression would not be the group's, and the row of a total
// would have a value of some row.
func hidesInSets(m proto.Message, fillings []Filling, results map[int]bool) bool {
	if s, ok := m.(*pg.SelectStmt); ok && slices.ContainsFunc(s.GroupClause, func(n *pg.Node) bool { return n.GetGroupingSet() != nil }) {
		for at, number := range parametersOf(&pg.List{Items: tree.Groups(s)}, map[int]int{}) {
			if number <= len(fillings) && fillings[number-1].in(results, at).Type != (tree.TypeName{}) {
				return true
			}
		}
	}
	return tree.AnyChild(m, func(c proto.Message) bool { return hidesInSets(c, fillings, results) })
}

// noteResults notes the parameters in the results of an outermost query, and in what these
// are grouped and sorted by, unless HAVING repeats one by which they are grouped.
func noteResults(s *pg.SelectStmt, places map[int]bool) {
	if s == nil {
		return
	}
	noteResults(s.Larg, places)
	noteResults(s.Rarg, places)
	grouped, repeated := map[int]bool{}, map[int]bool{}
	for _, number := range parametersOf(&pg.List{Items: tree.Groups(s)}, map[int]int{}) {
		grouped[number] = true
	}
	for _, number := range parametersOf(s.HavingClause, map[int]int{}) {
		repeated[number] = grouped[number]
	}
	lists := slices.Concat(s.TargetList, s.DistinctClause, s.GroupClause, s.SortClause, s.WindowClause)
	for at, number := range parametersOf(&pg.List{Items: lists}, map[int]int{}) {
		places[at] = !repeated[number]
	}
}

// parametersOf adds the numbers of the parameters beneath m by their places, and not those of sub-queries.
func parametersOf(m proto.Message, numbers map[int]int) map[int]int {
	switch n := m.(type) {
	case *pg.SubLink:
		return numbers
	case *pg.ParamRef:
		numbers[int(n.Location)] = int(n.Number)
	}
	tree.Children(m, func(c proto.Message) bool {
		parametersOf(c, numbers)
		return true
	})
	return numbers
}
