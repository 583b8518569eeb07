package facts

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// Clause is a condition of which some parts are guarded.
type Clause struct {
	Root   *pg.Node
	Guards map[*pg.Node]*Guard // by part: see conjuncts
}

// Guard is what must be true where a part of a condition is evaluated.
type Guard struct {
	Tables []GuardTable
	Having bool
}

// GuardTable is a table whose scope column is compared. marker is a column of it that is
// NULL only in the row of NULLs that an outer join makes; "" where there is no such join.
type GuardTable struct {
	Use    *TableUse
	Marker string
}

// Demands is what Verify takes from the facts: which placeholders mean the server's id,
// which parts of conditions must be guarded, which queries be barriers, which sub-queries cost
// something, and what is hidden from the planner.
type Demands struct {
	Server   map[int32]*tree.Table
	Guards   map[*pg.Node]*Guard
	Barriers map[*pg.SelectStmt]bool
	Delayed  map[*pg.Node]bool
	Hides    bool
	Hidden   map[*pg.Node]*Hidden
	Named    map[*pg.Node]string
}

// Demands gives what the rewrite of the statement must satisfy.
func (f *Facts) Demands() Demands {
	d := Demands{Server: f.ScopeNumbers(), Guards: map[*pg.Node]*Guard{}, Barriers: f.Barriers, Delayed: map[*pg.Node]bool{}, Hides: f.Hides, Hidden: map[*pg.Node]*Hidden{}, Named: f.Named}
	for _, h := range f.Hidden {
		d.Hidden[h.Node] = h
	}
	for _, n := range f.Delayed {
		d.Delayed[n] = true
	}
	for _, c := range f.Clauses {
		for part, g := range c.Guards {
			d.Guards[part] = g
		}
	}
	return d
}

// HideForm says how an expression is hidden from the planner.
type HideForm uint8

// The forms. The zero value is none.
const (
	AsParameter  HideForm = iota + 1 // a literal
	AsSubquery                       // a call without columns, or a literal that is cut as it is read: '1.23'::numeric(3,1)
	AsComparison                     // a bool column, or what is bool and constant without a literal
	AsCase                           // CASE WHEN parameter THEN NULL ELSE … END, which has the name of what it holds: the left side of IS DISTINCT FROM where both sides may be NULL to the planner, a column of a type that is not known, or a call that GROUP BY or its like repeats
)

// Hidden is one expression that is hidden.
type Hidden struct {
	Node *pg.Node
	Form HideForm
	Test *pg.A_Expr   // of asCase: the IS DISTINCT FROM whose left side it is, if it is one
	Text bool         // a literal without a type is of type text (hide/text.go)
	Cast *pg.TypeCast // of a literal with its type written first: date '2027-01-01'
	Root *Hidden      // the one whose parameter it shares; nil: it has its own
}

// LiteralParam is what a parameter of a final text carries that was a literal of the caller's.
type LiteralParam struct {
	Value  string
	Type   uint32 // OID of its type; 0: Postgres finds it, as for a literal in quotation marks
	Offset int    // of the literal in the translated text; -1: it stands for no literal
}

// First gives the one whose parameter all that share it have.
func (f *Hidden) First() *Hidden {
	for f.Root != nil {
		f = f.Root
	}
	return f
}

// Add makes the guard serve another part too.
func (g *Guard) Add(other *Guard) {
	g.Having = g.Having || other.Having
	for _, t := range other.Tables {
		if !slices.Contains(g.Tables, t) {
			g.Tables = append(g.Tables, t)
		}
	}
}

// LiteralParam gives what the parameter of a hidden literal carries, of a hidden column
// what that is compared with, and of a CASE that it gives the value.
func (f *Hidden) LiteralParam() LiteralParam {
	switch f.Form {
	case AsComparison:
		return LiteralParam{Value: "t", Type: tree.BoolOID, Offset: tree.Offset(f.Node)}
	case AsCase:
		return LiteralParam{Value: "f", Type: tree.BoolOID, Offset: tree.Offset(f.Node)}
	}
	value, typ := f.LiteralValue(f.Node.GetAConst())
	return LiteralParam{Value: value, Type: typ, Offset: tree.Offset(f.Node)}
}

// LiteralValue gives what the parameter in the place of a literal carries, and its type.
func (f *Hidden) LiteralValue(c *pg.A_Const) (value string, oid uint32) {
	value, oid = tree.LiteralValue(c)
	if oid == 0 && f.First().Text {
		oid = tree.TextOID
	}
	return value, oid
}
