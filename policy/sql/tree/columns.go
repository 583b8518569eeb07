package tree

import (
	"iter"

	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
)

// MaxNear is how many columns are named for one that does not exist, as in Postgres.
const MaxNear = 2

// NoColumn is Postgres' own error for a list of a table's columns, in INSERT, SET or COPY, that names one which the
// table does not have. written tells that the list says what is written.
func (t *Table) NoColumn(name string, written bool, at int) *refusal.Refusal {
	return &refusal.Refusal{
		Code: refusal.QueryFailed, SQLState: "42703", Offset: at, Message: `column "` + name + `" of relation "` + t.Name + `" does not exist`,
		Near: refusal.Nearest(name, t.listable(written), MaxNear),
	}
}

// listable goes over the columns that a hint may name in such a list: their names and how each is spelled.
func (t *Table) listable(written bool) iter.Seq2[string, string] {
	return func(yield func(name, spelling string) bool) {
		for _, c := range t.Columns {
			if t.Closed || c.NoRead || written && (c.NoWrite || c.Generated) {
				continue
			}
			if !yield(c.Name, lex.Spell(c.Name)) {
				return
			}
		}
	}
}
