package fence

import (
	"maps"
	"math"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// looks tells whether a name in an expression means a relation that came into sight
// before start.
func (j *Judge) looks(n *pg.Node, start int) bool {
	return n != nil && j.earliest(n) < start
}

// earliest gives the serial number of the first relation that is named beneath m.
func (j *Judge) earliest(m proto.Message) int {
	n, isNode := m.(*pg.Node)
	if first, done := j.firsts[n]; isNode && done {
		return first
	}
	first := math.MaxInt
	if ref, ok := m.(*pg.ColumnRef); ok {
		for _, r := range j.names.Reference(ref).Relations {
			first = min(first, r.serial)
		}
	}
	tree.Children(m, func(c proto.Message) bool {
		first = min(first, j.earliest(c))
		return true
	})
	if isNode {
		j.firsts[n] = first
	}
	return first
}

// mentionedIn gives the relations whose columns are named beneath m.
func (j *Judge) mentionedIn(m proto.Message) map[*Relation]bool {
	all := map[*Relation]bool{}
	j.mentions(m, all)
	return all
}

// mentions adds the relations whose columns are named beneath m.
func (j *Judge) mentions(m proto.Message, all map[*Relation]bool) {
	if ref, ok := m.(*pg.ColumnRef); ok {
		for _, r := range j.names.Reference(ref).Relations {
			all[r] = true
		}
	}
	tree.Children(m, func(c proto.Message) bool {
		if s, ok := c.(*pg.SubLink); ok {
			maps.Copy(all, j.mentionedBy(s))
			return true
		}
		j.mentions(c, all)
		return true
	})
}

// mentionedBy is mentions of a sub-query. It is kept, since what stands around it asks too.
func (j *Judge) mentionedBy(s *pg.SubLink) map[*Relation]bool {
	all := j.mentioned[s]
	if all == nil {
		all = map[*Relation]bool{}
		tree.Children(s, func(c proto.Message) bool {
			j.mentions(c, all)
			return true
		})
		j.mentioned[s] = all
	}
	return all
}

// IsPlain tells whether an expression is certainly an unchanged column of a table.
func (j *Judge) IsPlain(n *pg.Node) bool { return j.names.Reference(n.GetColumnRef()).table() != nil }
