package policy

import "slices"

// Schema is a snapshot of the database's catalog, cut down to what a policy names.
// It is plain data: upstream reads it, Compile consumes it, nobody changes it after.
type Schema struct {
	Tables []Table
	Types  []Type // types outside pg_catalog that the tables' columns have
	Given  []GivenType
	// Namesakes are what statements, or the application's, find outside pg_catalog under a name of
	// pg_catalog's.
	Namesakes []Namesake
	// Bare are the tables, of all that the database has, that the application means by the bare names
	// of the policy's. A name that is not among them is none that it finds.
	Bare []TableName
}

// Table is one table of the snapshot. OID and Columns let a plan that depends on
// the table's shape (an expanded *) be checked when it runs.
type Table struct {
	Schema, Name string
	OID          uint32
	Columns      []Column
	Keys         [][]string // the column names of each unique index; an expression is ""

	// Walled tells that row-level security keeps the role that reads the catalog, and
	// runs the statements, to the rows of the server that a signed setting names.
	Walled bool
	// Lacks says, where Walled is false, what row-level security lacks there, in words for
	// an operator; "" where nobody asked.
	Lacks string
	// Dark tells that row-level security hides every row of it, because no policy is for the
	// role, or what the statements are signed with, if anything, is not accepted.
	Dark bool
	// Findings are what tenantgate doctor finds of it, in the order of name and object; none where
	// nobody asked.
	Findings []Finding
}

// Column is one column, in the table's order; dropped columns are absent.
type Column struct {
	Name       string
	TypeSchema string // pg_type's namespace, e.g. pg_catalog
	TypeName   string // pg_type.typname, e.g. text, int8, _text
	Base       Type   // the type that a domain is over; zero for other types
	NotNull    bool   // no row has NULL in it: the table and all that inherit from it declare it so, and none is foreign
	Unreadable bool   // the role that runs statements may not SELECT it: * leaves it out like one that the policy hides
	NoInsert   bool   // that role may not INSERT it
	NoUpdate   bool   // that role may not UPDATE it
	Collation  string // its name, schema included; "" where it is that of its type, a domain's base type. To compare two that differ fails
	Virtual    bool   // it is generated when it is read, since Postgres 18: that can fail
	Identity   bool   // it is an identity column, whose number OVERRIDING USER VALUE puts in place of a value
	Generated  bool   // it is generated, when it is written or read: COPY leaves it out
	Spans      bool   // it is an interval whose declaration names its fields, as interval day, or an array of such: they say what a number without a unit is
	Loose      bool   // its collation is not deterministic: values that differ can be equal
}

// Table gives the table of a name; nil where the schema has none.
func (s Schema) Table(name TableName) *Table {
	i := slices.IndexFunc(s.Tables, func(t Table) bool { return t.Schema == name.Schema && t.Name == name.Name })
	if i < 0 {
		return nil
	}
	return &s.Tables[i]
}

// TableName is a table by its qualified name.
type TableName struct{ Schema, Name string }

// Type is a type by its qualified name.
type Type struct{ Schema, Name string }

// GivenType is a type outside pg_catalog that a client may give its parameters: a column's, or
// one that Postgres finds beside such a column. While it exists its OID is no other's, and one
// that is made anew has another.
type GivenType struct {
	OID    uint32
	Type   Type // as what a column of it is read: a domain as the type that it is over
	Domain Type // the domain itself; zero for what is none
	Rests  Type // what it or its elements are in the end, which is no domain and no array
}
