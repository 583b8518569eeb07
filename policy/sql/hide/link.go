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
	if !slices.ContainsFunc(places, func(n *pg.Node) bool { return h.hidesBeneath(n) }) {
		return
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

// hidesBeneath tells whether something beneath m is hidden, in a sub-query too.
func (h *hider) hidesBeneath(m proto.Message) bool {
	if n, isNode := m.(*pg.Node); isNode && h.found[n] != nil {
		return true
	}
	return tree.AnyChild(m, h.hidesBeneath)
}

// repeated gives the expressions by which a query level groups and sorts that hold more than
// a column.
func (h *hider) repeated(s *pg.SelectStmt) (list []*pg.Node) {
	for _, n := range slices.Concat(s.DistinctClause, s.SortClause) {
		if sort := n.GetSortBy(); sort != nil {
			n = sort.Node
		}
		list = append(list, n)
	}
	for _, n := range s.GroupClause {
		list = grouping(n, s.TargetList, list)
	}
	return slices.DeleteFunc(list, func(n *pg.Node) bool {
		return n == nil || n.Node == nil || n.GetColumnRef() != nil || n.GetAConst() != nil
	})
}

// grouping adds the expressions of an entry of GROUP BY: of a list in brackets each, and of a position in the select list or
// a name there what that stands for.
func grouping(n *pg.Node, targets, list []*pg.Node) []*pg.Node {
	switch x := n.GetNode().(type) {
	case *pg.Node_GroupingSet:
		for _, c := range x.GroupingSet.Content {
			list = grouping(c, targets, list)
		}
		return list
	case *pg.Node_RowExpr:
		if x.RowExpr.RowFormat != pg.CoercionForm_COERCE_IMPLICIT_CAST {
			break
		}
		for _, c := range x.RowExpr.Args {
			list = grouping(c, targets, list)
		}
		return list
	case *pg.Node_AConst:
		if at := int(x.AConst.GetIval().GetIval()); 0 < at && at <= len(targets) {
			n = targets[at-1].GetResTarget().GetVal()
		}
	case *pg.Node_ColumnRef:
		name, _ := tree.Strings(x.ColumnRef.Fields)
		for _, t := range targets {
			if len(name) == 1 && t.GetResTarget().GetName() == name[0] {
				n = t.GetResTarget().GetVal()
			}
		}
	}
	return append(list, n)
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
	return tree.Compare(a, b, h.differ, "RowFormat")
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
