package statement

// Type is a type of Postgres as a cast spells it.
type Type string

// The types that the generator computes with.
const (
	Text    Type = "text"
	Int     Type = "int4"
	Big     Type = "int8"
	Numeric Type = "numeric"
	Bool    Type = "bool"
	Date    Type = "date"
	Time    Type = "timestamptz"
	JSON    Type = "jsonb"
	Texts   Type = "text[]"
	Ints    Type = "int4[]"
	Bytes   Type = "bytea"
	UUID    Type = "uuid"
	Float   Type = "float8"
)

// Kind says what a column holds: for the server under test something harmless, for
// the others a canary on which one of Postgres' functions fails; see Sample and Canary.
type Kind uint8

// The kinds.
const (
	ID       Kind = iota // a key
	Scope                // the scope column
	Name                 // a short word; others': a broken regular expression, too long for substring
	Digits               // a number as text
	Day                  // a date as text
	Mark                 // one character
	Document             // JSON as text
	Small                // a small int4; others': 8675309
	Large                // an int8; others': too large to double
	Amount               // a numeric
	Flag                 // a bool
	When                 // a date
	Moment               // a timestamptz
	Object               // jsonb: {"n": 5, "s": "ann", "a": [1, 2], "on": true}
	Words                // text[]
	Numbers              // int4[]
	Octets               // bytea
	Token128             // uuid
	Weight               // float8
	Ref                  // a reference to another table's key
	Twice                // generated from a Small
	Code                 // char(n) or varchar(n)
	Computed             // no column of a table
)

// Column is one column of a table.
type Column struct {
	Name     string // as the catalog has it
	Type     Type   // what the generator takes it for: varchar and char are Text
	Kind     Kind
	Hidden   bool   // statements must not read it
	Fixed    bool   // statements must not write it
	Volatile bool   // its default differs from one run to the next
	Default  bool   // it has a default
	Null     bool   // it can be null
	To       string // the table that a Ref refers to
}

// Table is one table of the proof's database.
type Table struct {
	Schema, Name string
	Columns      []Column
	ScopeType    Type     // of the scope column; "" for a table that all servers share
	Key          []string // the primary key, or a unique one that leads with the scope column
	Primary      bool     // Key is the primary key
	Rows         int      // of each server
}

// Scope gives the name of the scope column; "" for a table that all servers share.
func (t *Table) Scope() string {
	for _, c := range t.Columns {
		if c.Kind == Scope {
			return c.Name
		}
	}
	return ""
}

// Hides tells whether some column must not be read.
func (t *Table) Hides() bool {
	for _, c := range t.Columns {
		if c.Hidden {
			return true
		}
	}
	return false
}

// Fits tells whether a server's id can stand in the table's scope column.
func (t *Table) Fits(server string) bool {
	switch t.ScopeType {
	case Big:
		return isDigits(server)
	case UUID:
		return len(server) == 36
	}
	return true
}

func isDigits(s string) bool {
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}
