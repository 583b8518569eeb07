package analyze

import (
	"cmp"
	"fmt"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// systemColumns are on every table and in no catalog snapshot. They tell of physical
// places and transactions, which are shared by all servers.
var systemColumns = [...]string{"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"}

func isSystemColumn(name string) bool {
	for _, s := range systemColumns {
		if s == name {
			return true
		}
	}
	return false
}

// columnRef resolves a column reference and notes what it reads. Postgres takes r.f
// for the call f(r) where r has no column f, so a qualified name must be found.
func (a *analyzer) columnRef(l *level, n *pg.ColumnRef) {
	fields, at := n.Fields, int(n.Location)
	starred := fields[len(fields)-1].GetAStar() != nil
	if starred {
		fields = fields[:len(fields)-1]
	}
	names, ok := tree.Strings(fields)
	switch {
	case !ok || len(names) > 3 || starred && len(names) > 2:
		a.fail(refusal.Unsupported(at, "a column name with this many parts is not supported"))
	case starred && len(names) == 0:
		a.fail(refusal.Unsupported(at, "* is not supported here"))
	case starred:
		a.wholeRow(l, n, names, at)
	case len(names) == 1:
		a.bareColumn(l, n, names[0], at)
	default:
		a.qualifiedColumn(l, n, names, at)
	}
}

// maxNamesakes is how many columns at one level a bare name may have. Only joins with USING
// make one of several; all else is ambiguous, which is Postgres' to say where it is cheap.
const maxNamesakes = 64

// bareColumn resolves a name without a qualifier: a column at the innermost level that
// has one, else a relation's whole row. A name that is neither is refused here, since
// Postgres, whose tables may just have been altered, might find a column that the
// policy does not know. So is one that is found further out than a relation that may have
// such a column.
func (a *analyzer) bareColumn(l *level, ref *pg.ColumnRef, name string, at int) {
	found, named, here := false, false, l
	var unknown *relation
	for ; l != nil; l = l.outer {
		cols, row := a.meant(l, name, at)
		if named { // Postgres looks for columns further out, but not for another row
			row = nil
		}
		if unknown != nil && (len(cols) > 0 || row != nil) {
			a.fail(unknownName(unknown, name, at))
		}
		if a.fault != nil {
			return
		}
		for _, r := range l.rels {
			if mine := r.named(name); len(mine) > 0 {
				a.resolve(ref, r, mine, l != here)
			}
		}
		if len(cols) > 0 && a.readAll(cols, at) {
			return
		}
		// A guess may be wrong, and then Postgres looks on.
		if row != nil {
			a.readRow(row, at)
			a.resolveRow(ref, row, l != here)
			a.rowOf(row)
			named = true
		}
		found = found || named || len(cols) > 0
		other := l.unknown()
		if other != nil && named && other.name != name { // a column comes before a row
			a.fail(unknownName(other, name, at))
			return
		}
		unknown = cmp.Or(unknown, other)
	}
	switch {
	case name == "old" || name == "new": // in RETURNING, whole rows since Postgres 18
		a.noValue(here, name, at)
	case found || slices.ContainsFunc(a.facts.Tables, (*facts.TableUse).Unknown): // which is refused for that
	case unknown == nil:
		a.noValue(here, name, at)
	default:
		f := refusal.Unsupported(at, "the column "+name+" is not known")
		f.Hint = "name the columns of functions in FROM: f(…) AS f(" + name + ", …)"
		a.fail(f)
	}
}

// meant gives the columns at this very level that a bare name may mean, and the relation whose row it may be.
func (a *analyzer) meant(l *level, name string, at int) ([]column, *relation) {
	cols := l.own(name)
	switch {
	case isSystemColumn(name) && slices.ContainsFunc(l.rels, func(r *relation) bool { return r.Table }):
		a.systemColumn(name, at)
	case len(cols) > maxNamesakes:
		a.fail(&refusal.Refusal{Code: refusal.QueryFailed, SQLState: "42702", Offset: at, Message: "column reference " + name + " is ambiguous", Hint: "qualify it with a table's name"})
	}
	return cols, l.relationHere("", name)
}

// unknownName refuses a bare name that may be a column of a relation of whose columns some are not known.
func unknownName(r *relation, name string, at int) *refusal.Refusal {
	of := "a query in FROM"
	if r != nil && r.name != "" {
		of = r.name
	}
	f := refusal.Unsupported(at, name+" may be a column of "+of+", whose columns are not known")
	f.Hint = "write the table's name and a dot before it; for a whole row, write the name and .*; in GROUP BY, repeat the expression"
	return f
}

// readAll notes what the columns that a name means read, and tells whether the name
// certainly means these.
func (a *analyzer) readAll(cols []column, at int) bool {
	certain := true
	for _, c := range cols {
		a.read(c, at)
		certain = certain && !c.guessed
	}
	return certain
}

func (a *analyzer) qualifiedColumn(l *level, ref *pg.ColumnRef, names []string, at int) {
	column := names[len(names)-1]
	r, of := a.qualifier(l, names[:len(names)-1], at)
	if r == nil {
		return
	}
	cols := r.named(column)
	a.resolve(ref, r, cols, of != l)
	for _, c := range cols {
		a.read(c, at)
	}
	switch {
	case len(cols) > 0:
	case isSystemColumn(column):
		a.systemColumn(column, at)
	case r.known:
		a.noColumn(r.name+"."+column, column, r.sight(), at)
	default:
		// Any name that is no column's may be the call of a function, which a relation's
		// own name is the best place to hide.
		f := refusal.Unsupported(at, fmt.Sprintf("the columns of %s are not known", r.name))
		f.Hint = "name them: " + r.name + "(…) AS " + r.name + "(" + column + ", …)"
		a.fail(f)
	}
}

// qualifier finds the relation that a qualified name starts with, and its level; a fault where there is none.
func (a *analyzer) qualifier(l *level, names []string, at int) (*relation, *level) {
	schema, name := "", names[len(names)-1]
	if len(names) == 2 {
		schema = names[0]
	}
	r, of := l.relation(schema, name)
	if r == nil {
		a.fail(&refusal.Refusal{Code: refusal.QueryFailed, SQLState: "42P01", Offset: at, Message: `missing FROM-clause entry for table "` + name + `"`})
	}
	return r, of
}

// wholeRow notes the use of a relation's whole row, r.*.
func (a *analyzer) wholeRow(l *level, ref *pg.ColumnRef, names []string, at int) {
	if r, of := a.qualifier(l, names, at); r != nil {
		a.readRow(r, at)
		a.resolveRow(ref, r, of != l)
		a.rowOf(r)
	}
}

func (a *analyzer) readRow(r *relation, at int) {
	for _, c := range r.cols {
		a.read(c, at)
	}
}

// indirection admits element access, e[1]. (e).f is the call f(e) where e has no field
// f, and which fields it has is the catalog's to say; (e).* is as many columns as e has,
// which nothing that counts columns could tell.
func (a *analyzer) indirection(l *level, n *pg.A_Indirection) {
	for _, step := range n.Indirection {
		if step.GetAIndices() == nil {
			f := refusal.Unsupported(tree.Offset(n.Arg), "a field of an expression is not supported")
			f.Hint = "write table.column, or put a function that has columns into FROM"
			a.fail(f)
			return
		}
		a.expr(l, step)
	}
	a.expr(l, n.Arg)
}

func (a *analyzer) read(c column, at int) {
	if c.own != nil {
		a.facts.Reads = append(a.facts.Reads, facts.ColumnUse{Table: c.table, Column: c.own, Offset: at})
	}
}

// write notes that a list of INSERT (AccessInsert) or SET (AccessUpdate) names a column of the table.
func (a *analyzer) write(t *tree.Table, name string, access facts.Access, at int) {
	if t == nil || a.fault != nil {
		return
	}
	switch i := t.Index(name); {
	case i >= 0:
		a.facts.Writes = append(a.facts.Writes, facts.ColumnUse{Table: t, Column: &t.Columns[i], Access: access, Offset: at})
	case !isSystemColumn(name): // which Postgres refuses in words of its own
		a.fail(t.NoColumn(name, true, at))
	}
}

func (a *analyzer) systemColumn(name string, at int) {
	a.fail(&refusal.Refusal{Code: refusal.ColumnNotAllowed, Offset: at, Message: "the system column " + name + " is not available",
		Hint: "use a column of the table, such as its primary key"})
}
