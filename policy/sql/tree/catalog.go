package tree

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// TypeName is a type by its qualified name as in pg_type.
type TypeName struct{ Schema, Name string }

// Table is what the analysis knows of one table that the policy names.
type Table struct {
	Schema, Name string
	Scope        string   // the scope column's name; "" for a table that is not scoped
	ScopeType    TypeName // of the scope column
	Columns      []Column // in the table's order
	Keys         [][]string
	OID          uint32
	Walled       bool // row-level security stands behind it, so no barrier is needed
	Closed       bool // the policy refuses whatever names it, so no hint names it
}

// Column is one column of a Table, with what the policy says of it.
type Column struct {
	Name      string
	Type      TypeName // of a domain the type that it is over
	NotNull   bool
	Collation string // "" where it is that of its type
	Spans     bool   // an interval, or an array of such, whose fields say what a number without a unit is
	Identity  bool   // its values come from a sequence
	Virtual   bool   // it is generated when it is read
	Generated bool   // it is generated, then or when it is written
	NoRead    bool
	NoWrite   bool
	Ungranted bool // NoRead, and only because the statement role may not SELECT it
	NoInsert  bool // the statement role may not INSERT it
	NoUpdate  bool // the statement role may not UPDATE it
}

// Renumbers tells whether an INSERT that has OVERRIDING USER VALUE puts a sequence's number into
// the scope column, whatever it gives to it.
func (t *Table) Renumbers(s *pg.InsertStmt) bool {
	i := t.Index(t.Scope)
	return i >= 0 && t.Columns[i].Identity && s.Override == pg.OverridingKind_OVERRIDING_USER_VALUE
}

// Index gives the position of a column, -1 where the table has none of that name.
func (t *Table) Index(column string) int {
	for i := range t.Columns {
		if t.Columns[i].Name == column {
			return i
		}
	}
	return -1
}

// Hides tells whether some column of the table must not be read.
func (t *Table) Hides() bool {
	for i := range t.Columns {
		if t.Columns[i].NoRead {
			return true
		}
	}
	return false
}

// Catalog is all that a statement may name: tables, and where an unqualified function
// or type outside pg_catalog lives. It is immutable once made.
type Catalog struct {
	tables    map[TypeName]*Table
	Bare      map[string]*Table
	Functions map[string]string
	Builtin   map[string]bool // the functions of pg_catalog of which something is known: package tree's lists say what
	Types     map[string]string
	Domains   map[TypeName]bool // of those outside pg_catalog
	Leakproof map[OperatorName]bool
	Namesakes Namesakes
	Kinds     map[protoreflect.Name]*kind
	Commands  map[protoreflect.Name]*kind // beside a query in them
	Limit     Complexity
	listed    string
}

// NewCatalog makes a catalog. functions and types map a bare name to the schema that
// it means; names of pg_catalog are not in them. leakproof are operators of pg_catalog.
// A bare table name means the table of that name in public, else the only one of that
// name.
func NewCatalog(tables []*Table, functions, types map[string]string, leakproof []OperatorName, limit Complexity) *Catalog {
	c := &Catalog{
		tables: map[TypeName]*Table{}, Bare: map[string]*Table{}, Functions: functions, Types: types,
		Domains: map[TypeName]bool{}, Leakproof: map[OperatorName]bool{}, Limit: limit,
	}
	c.Kinds, _ = newKinds() // none, and so nothing is admitted, where the table does not fit the parser
	c.Commands, _ = readKinds(commanded)
	for _, o := range leakproof {
		c.Leakproof[o] = true
	}
	ambiguous := map[string]bool{}
	for _, t := range tables {
		c.tables[TypeName{t.Schema, t.Name}] = t
		if other, taken := c.Bare[t.Name]; taken && other.Schema != "public" && t.Schema != "public" {
			ambiguous[t.Name] = true
		} else if !taken || t.Schema == "public" {
			c.Bare[t.Name] = t
		}
	}
	for name := range ambiguous {
		if c.Bare[name].Schema != "public" {
			delete(c.Bare, name)
		}
	}
	c.listed = c.list()
	return c
}

// Namesakes are the functions and operators of pg_catalog that a bare name may not mean, since
// the search path has others of the name, too. true: such a function may do anything, or such an
// operator may be between types of pg_catalog; else it needs an operand of another type. Unjudged are the operators that
// belong to no judged extension.
type Namesakes struct{ Functions, Operators, Unjudged map[string]bool }

// With gives the catalog with what else bare names may mean. tables are those that bare names
// certainly mean; one that is not in the catalog takes its name out of it.
func (c *Catalog) With(n Namesakes, tables []TypeName) *Catalog {
	c.Namesakes = n
	for _, t := range tables {
		if c.Bare[t.Name] != nil || c.tables[t] != nil {
			c.Bare[t.Name] = c.tables[t]
		}
	}
	c.listed = c.list()
	return c
}

// OwnCall tells whether a call by a bare name may be that of a function outside pg_catalog.
func (c *Catalog) OwnCall(name string) bool {
	_, shadowed := c.Namesakes.Functions[name]
	return shadowed || c.Functions[name] != ""
}

// OwnOperator tells whether a bare operator may be one outside pg_catalog.
func (c *Catalog) OwnOperator(name string) bool {
	_, shadowed := c.Namesakes.Operators[name]
	return shadowed
}

// mostListed is how many tables are told to who names none of them.
const mostListed = 12

// list writes the names of the open tables as a statement names them, where they are few.
func (c *Catalog) list() string {
	var names []string
	for named, t := range c.tables {
		if t.Closed {
			continue
		}
		name := named.Name
		if c.Bare[name] != t {
			name = named.Schema + "." + name
		}
		names = append(names, name)
	}
	switch {
	case len(names) == 0:
		return "the policy opens no table"
	case len(names) > mostListed:
		return "use the tables that the policy lists"
	}
	slices.Sort(names)
	return "the policy lists " + strings.Join(names, ", ")
}

// Listed tells who names a table that is not in the catalog which ones are.
func (c *Catalog) Listed() string { return c.listed }

// Table gives the table that a name means where no WITH name hides it; nil for none.
func (c *Catalog) Table(schema, name string) *Table {
	if schema == "" {
		return c.Bare[name]
	}
	return c.tables[TypeName{schema, name}]
}

// FunctionSchema gives the schema outside pg_catalog that a function's bare name means; ""
// for none.
func (c *Catalog) FunctionSchema(name string) string { return c.Functions[name] }

// TypeSchema is FunctionSchema for types.
func (c *Catalog) TypeSchema(name string) string { return c.Types[name] }

// UnjudgedCall tells whether a call may run a function that nobody has judged: one outside pg_catalog. schema is "" for a bare
// name, which means pg_catalog's function where the policy lists no other: then one of a judged extension with the same name
// does not count.
func (c *Catalog) UnjudgedCall(schema, name string) bool {
	if schema != "" {
		return schema != "pg_catalog"
	}
	return c.Functions[name] != "" || c.Namesakes.Functions[name]
}

// UnjudgedOperator is UnjudgedCall for a bare operator.
func (c *Catalog) UnjudgedOperator(name string) bool { return c.Namesakes.Unjudged[name] }

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

// OperatorName is an operator of pg_catalog by its name and its operands' types, as in
// pg_type; Left is "" for a prefix operator.
type OperatorName struct{ Name, Left, Right string }

// HasKey tells whether some unique index has just these columns, in any order.
func (t *Table) HasKey(names []string) bool {
	want := slices.Sorted(slices.Values(names))
	return slices.ContainsFunc(t.Keys, func(key []string) bool {
		return slices.Equal(slices.Sorted(slices.Values(key)), want)
	})
}
