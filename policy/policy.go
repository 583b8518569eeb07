package policy

import "slices"

// File is a policy file as its author wrote it, checked as far as that goes without a
// database: every key is known, every value is of its kind and in its range. Only
// Parse makes one. The zero value admits no statement, no table and no function.
//
// Names are spelled as in the database's catalog, without quotes and without folding:
// a table made as "Users" is Users here.
type File struct {
	Name        string // metadata.name: lower-case letters, digits and hyphens
	Description string // metadata.description; may be empty
	SHA256      string // of the source's bytes, in lower-case hexadecimal
	Statement   StatementSection
	Scope       ScopeSection
	Planner     Planner
	Tables      []TableSection // in the file's order; no name twice; a table that is not here is closed
	Functions   FunctionsSection
	Limits      Limits // as written: a zero field was not set; see Limits.WithDefaults

	source string
}

// StatementSection says which statements are looked at at all.
type StatementSection struct {
	Kinds    []Kind // none: nothing is admitted
	MaxBytes int    // of the text, in UTF-8; default and maximum 10,240
	MaxNodes int    // of the syntax tree; default 5,000
	MaxDepth int    // of the syntax tree; default 100
}

// ScopeSection says how statements on scoped tables tell that they mean one server.
type ScopeSection struct {
	Column    string // the scope column of tables that name no other; default server_id
	Mode      ScopeMode
	ForeignID ForeignID
}

// ScopeMode says where a statement must carry the condition server_id = ?.
type ScopeMode string

// The scope modes, spelled as in a policy file. The default is Require.
const (
	Require ScopeMode = "require" // at each query level that touches a scoped table
	Once    ScopeMode = "once"    // once per statement
	Inject  ScopeMode = "inject"  // nowhere: the caller knows nothing of the column
)

// Planner says whether Postgres' planner may see the values of statements.
type Planner string

// The ways to plan, spelled as in a policy file. The default is Generic.
const (
	Generic Planner = "generic" // it plans for any value: the plan tells nothing of other servers' rows
	Custom  Planner = "custom"  // it may see them: the order of rows can tell which values other servers hold
)

// ForeignID says what becomes of a value for the scope column that is not the
// server's own id.
type ForeignID string

// The ways with a foreign id, spelled as in a policy file. The default is Replace.
const (
	Replace ForeignID = "replace"
	Reject  ForeignID = "reject"
)

// TableSection is what the file says of one table.
type TableSection struct {
	TableName
	Scoped  bool
	Column  string       // the scope column of a scoped table: its own or the section's; else ""
	Access  []Kind       // what statements may do with it; none: listed, but closed
	Columns []ColumnRule // in the file's order; a column that is not here may be read and written
	Accept  []Acceptance // findings that it is served in spite of
	At      Position     // of the table's name
}

// Reads tells whether the section lets statements read a column of its table.
func (t *TableSection) Reads(column string) bool {
	return slices.Contains(t.Access, Select) && !slices.ContainsFunc(t.Columns, func(c ColumnRule) bool { return c.Name == column && !c.Read })
}

// ColumnRule restricts one column.
type ColumnRule struct {
	Name        string
	Read, Write bool
	At          Position // of the column's name
}

// FunctionsSection lists what may be called: Allow less Deny. None is the default.
type FunctionsSection struct {
	Allow, Deny []FunctionEntry
}

// FunctionEntry is a named set or a single function.
type FunctionEntry struct {
	Set          string // with its @; "" for a single function
	FunctionName        // zero for a set
	At           Position
}

// FunctionName is a function by its qualified name; its overloads share it. A name
// without a schema in the file is one of pg_catalog.
type FunctionName struct{ Schema, Name string }
