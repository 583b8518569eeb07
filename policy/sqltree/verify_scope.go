package sqltree

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// scope is what the names of one query level mean to the verifier: for each relation seen
// in its FROM the columns that must not be read, none for what is no table.
type scope struct {
	outer  *scope
	hidden map[string][]string
}

// anyColumn stands for every column of a relation.
const anyColumn = "*"

// hides tells whether a relation's column must not be read.
func (s *scope) hides(relation, column string) bool {
	hidden := s.of(relation)
	return slices.Contains(hidden, column) || slices.Contains(hidden, anyColumn)
}

// enter opens a query level, or a write; what it returns closes it.
func (v *verifier) enter() (leave func()) {
	ctes, outer := v.ctes, v.scope
	v.scope = &scope{outer: outer, hidden: map[string][]string{}}
	return func() { v.ctes, v.scope = ctes, outer }
}

func (s *scope) note(alias *pg.Alias, hidden []string) {
	if alias != nil {
		s.hidden[alias.Aliasname] = append(s.hidden[alias.Aliasname], hidden...)
	}
}

// table notes a table's columns that must not be read, as the reference names them.
func (s *scope) table(v *pg.RangeVar, t *Table) {
	names, _ := stringsOf(v.Alias.GetColnames())
	s.note(&pg.Alias{Aliasname: refname(v)}, hiddenColumns(t, names))
}

func hiddenColumns(t *Table, names []string) (hidden []string) {
	for i, c := range t.Columns {
		switch {
		case c.NoRead && i < len(names):
			hidden = append(hidden, names[i])
		case c.NoRead:
			hidden = append(hidden, c.Name)
		}
	}
	return hidden
}

// of gives the columns that must not be read of the relation that a name means here.
func (s *scope) of(name string) []string {
	for ; s != nil; s = s.outer {
		if hidden, seen := s.hidden[name]; seen {
			return hidden
		}
	}
	return nil
}

// hidesBare tells whether a column's name without a relation's may mean a column that
// must not be read.
func (s *scope) hidesBare(column string) bool {
	for ; s != nil; s = s.outer {
		for _, hidden := range s.hidden {
			if slices.Contains(hidden, column) {
				return true
			}
		}
	}
	return false
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
		if t := v.catalog.table(r.Schemaname, r.Relname); t != nil {
			names, _ := stringsOf(r.Alias.GetColnames())
			hidden = append(hidden, hiddenColumns(t, names)...)
		}
	}
	return hidden
}
