package sqltree

import (
	"fmt"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// systemColumns are on every table and in no catalog snapshot. They tell of physical
// places and transactions, which are shared by all servers.
var systemColumns = [...]string{"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid", "oid"}

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
	names, ok := stringsOf(fields)
	switch {
	case !ok || len(names) > 3 || starred && len(names) > 2:
		a.fail(construct(at, "a column name with this many parts is not supported"))
	case starred && len(names) == 0:
		a.fail(construct(at, "* is not supported here"))
	case starred:
		a.wholeRow(l, names, at)
	case len(names) == 1:
		a.bareColumn(l, names[0], at)
	default:
		a.qualifiedColumn(l, names, at)
	}
}

func (a *analyzer) bareColumn(l *level, name string, at int) {
	for at1 := l; at1 != nil; at1 = at1.outer {
		if cols := at1.own(name); len(cols) > 0 && a.readAll(cols, at) {
			return
		}
	}
	// What follows is also for a computed column of that name: should Postgres not
	// know it, it would look on, and this must not be what it then finds.
	switch {
	case isSystemColumn(name):
		a.systemColumn(name, at)
	case name == "old" || name == "new": // in RETURNING, whole rows since Postgres 18
		a.fail(&Fault{Code: QueryFailed, SQLState: "42703", Offset: at, Message: "column " + name + " does not exist"})
	}
	if r, _ := l.relation("", name); r != nil {
		a.wholeRow(l, []string{name}, at)
	}
	// Otherwise it is an output name, a column of a function in FROM, or a mistake that
	// Postgres will name: a bare name is never a call.
}

// readAll notes what the columns that a name means read, and tells whether all of them
// are a table's own: then the name certainly means these.
func (a *analyzer) readAll(cols []column, at int) bool {
	certain := true
	for _, c := range cols {
		a.read(c, at)
		certain = certain && c.own != nil
	}
	return certain
}

func (a *analyzer) qualifiedColumn(l *level, names []string, at int) {
	column := names[len(names)-1]
	r := a.qualifier(l, names[:len(names)-1], at)
	if r == nil {
		return
	}
	cols := r.named(column)
	for _, c := range cols {
		a.read(c, at)
	}
	switch {
	case len(cols) > 0:
	case isSystemColumn(column):
		a.systemColumn(column, at)
	case r.known:
		a.fail(&Fault{Code: QueryFailed, SQLState: "42703", Offset: at, Message: fmt.Sprintf("column %s.%s does not exist", r.name, column)})
	default:
		// Any name that is no column's may be the call of a function, which a relation's
		// own name is the best place to hide.
		f := construct(at, fmt.Sprintf("the columns of %s are not known", r.name))
		f.Hint = "name them: " + r.name + "(…) AS " + r.name + "(" + column + ", …)"
		a.fail(f)
	}
}

// qualifier finds the relation that a qualified name starts with; a fault where there is none.
func (a *analyzer) qualifier(l *level, names []string, at int) *relation {
	schema, name := "", names[len(names)-1]
	if len(names) == 2 {
		schema = names[0]
	}
	r, _ := l.relation(schema, name)
	if r == nil {
		a.fail(&Fault{Code: QueryFailed, SQLState: "42P01", Offset: at, Message: "missing FROM-clause entry for table " + name})
	}
	return r
}

// wholeRow notes the use of a relation's whole row, which reads all of its columns.
func (a *analyzer) wholeRow(l *level, names []string, at int) {
	r := a.qualifier(l, names, at)
	if r == nil {
		return
	}
	for _, c := range r.cols {
		a.read(c, at)
	}
}

// indirection admits (e).c where e is a relation of the query, and element access. On
// anything else a field name may be a function: ('x').f calls f('x'). (e).* is as many
// columns as e has, which nothing that counts columns could tell.
func (a *analyzer) indirection(l *level, n *pg.A_Indirection) {
	field := false
	for i, step := range n.Indirection {
		switch {
		case step.GetAIndices() != nil:
			a.expr(l, step)
		case i == 0 && step.GetAStar() == nil && a.rowField(l, n.Arg, step):
			field = true
		default:
			f := construct(nodeOffset(n.Arg), "a field of this expression is not supported")
			f.Hint = "a field can be taken of a table's row only: (t).column"
			a.fail(f)
			return
		}
	}
	if !field {
		a.expr(l, n.Arg)
	}
}

// rowField handles (relation).field; false where it is something else.
func (a *analyzer) rowField(l *level, arg, step *pg.Node) bool {
	ref := arg.GetColumnRef()
	if ref == nil || len(ref.Fields) != 1 || ref.Fields[0].GetString_() == nil {
		return false
	}
	name := ref.Fields[0].GetString_().Sval
	if cols, _ := l.columns(name); len(cols) > 0 {
		return false
	}
	if r, _ := l.relation("", name); r == nil {
		return false
	}
	a.qualifiedColumn(l, []string{name, step.GetString_().GetSval()}, int(ref.Location))
	return true
}

func (a *analyzer) read(c column, at int) {
	if c.own != nil {
		a.facts.Reads = append(a.facts.Reads, ColumnUse{c.table, c.own, at})
	}
}

func (a *analyzer) write(t *Table, name string, at int) {
	if t == nil {
		return
	}
	if i := t.index(name); i >= 0 {
		a.facts.Writes = append(a.facts.Writes, ColumnUse{t, &t.Columns[i], at})
	}
}

func (a *analyzer) systemColumn(name string, at int) {
	a.fail(&Fault{Code: ColumnNotAllowed, Offset: at, Message: "the system column " + name + " is not available",
		Hint: "use a column of the table, such as its primary key"})
}
