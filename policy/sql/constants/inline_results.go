package constants

import (
	"maps"
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

// splits tells whether a query level beneath m repeats an expression in which a value is hidden, and would have it computed twice. Each
// such value is another sub-query to the planner, which then finds a repetition only where it is a whole entry of a list:
//
//   - of ROLLUP, CUBE and GROUPING SETS the row of a total would have a value of some row;
//   - a function that returns a set would be called twice, and so would a volatile one, where what a level groups or sorts by is a part
//     of another entry. Which functions are such is not known here.
func splits(m proto.Message, fillings []Filling, results map[int]bool) bool {
	if s, ok := m.(*pg.SelectStmt); ok {
		hidden := func(n *pg.Node) bool {
			for at, number := range parametersOf(n, map[int]int{}) {
				if number <= len(fillings) && fillings[number-1].in(results, at).Type != (tree.TypeName{}) {
					return true
				}
			}
			return false
		}
		sets := slices.ContainsFunc(s.GroupClause, func(n *pg.Node) bool { return n.GetGroupingSet() != nil })
		if groups := tree.Groups(s); sets && slices.ContainsFunc(groups, hidden) || splitsCalls(s, groups, hidden) {
			return true
		}
	}
	return tree.AnyChild(m, func(c proto.Message) bool { return splits(c, fillings, results) })
}

// splitsCalls tells whether an expression with a call in which a value is hidden, by which a level groups or sorts, is a part of
// another entry, or two entries of the select list.
func splitsCalls(s *pg.SelectStmt, groups []*pg.Node, hidden func(*pg.Node) bool) bool {
	windows := windowsOf(&pg.List{Items: slices.Concat(s.TargetList, s.SortClause, s.WindowClause)})
	by := slices.Concat(groups, tree.Sorted(s), windows)
	entries := slices.Concat(by, s.TargetList, []*pg.Node{s.HavingClause})
	for _, e := range by {
		if e = entry(e); !hasCall(e) || !hidden(e) {
			continue
		}
		numbers, listed := parametersOf(e, map[int]int{}), 0
		for _, other := range entries {
			alike := tree.Equal(e, entry(other))
			if alike && other.GetResTarget() != nil {
				listed++
			}
			if !alike && sharesOne(numbers, entry(other)) || listed > 1 {
				return true
			}
		}
	}
	return false
}

// entry gives the expression of an entry of a list.
func entry(n *pg.Node) *pg.Node {
	switch {
	case n.GetSortBy() != nil:
		return n.GetSortBy().Node
	case n.GetResTarget() != nil:
		return n.GetResTarget().Val
	}
	return n
}

// hasCall tells whether a call beneath m may give rows, or another value each time.
func hasCall(m proto.Message) bool {
	if f, ok := m.(*pg.FuncCall); ok && !slices.Contains(tree.SteadyCalls, tree.LastName(f.Funcname)) {
		return true
	}
	return tree.AnyChild(m, hasCall)
}

// windowsOf gives what the windows of a query level divide and sort by.
func windowsOf(m proto.Message) (list []*pg.Node) {
	if w, ok := m.(*pg.WindowDef); ok {
		return slices.Concat(w.PartitionClause, w.OrderClause)
	}
	tree.LevelChildren(m, func(c proto.Message) bool {
		list = append(list, windowsOf(c)...)
		return true
	})
	return list
}

// sharesOne tells whether one of the parameters stands beneath m, and not in a window or sub-query.
func sharesOne(numbers map[int]int, m proto.Message) bool {
	switch n := m.(type) {
	case *pg.WindowDef:
		return false
	case *pg.ParamRef:
		return slices.Contains(slices.Collect(maps.Values(numbers)), int(n.Number))
	}
	return tree.AnyOfLevel(m, func(c proto.Message) bool { return sharesOne(numbers, c) })
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
	if p, ok := m.(*pg.ParamRef); ok {
		numbers[int(p.Location)] = int(p.Number)
	}
	tree.LevelChildren(m, func(c proto.Message) bool {
		parametersOf(c, numbers)
		return true
	})
	return numbers
}
