package hide

import (
	"reflect"
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
	places := slices.Concat([]*pg.Node{s.HavingClause}, s.WindowClause, s.GroupClause, s.DistinctClause, s.SortClause, s.TargetList)
	if !slices.ContainsFunc(places, func(n *pg.Node) bool { return h.hidesBeneath(n) }) {
		return
	}
	level := expressions{}
	for _, place := range places {
		level.add(place)
	}
	for _, e := range repeated(s, level.sorts()) {
		equal := h.equal(e, level)
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
// a column; list are those by which its aggregates do.
func repeated(s *pg.SelectStmt, list []*pg.Node) []*pg.Node {
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

// grouping adds the expressions of an entry of GROUP BY: of a list in brackets each, and what a position in the select list or
// a name there may stand for.
func grouping(n *pg.Node, targets, list []*pg.Node) []*pg.Node {
	parts, at, name := n.GetGroupingSet().GetContent(), -1, ""
	switch x := n.GetNode().(type) {
	case *pg.Node_RowExpr:
		if x.RowExpr.RowFormat == pg.CoercionForm_COERCE_IMPLICIT_CAST {
			parts = x.RowExpr.Args
		}
	case *pg.Node_AConst:
		at = int(x.AConst.GetIval().GetIval())
	case *pg.Node_ColumnRef:
		if names, _ := tree.Strings(x.ColumnRef.Fields); len(names) == 1 {
			name = names[0]
		}
	}
	for _, part := range parts {
		list = grouping(part, targets, list)
	}
	if len(parts) > 0 {
		return list
	}
	starred := false
	for i, t := range targets {
		target := t.GetResTarget()
		starred = starred || tree.Star(target.GetVal()) != nil // how many columns that is does not show here
		made := target.GetName() == ""                         // Postgres makes a name of the expression
		stands := at == i+1 || at > 0 && starred || name != "" && (made || target.Name == name)
		if stands && !slices.Contains(list, target.GetVal()) {
			list = append(list, target.GetVal())
		}
	}
	return append(list, n)
}

// expressions are those of a query level, by kind.
type expressions map[reflect.Type][]*pg.Node

// add adds the expressions beneath m.
func (x expressions) add(m proto.Message) {
	if _, isQuery := m.(*pg.SelectStmt); isQuery {
		return
	}
	if n, isNode := m.(*pg.Node); isNode && n.GetNode() != nil {
		kind := reflect.TypeOf(n.Node)
		x[kind] = append(x[kind], n)
	}
	tree.Children(m, func(c proto.Message) bool {
		x.add(c)
		return true
	})
}

// sorts gives the expressions by which aggregates with DISTINCT sort: each is one of their arguments.
func (x expressions) sorts() (list []*pg.Node) {
	for _, n := range x[reflect.TypeFor[*pg.Node_FuncCall]()] {
		if call := n.GetFuncCall(); call.AggDistinct {
			for _, by := range call.AggOrder {
				list = append(list, by.GetSortBy().GetNode())
			}
		}
	}
	return list
}

// equal gives the expressions of a query level that are equal to e.
func (h *hider) equal(e *pg.Node, level expressions) (equal []*pg.Node) {
	for _, n := range level[reflect.TypeOf(e.Node)] {
		if h.effort++; h.effort > maxLinkEffort {
			h.fail(refusal.Unsupported(tree.Offset(e), "the statement groups and sorts by too many expressions"))
			return nil
		}
		if n != e && h.differ(e, n) == nil {
			equal = append(equal, n)
		}
	}
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
