package hide

import (
	"hash/maphash"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// link makes equal expressions of a query level, of which GROUP BY, DISTINCT ON, ORDER BY or a window
// repeats one, share their parameters: for Postgres CASE WHEN a = $1 THEN … and CASE WHEN a =
// $2 THEN … are two expressions, and the one is not grouped by the other. A function that returns a set would be
// called twice. Where a literal is hidden in one of them, it is in all.
//
// https://www.postgresql.org/docs/18/queries-table-expressions.html#QUERIES-GROUP
func (h *hider) link(s *pg.SelectStmt) {
	places := slices.Concat([]*pg.Node{s.HavingClause}, s.WindowClause, s.GroupClause, s.DistinctClause, s.SortClause, s.TargetList)
	if !slices.ContainsFunc(places, func(n *pg.Node) bool { return h.hidesBeneath(n) }) {
		return
	}
	level := &level{seed: maphash.MakeSeed(), digests: map[*pg.Node]uint64{}, alike: map[uint64][]*pg.Node{}}
	for _, place := range places {
		level.add(place, true)
	}
	linked := map[*pg.Node]bool{}
	for _, e := range repeated(s, level.sorts) {
		if linked[e] {
			continue
		}
		equal := slices.DeleteFunc(slices.Clone(level.alike[level.digests[e]]), func(n *pg.Node) bool { return h.differ(e, n) != nil })
		for range 2 { // what is hidden in any of them is first hidden in e, and then in all
			for _, n := range equal {
				linked[n] = true
				h.share(e, n)
			}
		}
	}
	h.keepGroups(s, level, places)
}

// hidesBeneath tells whether something beneath m is hidden, in a sub-query too.
func (h *hider) hidesBeneath(m proto.Message) bool {
	if n, isNode := m.(*pg.Node); isNode && h.found[n] != nil {
		return true
	}
	return tree.AnyChild(m, h.hidesBeneath)
}

// repeated gives the expressions by which a query level groups and sorts that hold more than
// a column; list are those by which its aggregates and windows do.
func repeated(s *pg.SelectStmt, list []*pg.Node) []*pg.Node {
	return slices.DeleteFunc(slices.Concat(list, tree.Sorted(s), tree.Groups(s)), func(n *pg.Node) bool {
		return n == nil || n.Node == nil || n.GetColumnRef() != nil || n.GetAConst() != nil
	})
}

// sortedBy gives the expressions of an ORDER BY.
func sortedBy(clause []*pg.Node) (list []*pg.Node) {
	for _, n := range clause {
		list = append(list, n.GetSortBy().GetNode())
	}
	return list
}

// level holds the expressions of a query level.
type level struct {
	seed    maphash.Seed
	digests map[*pg.Node]uint64
	alike   map[uint64][]*pg.Node // by digest
	sorts   []*pg.Node            // by which windows sort and divide, and by which aggregates with DISTINCT sort: one of their arguments
}

// add adds the expressions beneath m, if it is of the level, and gives its digest: that of a column goes by its name alone.
func (l *level) add(m proto.Message, within bool) uint64 { return l.addOf(m, within, false) }

// addOf is add; typed tells that a cast gives an array its type, and with it each literal in the array.
func (l *level) addOf(m proto.Message, within, typed bool) uint64 {
	n, isNode := m.(*pg.Node)
	if isNode {
		typed = typed && (n.GetAArrayExpr() != nil || n.GetAConst() != nil)
	}
	switch x := m.(type) {
	case *pg.ColumnRef:
		name := x.Fields[len(x.Fields)-1]
		return tree.Digest(name, l.seed, func(m proto.Message) uint64 { return l.add(m, false) })
	case *pg.SelectStmt:
		within = false
	case *pg.TypeCast:
		typed = x.Arg.GetAArrayExpr() != nil
	case *pg.FuncCall:
		if within && x.AggDistinct {
			l.sorts = append(l.sorts, sortedBy(x.AggOrder)...)
		}
	case *pg.WindowDef:
		if within {
			l.sorts = slices.Concat(l.sorts, x.PartitionClause, sortedBy(x.OrderClause))
		}
	}
	digest := tree.Digest(m, l.seed, func(c proto.Message) uint64 { return l.addOf(c, within, typed) }, "RowFormat")
	if isNode && within && !typed {
		l.digests[n] = digest
		l.alike[digest] = append(l.alike[digest], n)
	}
	return digest
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
	if isNode && x != y && (h.found[x] != nil || h.found[y] != nil) {
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

// pair makes two nodes hide the same by one parameter. A sub-query is another one in each place: Postgres would not find what is
// grouped by it, and behind GROUPING SETS give a row of the total a value of some row.
func (h *hider) pair(x, y *pg.Node) {
	from := h.found[x]
	if from == nil {
		from = h.found[y]
	}
	one, other := h.add(x, from.Form), h.add(y, from.Form)
	for _, f := range []*facts.Hidden{one, other} {
		if f.Form == facts.AsSubquery {
			f.Form = facts.AsCase
		}
	}
	first, second := one.First(), other.First()
	if first != second {
		second.Root, first.Text = first, first.Text || second.Text
	}
}
