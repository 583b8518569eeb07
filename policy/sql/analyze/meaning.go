package analyze

import (
	"maps"
	"math"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// looks tells whether a name in an expression means a relation that came into sight
// before start.
func (a *analyzer) looks(n *pg.Node, start int) bool {
	return n != nil && a.earliest(n) < start
}

// earliest gives the serial number of the first relation that is named beneath m.
func (a *analyzer) earliest(m proto.Message) int {
	n, isNode := m.(*pg.Node)
	if first, done := a.firsts[n]; isNode && done {
		return first
	}
	first := math.MaxInt
	if ref, ok := m.(*pg.ColumnRef); ok {
		for _, r := range a.names[ref].relations {
			first = min(first, r.serial)
		}
	}
	tree.Children(m, func(c proto.Message) bool {
		first = min(first, a.earliest(c))
		return true
	})
	if isNode {
		a.firsts[n] = first
	}
	return first
}

// mentions adds the relations whose columns are named beneath m.
func (a *analyzer) mentions(m proto.Message, all map[*relation]bool) {
	if ref, ok := m.(*pg.ColumnRef); ok {
		for _, r := range a.names[ref].relations {
			all[r] = true
		}
	}
	tree.Children(m, func(c proto.Message) bool {
		if s, ok := c.(*pg.SubLink); ok {
			maps.Copy(all, a.mentionedBy(s))
			return true
		}
		a.mentions(c, all)
		return true
	})
}

// mentionedBy is mentions of a sub-query. It is kept, since what stands around it asks too.
func (a *analyzer) mentionedBy(s *pg.SubLink) map[*relation]bool {
	all := a.mentioned[s]
	if all == nil {
		all = map[*relation]bool{}
		tree.Children(s, func(c proto.Message) bool {
			a.mentions(c, all)
			return true
		})
		a.mentioned[s] = all
	}
	return all
}

// meaning is what a column reference was resolved to.
type meaning struct {
	relations []*relation
	typ       tree.TypeName // of the column; zero where it isn't known
	collation string        // the one of its own that a column has, where it is known
	varying   bool          // it is not known to be an unchanged column of a table
	collated  bool          // it may have another collation than its type
	converted bool          // it may be computed where it is read
	single    bool          // see column
	scope     bool          // see column
	ours      bool          // see column
	row       bool          // it is certainly the whole row of a table
}

// resolve notes that a reference means one of some columns of a relation; a name that may
// mean one of several means all.
func (a *analyzer) resolve(ref *pg.ColumnRef, r *relation, cols []column) {
	if ref == nil {
		return
	}
	a.use(cols)
	n, seen := a.names[ref]
	n.relations, n.row = append(n.relations, r), false
	for i, c := range cols {
		n.single = n.single || c.single
		n.scope = n.scope || c.scope
		n.ours = c.ours && (n.ours || !seen && i == 0)
		n.collated = n.collated || c.collated
		n.varying = n.varying || !c.plain
		n.converted = n.converted || c.converted || seen && n.typ != c.typ || seen && c.typ == tree.TypeName{}
		if !seen && i == 0 {
			n.typ, n.collation = c.typ, c.collation
		} else if n.typ != c.typ || n.collation != c.collation {
			n.typ, n.collation = tree.TypeName{}, ""
		}
	}
	a.names[ref] = n
}

// resolveRow notes that a reference means a relation's whole row, or all of its columns.
func (a *analyzer) resolveRow(ref *pg.ColumnRef, r *relation) {
	if ref == nil {
		return
	}
	a.use(r.cols)
	n, seen := a.names[ref]
	n.relations, n.row = append(n.relations, r), r.table && !seen
	n.typ, n.collation = tree.TypeName{}, ""
	n.varying = n.varying || !r.table
	n.single = n.single || slices.ContainsFunc(r.cols, func(c column) bool { return c.single })
	n.scope, n.ours = n.scope || slices.ContainsFunc(r.cols, func(c column) bool { return c.scope }), false
	a.names[ref] = n
	a.convert(ref, r.cols)
}

// tableOf gives the relation of which a reference is certainly an unchanged column; nil
// otherwise.
func (a *analyzer) tableOf(ref *pg.ColumnRef) *relation {
	if meant := a.names[ref]; len(meant.relations) == 1 && !meant.varying {
		return meant.relations[0]
	}
	return nil
}

// isPlain tells whether an expression is certainly an unchanged column of a table.
func (a *analyzer) isPlain(n *pg.Node) bool { return a.tableOf(n.GetColumnRef()) != nil }
