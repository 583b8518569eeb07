package sqltree

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// Access is what a statement does to the rows of a table; a set.
type Access uint8

// The accesses.
const (
	AccessSelect Access = 1 << iota
	AccessInsert
	AccessUpdate
	AccessDelete
)

// Facts is what a statement is about: all that the rules judge and the rewrite edits.
// Offsets are byte offsets into the translated text.
type Facts struct {
	Kind    Access // of the outermost statement: exactly one bit
	Kinds   Access // of all statements in it, those in WITH included
	Locks   bool   // some query locks rows (FOR UPDATE and its like)
	Returns bool   // it answers rows
	Zones   bool   // it may make time zones out of its values: see zones.go
	Weight  int    // of its plan, in expressions: see weight.go
	// Relations is how many tables, functions and WITH queries are in its plan, each as often as it is there.
	Relations int
	// RecordBytes is about what the types of its rows take in a backend, which keeps each until its end.
	RecordBytes int

	Tables    []*TableUse
	Reads     []ColumnUse
	Writes    []ColumnUse
	Functions []NameUse
	Types     []NameUse
	Operators []NameUse
	Levels    []*Level
	Inserts   []*Insert
	Assigned  []ScopeValue // what SET gives to scope columns

	stars    []star
	filters  []*filter
	clauses  []*clause
	barriers map[*pg.SelectStmt]bool // queries that need OFFSET 0
	hides    bool                    // what must be hidden from the planner is known
	hidden   []*hidden               // and this is it
	counts   []int32                 // placeholders of LIMIT and OFFSET
}

// TableUse is one reference to a table that is no WITH name.
type TableUse struct {
	Table  *Table // nil: the catalog does not have it
	Name   string // as the caller wrote it
	Access Access
	Offset int

	node   *pg.RangeVar
	column string // the scope column as the reference names it: alias and column, quoted
	target bool   // it is the target of a write, not something in FROM
}

func (u *TableUse) unknown() bool { return u.Table == nil }

// ColumnUse is one use of a table's column.
type ColumnUse struct {
	Table  *Table
	Column *Column
	Offset int
}

// NameUse is one use of a function, type or operator. Schema is "" for a bare name.
type NameUse struct {
	Schema, Name string
	Offset       int
}

// String gives the name as the caller wrote it.
func (n NameUse) String() string {
	if n.Schema == "" {
		return n.Name
	}
	return n.Schema + "." + n.Name
}

// Level is a query level at which rows of scoped tables are read, updated or deleted.
type Level struct {
	Scoped     []*TableUse
	Conditions []Condition
	Offset     int
}

// Condition is one scope condition: the placeholder that it compares the scope column
// of Table with.
type Condition struct {
	Number int32
	Offset int // of the placeholder
	Table  *Table
}

// ScopeValueKind is what stands where a scope column gets its value.
type ScopeValueKind uint8

// The kinds of ScopeValue; the zero value is one that can't be replaced.
const (
	ScopeOther ScopeValueKind = iota
	ScopeParam
	ScopeConst
	ScopeColumn
	ScopeDefault
)

// ScopeValue is a value that the caller gives to a scope column. It is always replaced.
type ScopeValue struct {
	Kind   ScopeValueKind
	Number int32  // of the placeholder
	Const  string // of the constant
	Table  *Table
	Offset int
}

// Insert is one INSERT into a scoped table.
type Insert struct {
	Table  *Table
	Listed bool // the column list names the scope column
	Named  bool // there is a column list
	Values []ScopeValue
	Offset int

	stmt *pg.InsertStmt
	cols []string // named, or implied by the table
}

// star is a * to be spelled out, since it covers a column that must not be read.
type star struct {
	offset int // of the list's entry; of the table's name where the * is that of TABLE t
	count  int // of the columns that refs spells
	refs   string
}

// filter is the WHERE of an UPDATE, a DELETE or an ON CONFLICT DO UPDATE, to be restricted.
type filter struct {
	use    *TableUse
	where  *pg.Node
	from   int  // an offset inside the statement, before its WHERE
	upsert bool // it belongs to ON CONFLICT, whose SET comes between
}

// Demands is what Verify takes from the facts: which placeholders mean the server's id,
// which parts of conditions must be guarded, which queries be barriers, and what is hidden
// from the planner.
type Demands struct {
	server   map[int32]*Table
	guards   map[*pg.Node]*guard
	barriers map[*pg.SelectStmt]bool
	hides    bool
	hidden   map[*pg.Node]*hidden
}

// Demands gives what the rewrite of the statement must satisfy.
func (f *Facts) Demands() Demands {
	d := Demands{server: f.ScopeNumbers(), guards: map[*pg.Node]*guard{}, barriers: f.barriers, hides: f.hides, hidden: map[*pg.Node]*hidden{}}
	for _, h := range f.hidden {
		d.hidden[h.node] = h
	}
	for _, c := range f.clauses {
		for part, g := range c.guards {
			d.guards[part] = g
		}
	}
	return d
}

// ScopeNumbers gives the placeholders that a scope condition makes the server's id, each
// with a table whose scope column it is compared with.
func (f *Facts) ScopeNumbers() map[int32]*Table {
	numbers := map[int32]*Table{}
	for _, l := range f.Levels {
		for _, c := range l.Conditions {
			numbers[c.Number] = c.Table
		}
	}
	return numbers
}

// scopeConstants gives the offsets of the constants that the text gives to scope columns.
func (f *Facts) scopeConstants() map[int]bool {
	offsets := map[int]bool{}
	for _, ins := range f.Inserts {
		for _, v := range ins.Values {
			offsets[v.Offset] = v.Kind == ScopeConst
		}
	}
	for _, v := range f.Assigned {
		offsets[v.Offset] = v.Kind == ScopeConst
	}
	return offsets
}

// WritesIntervals tells whether a column of type interval gets values.
func (f *Facts) WritesIntervals() bool {
	return slices.ContainsFunc(f.Writes, func(u ColumnUse) bool { return u.Column.Type == TypeName{"pg_catalog", "interval"} })
}

// Ordinary makes the scope conditions what any other condition is: their placeholders are
// the caller's own, and what restricts the statement is the rewrite alone.
func (f *Facts) Ordinary() {
	for _, l := range f.Levels {
		l.Conditions = nil
	}
}

// Hides tells whether the caller's values are hidden from the planner.
func (f *Facts) Hides() bool { return f.hides }

// ShowConstants leaves the caller's constants where the planner sees them.
func (f *Facts) ShowConstants() { f.hides, f.hidden, f.counts = false, nil, nil }

// Shaped gives the tables on whose shape the statement relies: a * of theirs is spelled
// out, or an alias renames their columns by position.
func (f *Facts) Shaped() []*Table {
	var tables []*Table
	for _, use := range f.Tables {
		relies := len(f.stars) > 0 && use.Table.hides() || len(use.node.GetAlias().GetColnames()) > 0
		if relies && !slices.Contains(tables, use.Table) {
			tables = append(tables, use.Table)
		}
	}
	return tables
}
