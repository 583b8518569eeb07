// Package fence is the barrier's judgement: which parts of a statement's conditions must be fenced off, so that an
// expression that can raise an error is never evaluated on another server's row.
//
// Where no row-level security stands behind a scoped table, Postgres is free to evaluate
// what the caller wrote on another server's row before it looks at the restriction, and
// at the planner's statistics, which hold all servers' values. What then fails tells of
// that row. Row-level security is a barrier of Postgres' own, with holes: see overlooked.
// So, unless it is known to be leakproof, or row-level security sees to it,
//
//   - a part of a WHERE or ON that looks at such a table is put into CASE WHEN scope
//     column = server THEN (…) END, which also keeps it from the statistics;
//   - one that looks at a sub-query or WITH query which reads such a table is put into a
//     CASE too, and the query gets OFFSET 0, past which nothing is moved;
//   - a query with such an entry in its select list gets OFFSET 0, since conditions on
//     its columns are conditions on these expressions; and so does a LATERAL one that
//     holds such an expression of what stands beside it;
//   - a query with a computed column that a query inside names gets OFFSET 0, with and without row-level security;
//   - a part of a HAVING without aggregates, which Postgres would make a WHERE of, gets one;
//   - a sub-query in a condition that looks at no row of its level gets a CASE which costs something (delay.go).
//
// A Judge goes along with the analysis of one statement. The analysis shows it what comes into sight (Begin, Enter,
// Seen, Mixes, Correlated) and asks it of each condition (Protect, Anchored) and of each sub-query and WITH query (Subquery);
// the Judge asks back only what a name means (Names). It writes the facts' Clauses and Barriers. Inside,
//
//	judge.go, relation.go                what it knows of the statement
//	protect.go                           which parts of a condition are guarded
//	query.go                             which queries are barriers
//	delay.go                             which sub-queries must cost something
//	leakproof*.go, steady.go, scope.go   what is leakproof
//	overlooked.go, kept.go               what row-level security keeps from other servers' rows
//	aggregates.go, reach.go              which aggregates and relations an expression holds
package fence

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/types"
)

// Names is what a Judge asks of the analysis around it.
type Names interface {
	// Reference gives what a column reference was resolved to; zero for one that was not, and for nil.
	Reference(*pg.ColumnRef) Reference
	// WithQuery gives the WITH query that a name in FROM means, and whether that is being analyzed itself; nil for a table.
	WithQuery(*pg.RangeVar) (query *pg.Node, open bool)
}

// Judge judges one statement. Its results are kept, since what stands around an expression asks again.
type Judge struct {
	*types.Types
	names Names
	facts *facts.Facts
	fault *refusal.Refusal // the first

	quiet     map[*pg.Node]bool       // by expression: it is leakproof
	leaky     map[*pg.Node]bool       // something beneath it is not
	overlooks map[*pg.Node]bool       // something beneath it row-level security does not keep
	firsts    map[*pg.Node]int        // the first relation that is named beneath it
	asking    map[*pg.SelectStmt]bool // by query: its select list has a sub-query
	askingIn  map[*Relation]bool      // by relation: it is such a query, or a join of one
	merged    map[*Relation]bool      // that Merged has looked at
	mentioned map[*pg.SubLink]map[*Relation]bool
	starts    map[proto.Message]int  // by query level and sub-query: the first serial number that a relation of it can have
	mixed     map[proto.Message]bool // set operations and joins that may convert values
	seen      Mark                   // so far
	guarded   int                    // relations that guards look at, all in all
}

// Mark is how many references to exposed relations there were at some point.
type Mark struct {
	serial            int // of the last relation
	exposed, unwalled int // references to exposed relations, and to those of them that are not walled
}

// New judges a statement whose names and types are found by others.
func New(t *types.Types, n Names, f *facts.Facts) *Judge {
	return &Judge{
		Types: t, names: n, facts: f,
		quiet: map[*pg.Node]bool{}, leaky: map[*pg.Node]bool{}, overlooks: map[*pg.Node]bool{}, firsts: map[*pg.Node]int{},
		asking: map[*pg.SelectStmt]bool{}, askingIn: map[*Relation]bool{}, merged: map[*Relation]bool{}, mentioned: map[*pg.SubLink]map[*Relation]bool{}, starts: map[proto.Message]int{}, mixed: map[proto.Message]bool{},
	}
}

// Start is the first serial number that a relation which comes into sight from now on can have.
func (j *Judge) Start() int { return j.seen.serial + 1 }

// Begin notes that a query level or a sub-query of an expression begins, and gives its Start.
func (j *Judge) Begin(query proto.Message) (start int) {
	j.starts[query] = j.Start()
	return j.starts[query]
}

// Mixes notes that a set operation or join may convert values.
func (j *Judge) Mixes(m proto.Message) { j.mixed[m] = true }

// Enter notes that a relation comes into sight.
func (j *Judge) Enter(r *Relation) {
	j.seen.serial++
	r.serial, r.entered = j.seen.serial, j.seen.serial
	if r.Reach > 0 {
		r.serial = min(r.serial, r.Reach)
	}
	for _, p := range r.Parts {
		r.serial = min(r.serial, p.serial)
	}
}

// Seen counts a reference to a relation.
func (j *Judge) Seen(r *Relation) {
	if r.Exposed {
		j.seen.exposed++
		if !r.Walled {
			j.seen.unwalled++
		}
	}
}

// Mark is to be asked for before a query is analyzed that Subquery or With judges.
func (j *Judge) Mark() Mark { return j.seen }

// Subquery judges a sub-query in FROM or a WITH query that was analyzed since before, and gives what it is. mixed tells that
// it may convert values; body is it where a barrier can stand in it.
func (j *Judge) Subquery(query *pg.Node, body *pg.SelectStmt, before Mark, mixed bool) Relation {
	r := Relation{Exposed: j.seen.exposed > before.exposed, Walled: j.seen.unwalled == before.unwalled, Body: body, Reach: j.Reach(query)}
	around := r.Reach > 0 && r.Reach <= before.serial // it looks at what stands around
	if around {
		r.Exposed, r.Walled = true, j.seen.unwalled == 0
	}
	// One that reads nothing of the kind ends up in conditions on what does.
	walled := r.Exposed && r.Walled
	if mixed && !walled || j.tells(body, walled) || around && j.tellsWithin(query, walled) || !r.Exposed && j.tellsWithin(query, true) {
		j.barrier(body)
	}
	return r
}
