package verify

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// scope is what the names of one query level mean to the verifier.
type scope struct {
	outer     *scope
	relations map[string]columns
}

// columns is what the verifier knows of a relation in FROM.
type columns struct {
	table    bool // readable are all of its columns that may be read
	readable []string
	hidden   []string // columns that must not be read; anyColumn for every one
}

// anyColumn stands for every column of a relation.
const anyColumn = "*"

// enter opens a query level, or a write; what it returns closes it.
func (v *verifier) enter() (leave func()) {
	ctes, outer := v.ctes, v.scope
	v.scope = &scope{outer: outer, relations: map[string]columns{}}
	return func() { v.ctes, v.scope = ctes, outer }
}

// note files a relation. Where two have the same name, neither is a table any more.
func (s *scope) note(name string, c columns) {
	if other, taken := s.relations[name]; taken {
		c = columns{hidden: append(other.hidden, c.hidden...)}
	}
	if name != "" {
		s.relations[name] = c
	}
}

// asNamed gives a table's columns as a reference names them.
func asNamed(v *pg.RangeVar, t *tree.Table) columns {
	names, _ := tree.Strings(v.Alias.GetColnames())
	known := columns{table: true}
	for i, c := range t.Columns {
		if i < len(names) {
			c.Name = names[i]
		}
		if c.NoRead {
			known.hidden = append(known.hidden, c.Name)
		} else {
			known.readable = append(known.readable, c.Name)
		}
	}
	return known
}

// of gives what a relation's name means here.
func (s *scope) of(name string) columns {
	for ; s != nil; s = s.outer {
		if c, seen := s.relations[name]; seen {
			return c
		}
	}
	return columns{}
}

// hides tells whether a relation has columns that must not be read.
func (s *scope) hides(relation string) bool {
	c := s.of(relation)
	return len(c.hidden) > 0
}

// mayRead tells whether relation.column is a column that may be read, as far as the
// relation is known.
func (s *scope) mayRead(relation, column string) bool {
	c := s.of(relation)
	return !slices.Contains(c.hidden, column) && !slices.Contains(c.hidden, anyColumn) && (!c.table || slices.Contains(c.readable, column))
}

// mayReadBare tells whether a name can be nothing but a column that may be read.
func (s *scope) mayReadBare(column string) bool {
	for ; s != nil; s = s.outer {
		for relation, c := range s.relations {
			if relation == column || slices.Contains(c.hidden, column) {
				return false
			}
		}
	}
	return true
}

// covered gives the columns of the tables in a join that must not be read.
func (v *verifier) covered(sides ...*pg.Node) (hidden []string) {
	for _, n := range sides {
		if j := n.GetJoinExpr(); j != nil {
			hidden = append(hidden, v.covered(j.Larg, j.Rarg)...)
		}
		r := n.GetRangeVar()
		if r == nil || r.Schemaname == "" && slices.Contains(v.ctes, r.Relname) {
			continue
		}
		if t := v.catalog.Table(r.Schemaname, r.Relname); t != nil {
			hidden = append(hidden, asNamed(r, t).hidden...)
		}
	}
	return hidden
}
