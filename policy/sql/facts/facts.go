package facts

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
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
	Functions []tree.NameUse
	Types     []tree.NameUse
	Operators []tree.NameUse
	Levels    []*Level
	Inserts   []*Insert
	Assigned  []ScopeValue // what SET gives to scope columns

	Stars    []Star
	Filters  []*Filter
	Clauses  []*Clause
	Barriers map[*pg.SelectStmt]bool // queries that need OFFSET 0
	Delayed  []*pg.Node              // sub-queries that need CASE WHEN now() = now(), so that they cost something
	// Hides says that Hidden is known: the caller's values are hidden from the planner.
	Hides  bool
	Hidden []*Hidden
	// Named are the entries of select lists that get the name that Postgres makes of the constant, parameter or scope column in
	// them, which may be hidden or replaced.
	Named map[*pg.Node]string
	// Counts are the placeholders that are the number of a LIMIT or an OFFSET. A plan for any
	// value takes LIMIT $1 for a tenth of all rows: it sorts a table to give the first twenty rows
	// of it. A constant there tells the planner only of rows' number.
	Counts []int32
}

// TableUse is one reference to a table that is no WITH name.
type TableUse struct {
	Table  *tree.Table // nil: the catalog does not have it
	Name   string      // as the caller wrote it
	Access Access
	Offset int

	Node   *pg.RangeVar
	Column string // the scope column as the reference names it: alias and column, quoted
	Target bool   // it is the target of a write, not something in FROM
	// ByPosition says that an INSERT gives it values without naming their columns.
	ByPosition bool
}

// Unknown tells whether the catalog lacks the table.
func (u *TableUse) Unknown() bool { return u.Table == nil }

// ColumnUse is one use of a table's column.
type ColumnUse struct {
	Table  *tree.Table
	Column *tree.Column
	Access Access // AccessInsert or AccessUpdate of what is written; else zero
	Offset int
}

// Level is a query level at which rows of scoped tables are read, updated or deleted, or the WHERE of an ON CONFLICT, which has no Scoped.
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
	Table  *tree.Table
}

// ScopeValueKind is what stands where a scope column gets its value.
type ScopeValueKind uint8

// The kinds of ScopeValue; the zero value is one that can't be replaced.
const (
	ScopeOther   ScopeValueKind = iota // an expression
	ScopeParam                         // a placeholder
	ScopeConst                         // a string
	ScopeColumn                        // a column, in SET or in INSERT … SELECT
	ScopeDefault                       // DEFAULT
)

// ScopeValue is a value that the caller gives to a scope column. It is always replaced.
type ScopeValue struct {
	Kind   ScopeValueKind
	Number int32  // of the placeholder
	Const  string // of the constant
	Table  *tree.Table
	Offset int
}

// Insert is one INSERT into a scoped table.
type Insert struct {
	Table  *tree.Table
	Listed bool // the column list names the scope column
	Named  bool // there is a column list
	Values []ScopeValue
	Offset int

	Stmt *pg.InsertStmt
	Cols []string // named, or implied by the table
}

// Star is a * to be spelled out, since it covers a column that must not be read.
type Star struct {
	Offset int // of the list's entry; of the table's name where the * is that of TABLE t
	Count  int // of the columns that refs spells
	Refs   string
}

// Filter is the WHERE of an UPDATE, a DELETE or an ON CONFLICT DO UPDATE, to be restricted.
type Filter struct {
	Use    *TableUse
	Where  *pg.Node
	From   int  // an offset inside the statement, before its WHERE
	Upsert bool // it belongs to ON CONFLICT, whose SET comes between
}

// NamesScoped tells whether a scoped table is named.
func (f *Facts) NamesScoped() bool {
	return slices.ContainsFunc(f.Tables, func(u *TableUse) bool { return u.Table != nil && u.Table.Scope != "" })
}

// ScopeNumbers gives the placeholders that a scope condition makes the server's id, each
// with a table whose scope column it is compared with.
func (f *Facts) ScopeNumbers() map[int32]*tree.Table {
	numbers := map[int32]*tree.Table{}
	for _, l := range f.Levels {
		for _, c := range l.Conditions {
			numbers[c.Number] = c.Table
		}
	}
	return numbers
}

// ScopeConstants gives the offsets of the constants that the text gives to scope columns.
func (f *Facts) ScopeConstants() map[int]bool {
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
	return slices.ContainsFunc(f.Writes, func(u ColumnUse) bool { return u.Column.Type == tree.TypeName{Schema: "pg_catalog", Name: "interval"} })
}

// DropScopeConditions makes the scope conditions what any other condition is: their placeholders are
// the caller's own, and what restricts the statement is the rewrite alone.
func (f *Facts) DropScopeConditions() {
	for _, l := range f.Levels {
		l.Conditions = nil
	}
}

// ShowConstants leaves the caller's constants where the planner sees them.
func (f *Facts) ShowConstants() { f.Hides, f.Hidden, f.Counts = false, nil, nil }

// Shaped gives the tables on whose shape the statement relies: a * of theirs is spelled
// out, an alias renames their columns by position, or an INSERT fills them by position.
func (f *Facts) Shaped() []*tree.Table {
	var tables []*tree.Table
	for _, use := range f.Tables {
		relies := len(f.Stars) > 0 && use.Table.Hides() || len(use.Node.GetAlias().GetColnames()) > 0 || use.ByPosition
		if relies && !slices.Contains(tables, use.Table) {
			tables = append(tables, use.Table)
		}
	}
	return tables
}
