package fence

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
)

// Relation is what a Judge must know of a name in FROM.
type Relation struct {
	Table    bool            // it is a table
	Exposed  bool            // its rows come from a scoped table
	Walled   bool            // and from none with no row-level security behind it
	Use      *facts.TableUse // the table that it is
	Nullable bool            // an outer join can make a row of NULLs of it
	Marker   string          // of a Nullable table: spells a column that is NULL in such a row alone; "" where it has none
	Body     *pg.SelectStmt  // the sub-query or WITH query that it is, where a barrier can stand
	Parts    []*Relation     // of a join that it is a name for
	Masked   bool            // the parts can't be named any more
	Rows     bool            // it is a function that gives rows: its columns stay columns
	Reach    int             // the first relation that it is made of, where that is another one; else 0
	serial   int             // counts relations as they come into sight
	entered  int             // its place in that order; serial is lower if it is made of earlier relations
}

// Reference is what a Judge must know of a column reference.
type Reference struct {
	Relations []*Relation
	Varying   bool // it is not known to be an unchanged column of a table
	Converted bool // it may be computed where it is read
	Scope     bool // it is a scope column, or made of one
	Ours      bool // it is a scope column, unchanged, so it holds the server's id or NULL
	Whole     bool // it may be a whole row
	Single    bool // it is of a function in FROM that gives one value, or made of such a column
}

// table gives the relation of which a reference is certainly an unchanged column; nil otherwise.
func (r Reference) table() *Relation {
	if len(r.Relations) == 1 && !r.Varying {
		return r.Relations[0]
	}
	return nil
}

// exposedAs looks at the parts of a join that cannot be named any more; others stand
// beside their common name.
func (r *Relation) exposedAs() (exposed, walled bool) {
	if !r.Masked {
		return r.Exposed, r.Walled
	}
	walled = true
	for _, p := range r.Parts {
		e, w := p.exposedAs()
		exposed, walled = exposed || e, walled && (w || !e)
	}
	return exposed, walled
}

// among tells whether the relation, or a name for it and others, is in the set.
func (r *Relation) among(mentioned map[*Relation]bool) bool {
	if mentioned[r] {
		return true
	}
	for m := range mentioned {
		for _, p := range m.Parts {
			if p == r {
				return true
			}
		}
	}
	return false
}
