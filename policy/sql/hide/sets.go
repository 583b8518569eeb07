package hide

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// refuseRespelled refuses a query level with ROLLUP, CUBE or GROUPING SETS of an expression that may stand elsewhere in the level
// written otherwise: a = 'x' for Postgres is a = 'x'::text, too, and both are NULL in the rows of totals. Where the value of one is
// hidden they would be two, and the one that is not grouped by would have a value there, if the columns may be named.
func (h *hider) refuseRespelled(s *pg.SelectStmt, l *level) {
	if !slices.ContainsFunc(s.GroupClause, func(n *pg.Node) bool { return n.GetGroupingSet() != nil }) {
		return
	}
	groups := slices.DeleteFunc(tree.Groups(s), func(n *pg.Node) bool { return n.GetColumnRef() != nil })
	ends := func(m proto.Message) bool {
		n, isNode := m.(*pg.Node)
		return h.opaque(m) || isNode && slices.ContainsFunc(groups, func(g *pg.Node) bool { return l.digests[g] == l.digests[n] && h.differ(g, n) == nil })
	}
	var look func(m proto.Message)
	look = func(m proto.Message) {
		if ends(m) {
			return
		}
		if n, isNode := m.(*pg.Node); isNode && n.GetColumnRef() == nil && n.GetResTarget() == nil && n.GetSortBy() == nil {
			columns := columnsOf(n, ends)
			for _, g := range groups {
				if len(columns) > 0 && (h.hidesBeneath(n) || h.hidesBeneath(g)) && h.sameColumns(columns, columnsOf(g, h.opaque)) {
					f := refusal.Unsupported(tree.Offset(n), "this may be an expression of ROLLUP, CUBE or GROUPING SETS, which is written otherwise there")
					f.Hint = "write the two alike, or compute the expression in a sub-query and use its column"
					h.fail(f)
				}
			}
		}
		tree.Children(m, func(c proto.Message) bool {
			look(c)
			return true
		})
	}
	look(&pg.List{Items: slices.Concat(s.TargetList, []*pg.Node{s.HavingClause}, s.WindowClause, s.DistinctClause, s.SortClause)})
}

// opaque tells what Postgres does not look for groups in.
func (h *hider) opaque(m proto.Message) bool {
	switch x := m.(type) {
	case *pg.SubLink, *pg.GroupingFunc:
		return true
	case *pg.FuncCall:
		return x.Over == nil && h.IsAggregate(x)
	}
	return false
}

// columnsOf gives the columns in m, but for those in what ends the search.
func columnsOf(m proto.Message, ends func(proto.Message) bool) (columns []*pg.ColumnRef) {
	if ends(m) {
		return nil
	}
	if c, isColumn := m.(*pg.ColumnRef); isColumn {
		return []*pg.ColumnRef{c}
	}
	tree.Children(m, func(c proto.Message) bool {
		columns = append(columns, columnsOf(c, ends)...)
		return true
	})
	return columns
}

// sameColumns tells whether two lists hold the same columns, each any number of times.
func (h *hider) sameColumns(a, b []*pg.ColumnRef) bool {
	within := func(a, b []*pg.ColumnRef) bool {
		return !slices.ContainsFunc(a, func(x *pg.ColumnRef) bool {
			return !slices.ContainsFunc(b, func(y *pg.ColumnRef) bool { return h.differ(x, y) == nil })
		})
	}
	return within(a, b) && within(b, a)
}
