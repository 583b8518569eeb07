package hide

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// maxLinkEffort bounds the comparisons of expressions that GROUP BY and its like cost in a
// statement.
const maxLinkEffort = 20_000

// link makes equal expressions of a query level, of which GROUP BY, DISTINCT ON or ORDER BY
// repeats one, share their parameters: for Postgres CASE WHEN a = $1 THEN … and CASE WHEN a =
// $2 THEN … are two expressions, and the one is not grouped by the other. Where a literal is
// hidden in one of them, it is in all.
//
// https://www.postgresql.org/docs/18/queries-table-expressions.html#QUERIES-GROUP
func (h *hider) link(s *pg.SelectStmt) {
	repeated := h.repeated(s)
	if len(repeated) == 0 {
		return
	}
	places := slices.Concat([]*pg.Node{s.HavingClause}, s.WindowClause, repeated)
	for _, n := range s.TargetList {
		places = append(places, n.GetResTarget().GetVal())
	}
	for _, e := range repeated {
		var equal []*pg.Node
		for _, place := range places {
			equal = h.equalBeneath(e, place, equal)
		}
		for range 2 { // what is hidden in any of them is first hidden in e, and then in all
			for _, n := range equal {
				h.share(e, n)
			}
		}
	}
}

// repeated gives the expressions by which a query level groups and sorts that hold more than
// a column or a position. A list in brackets groups by each of its expressions, and ROW (…) as a whole.
func (h *hider) repeated(s *pg.SelectStmt) (list []*pg.Node) {
	var note func(n *pg.Node)
	noteAll := func(all []*pg.Node) {
		for _, n := range all {
			note(n)
		}
	}
	note = func(n *pg.Node) {
		switch x := n.GetNode().(type) {
		case *pg.Node_GroupingSet:
			noteAll(x.GroupingSet.Content)
		case *pg.Node_SortBy:
			note(x.SortBy.Node)
		case nil, *pg.Node_ColumnRef, *pg.Node_AConst:
		default:
			list = append(list, n)
			noteAll(n.GetRowExpr().GetArgs())
		}
	}
	noteAll(slices.Concat(s.GroupClause, s.DistinctClause, s.SortClause))
	return list
}

// equalBeneath adds the expressions beneath m, at the same query level, that are equal to e.
func (h *hider) equalBeneath(e *pg.Node, m proto.Message, equal []*pg.Node) []*pg.Node {
	if _, isQuery := m.(*pg.SelectStmt); isQuery || h.fault != nil {
		return equal
	}
	if n, ok := m.(*pg.Node); ok && n != e {
		if h.effort++; h.effort > maxLinkEffort {
			h.fail(refusal.Unsupported(tree.Offset(e), "the statement groups and sorts by too many expressions"))
			return equal
		}
		if n != nil && h.differ(e, n) == nil {
			return append(equal, n)
		}
	}
	tree.Children(m, func(c proto.Message) bool {
		equal = h.equalBeneath(e, c, equal)
		return h.fault == nil
	})
	return equal
}

// differ gives what makes two expressions of a query level two to Postgres, which compares them with their names resolved.
func (h *hider) differ(a, b proto.Message) error {
	x, isColumn := a.(*pg.ColumnRef)
	y, _ := b.(*pg.ColumnRef)
	if isColumn && y != nil && h.Same(x, y) {
		return nil
	}
	return tree.Compare(a, b, h.differ)
}

// share makes two equal expressions hide the same, literal by literal.
func (h *hider) share(a, b proto.Message) {
	x, isNode := a.(*pg.Node)
	y, _ := b.(*pg.Node)
	if isNode && (h.found[x] != nil || h.found[y] != nil) {
		h.pair(x, y)
	}
	if _, isColumn := a.(*pg.ColumnRef); isColumn { // one of the two may be qualified
		return
	}
	var left, right []proto.Message
	tree.Children(a, func(c proto.Message) bool { left = append(left, c); return true })
	tree.Children(b, func(c proto.Message) bool { right = append(right, c); return true })
	for i := range left {
		h.share(left[i], right[i])
	}
}

func (h *hider) pair(x, y *pg.Node) {
	from := h.found[x]
	if from == nil {
		from = h.found[y]
	}
	first, second := h.add(x, from.Form).First(), h.add(y, from.Form).First()
	if first != second {
		second.Root, first.Text = first, first.Text || second.Text
	}
}

// holdsColumn tells whether a column stands in m, at its own query level.
func holdsColumn(m proto.Message) bool {
	switch m.(type) {
	case *pg.ColumnRef:
		return true
	case *pg.SubLink:
		return false
	}
	return tree.AnyChild(m, holdsColumn)
}
