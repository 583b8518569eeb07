package analyze

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/fence"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// cte is one WITH name, in a list that grows inwards: what is visible at a place is
// this one and, unless it bears the same name, everything in outer.
type cte struct {
	name  string
	cols  []column
	known bool // cols are the query's columns
	// partial: as output.partial.
	partial bool
	fence.Relation
	open  bool // its query is being analyzed: a reference is to itself
	ahead bool // its query stands further on
	query *pg.Node
	outer *cte

	repeats        bool // each reference to it has it planned again
	uses           int  // references so far
	recursive      bool // its query refers to it
	weight, stages int  // of its query
}

// find gives the WITH query that an unqualified name means; nil for none.
func (c *cte) find(name string) *cte {
	for ; c != nil; c = c.outer {
		if c.name == name {
			return c
		}
	}
	return nil
}

// column is one column of something in FROM.
type column struct {
	name  string
	ref   string        // how an expanded * spells it
	table *tree.Table   // whose unchanged column it is; nil for a computed one
	own   *tree.Column  // that column; nil for a computed one
	typ   tree.TypeName // zero where it isn't known
	// untyped: it is a placeholder or literal, which takes its type from where it stands.
	untyped bool
	// plain: it is an unchanged column of a table.
	plain bool
	// collated: it may have another collation than its type: collation, or "" for an unknown one.
	collated  bool
	collation string
	// converted: it is computed where it is read, which may fail: a virtual generated column,
	// what USING made of two columns that may differ in type, or a column of a function that Postgres may inline.
	converted bool
	// single: it is of a function in FROM that gives one value, or is made of such a column. Postgres may know its value.
	single bool
	// scalar: it is certainly no row, nor made of one.
	scalar bool
	// scope: it is a scope column, or is made of one. ours: it is one, unchanged, so it holds the server's id or NULL.
	scope, ours bool
	// sealed: its query is a barrier, past which no comparison is moved.
	sealed bool
	// weight is how many expressions it stands for, beside itself.
	weight int
	// guessed: nobody wrote the name, it is what Postgres makes of an expression.
	guessed bool
}

func (c column) noRead() bool { return c.own != nil && c.own.NoRead }

// scopes tells whether the column is the scope column of a scoped table.
func (c column) scopes() bool { return c.own != nil && c.table.Scope == c.own.Name }

// relation is one name in FROM that a column reference can be qualified with.
type relation struct {
	name   string // "" where it has none
	schema string // set for a table without an alias: public.t.c names its columns
	cols   []column
	known  bool // cols are all there are; otherwise some may be missing
	fence.Relation
	single bool // it is a function that gives one value, which its name means, too
	// partial: it has columns that are not known, and they may stand before those that are.
	partial bool
	joined  bool              // it is a join with renamed columns: what a * of it becomes could not be proved
	inside  []*facts.TableUse // what a sub-query names, which a lock of its rows reaches
}

// hides tells whether some column of the relation must not be read.
func (r *relation) hides() bool {
	for _, c := range r.cols {
		if c.noRead() {
			return true
		}
	}
	return false
}

// readable spells the columns that may be read; nil where two bear the same name, since
// such a name is ambiguous.
func (r *relation) readable() []string {
	if r.joined {
		return nil
	}
	refs := []string{}
	seen := map[string]bool{}
	for _, c := range r.cols {
		if seen[c.name] {
			return nil
		}
		seen[c.name] = true
		if !c.noRead() {
			refs = append(refs, c.ref)
		}
	}
	return refs
}

// named gives the relation's columns of a name, to be read only: one column, as there nearly
// always is, is given where it stands.
func (r *relation) named(name string) []column {
	var found []column
	for i := range r.cols {
		switch {
		case r.cols[i].name != name:
		case found == nil:
			found = r.cols[i : i+1 : i+1]
		default:
			found = append(found, r.cols[i])
		}
	}
	return found
}

// level is one query level: what stands in its FROM, and what a correlated reference sees beyond.
type level struct {
	outer *level
	ctes  *cte
	rels  []*relation
	start int          // see fence.Level
	facts *facts.Level // nil for the pseudo-level of a set operation or VALUES
}

// judged is the level as the barrier's judgement sees it.
func (l *level) judged() fence.Level { return fence.Level{Relations: judged(l.rels), Start: l.start} }

func judged(rels []*relation) []*fence.Relation {
	list := make([]*fence.Relation, len(rels))
	for i, r := range rels {
		list[i] = &r.Relation
	}
	return list
}

// relation finds what a qualifier means, innermost level first.
func (l *level) relation(schema, name string) (*relation, *level) {
	for ; l != nil; l = l.outer {
		if r := l.relationHere(schema, name); r != nil {
			return r, l
		}
	}
	return nil, nil
}

// relationHere finds what a qualifier means at this very level.
func (l *level) relationHere(schema, name string) *relation {
	for _, r := range l.rels {
		if r.name == name && (schema == "" || r.schema == schema) {
			return r
		}
	}
	return nil
}

// columns finds what an unqualified name means: the columns of that name at the
// innermost level that has any.
func (l *level) columns(name string) ([]column, *level) {
	for ; l != nil; l = l.outer {
		if found := l.own(name); len(found) > 0 {
			return found, l
		}
	}
	return nil, nil
}

// unknown gives a relation at this very level of whose columns some are not known; nil where all are. A table that is not known
// is refused for itself.
func (l *level) unknown() *relation {
	for _, r := range l.rels {
		if !r.known && !r.Table {
			return r
		}
	}
	return nil
}

// own gives the columns of a name at this very level, to be read only.
func (l *level) own(name string) []column {
	var found []column
	for _, r := range l.rels {
		if mine := r.named(name); found == nil {
			found = mine
		} else {
			found = append(found, mine...)
		}
	}
	return found
}

// rename applies an alias' column list.
func rename(cols []column, names []*pg.Node) []column {
	list, _ := tree.Strings(names)
	renamed := append([]column(nil), cols...)
	for i, name := range list {
		if i < len(renamed) {
			renamed[i].name, renamed[i].guessed = name, false
		} else {
			renamed = append(renamed, column{name: name})
		}
	}
	return renamed
}

// qualify spells each column with the name of its relation.
func qualify(rel string, cols []column) []column {
	out := append([]column(nil), cols...)
	for i := range out {
		out[i].ref = lex.Quote(rel) + "." + lex.Quote(out[i].name)
	}
	return out
}
