package hide

import (
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
func (h *hider) link(s *pg.SelectStmt) {
	repeated := h.repeated(s)
	if len(repeated) == 0 {
		return
	}
	places := append([]*pg.Node{s.HavingClause}, repeated...)
	for _, n := range s.TargetList {
		places = append(places, n.GetResTarget().GetVal())
	}
	for _, e := range repeated {
		for _, place := range places {
			h.linkBeneath(e, place)
		}
	}
}

// repeated gives the expressions by which a query level groups and sorts that hold more than
// a column or a position.
func (h *hider) repeated(s *pg.SelectStmt) (list []*pg.Node) {
	var note func(n *pg.Node)
	note = func(n *pg.Node) {
		switch x := n.GetNode().(type) {
		case *pg.Node_GroupingSet:
			for _, c := range x.GroupingSet.Content {
				note(c)
			}
		case *pg.Node_SortBy:
			note(x.SortBy.Node)
		case nil, *pg.Node_ColumnRef, *pg.Node_AConst:
		default:
			list = append(list, n)
		}
	}
	for _, clause := range [][]*pg.Node{s.GroupClause, s.DistinctClause, s.SortClause} {
		for _, n := range clause {
			note(n)
		}
	}
	return list
}

// linkBeneath links an expression with each equal one beneath m, at the same query level.
func (h *hider) linkBeneath(e *pg.Node, m proto.Message) {
	if _, isQuery := m.(*pg.SelectStmt); isQuery || h.fault != nil {
		return
	}
	if n, ok := m.(*pg.Node); ok && n != e {
		if h.effort++; h.effort > maxLinkEffort {
			h.fail(refusal.Unsupported(tree.Offset(e), "the statement groups and sorts by too many expressions"))
			return
		}
		if n != nil && tree.Equal(e, n) {
			h.share(e, n)
			return
		}
	}
	tree.Children(m, func(c proto.Message) bool {
		h.linkBeneath(e, c)
		return h.fault == nil
	})
}

// share makes two equal expressions hide the same, literal by literal.
func (h *hider) share(a, b proto.Message) {
	x, isNode := a.(*pg.Node)
	y, _ := b.(*pg.Node)
	if isNode && (h.found[x] != nil || h.found[y] != nil) {
		h.pair(x, y)
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
