package policy

import (
	"slices"

	"github.com/tenantgate/tenantgate/policy/sql/analyze"
	"github.com/tenantgate/tenantgate/policy/sql/constants"
	"github.com/tenantgate/tenantgate/policy/sql/facts"
)

// Approved is a statement that passed every check: its final text and how the
// caller's arguments map to its parameters. Only Decide makes one; it is immutable,
// holds nothing of any server, and may be shared and cached. The zero value binds
// to nothing.
type Approved struct {
	sql       string
	kind      Kind
	writes    bool
	calls     bool // it may run a function that nobody has judged
	returning bool
	limits    Limits
	origin    Origin
	shapes    []Shape
	tables    []TableName // see Tables
	plan      argPlan
	positions positionMap
	command   Command
	types     GivenTypes
	declared  GivenTypes
	fleeting  bool
	zones     bool
	durations bool // it writes intervals
	planned   int  // bytes: PlanBytes
	relations int  // Relations
	records   int  // bytes: RecordBytes
	key       string
	literals  []facts.LiteralParam // that parameters carry
	hides     bool                 // values are hidden from the planner
	tableless bool                 // it names no table
	inline    bool                 // what the parameters carry is put into the text: it can take none
	counts    constants.Places     // of parameters that are the number of a LIMIT or an OFFSET

	query *Approved            // that a command holds, where its types must be known
	given map[uint32]GivenType // types outside pg_catalog that they may be
}

// Shape is what a plan relies on about a table: that its columns, dropped ones left out,
// are these in this order.
type Shape struct {
	OID     uint32
	Columns []string
}

// Tables are those that the statement names, each once: the decision holds until the schema of one of them changes, or something on
// which all depend. nil: any change may concern it. Shared; not to be changed.
func (a *Approved) Tables() []TableName { return a.tables }

// Kind is the kind of the outermost statement.
func (a *Approved) Kind() Kind { return a.kind }

// Writes tells whether any part of the statement inserts, updates, deletes or locks rows.
func (a *Approved) Writes() bool { return a.writes }

// MayWrite tells whether the statement can leave something behind: it writes, or it may run a function that nobody has judged,
// which it calls or uses as an operator. What a domain's CHECK, a cast, an operator class or a row-level security policy runs is
// not seen.
func (a *Approved) MayWrite() bool { return a.writes || a.calls }

// Returns tells whether the statement answers rows: a SELECT, or a write with RETURNING.
func (a *Approved) Returns() bool { return a.returning }

// Rewritten is the final text, to be looked at: what runs is a Bound.
func (a *Approved) Rewritten() string { return a.sql }

// OnlyFor are the ids that the text of an INSERT itself gives scope columns: Bind refuses
// any other server. Shared; not to be changed.
func (a *Approved) OnlyFor() []string { return a.plan.inserted }

// Command is what a statement asks for that is none on rows: NoCommand for one on rows, and
// always in the dialect of the interface. What is about the session alone (Set, Reset, Show,
// Discard, Deallocate, Unlisten and SetSession) has no final text and can't be bound: the front end sees
// to it. A CopyIn's final text is the INSERT of one row; args are the row's values.
func (a *Approved) Command() Command { return a.command }

// NumParams is the number of parameters of the final text; 0 where Bind puts what they carry
// into the text, as in COPY.
func (a *Approved) NumParams() int {
	if a.inline {
		return 0
	}
	return len(a.plan.slots)
}

// NumArgs is the number of args that it takes of the caller: in the Postgres dialect the
// highest n of its $n, whether or not each n below is used.
func (a *Approved) NumArgs() int { return a.plan.count }

// ArgOf gives the position in the caller's args of what a parameter of the final text
// carries, both counted from 0; it is negative for the server's own id and for a literal of
// the text. No two parameters carry the same arg; one whose every place takes the server's id
// is carried by none. See ArgType.
func (a *Approved) ArgOf(i int) int { return a.plan.slots[i] }

// SameFor tells whether Postgres gets the same of two decisions on a text: the final text, and which argument each of its
// parameters carries.
func (a *Approved) SameFor(b *Approved) bool {
	return a.sql == b.sql && slices.Equal(a.plan.slots, b.plan.slots)
}

// Limits are those of the policy that approved it.
func (a *Approved) Limits() Limits { return a.limits }

// Origin is that of the policy that approved it. Two decisions of the same Origin on the same text, dialect and types of
// parameters are equal.
func (a *Approved) Origin() Origin { return a.origin }

// CallerPosition is Bound's.
func (a *Approved) CallerPosition(pos int) int { return a.positions.back(a.sql, pos) }

// Fleeting tells that Postgres reads a time off the clock when it parses the text, as in
// timestamptz 'now': what it makes of it must not be kept for later.
func (a *Approved) Fleeting() bool { return a.fleeting }

// Zones tells that the statement may make time zones of its own, of which the backend that runs
// it keeps each until its end: out of texts that are cast to dates and times, out of a zone that
// is no constant, or out of constants. What its args may add is SpellsZone's to tell.
func (a *Approved) Zones() bool { return a.zones }

// SpellsZone tells whether an arg for a parameter of a date's or a time's type, or of one that
// may be made of such, may hold a time zone of its own.
func (a Arg) SpellsZone() bool {
	return (a.Kind == String || a.Kind == Array || a.Kind == Object) && analyze.SpellsZone(a.Text)
}

// PlanBytes is about how many bytes a backend of Postgres' takes for the statement's plan, and
// hardly ever too few, while it keeps it; to make it takes some five times as much. Partitions
// of a table are not counted.
func (a *Approved) PlanBytes() int { return a.planned }

// Relations is how many tables, functions and WITH queries its plan reads, each counted for every time that it is in the
// plan. While the plan is not read to its end, the backend keeps up to three of Postgres' shared buffers for each table.
func (a *Approved) Relations() int { return a.relations }

// RecordBytes is about how many bytes the types of rows take that the statement makes, other
// than those of tables: a backend that has run it keeps them until its end, once for each text.
func (a *Approved) RecordBytes() int { return a.records }

// Size is about how many bytes it keeps in memory, and hardly ever too few: a placeholder
// costs its places in both texts.
func (a *Approved) Size() int {
	return 2048 + 2*len(a.sql) + 192*len(a.plan.slots) + 4*len(a.types) + literalBytes(a.literals)
}

// Bound is an Approved for one server with its arguments: the only thing that
// upstream runs. The zero value is refused there.
type Bound struct {
	approved   *Approved
	server     string
	args       []Arg // the caller's own
	overridden int
	filled     constants.Filled // the text, where values stand in it
}

// Key tells the text with its declared types from every other: a connection may have it
// prepared under that. Statements of one Approved have one description, and may have several
// keys.
func (b Bound) Key() string {
	if b.filled.Text == "" {
		return b.approved.Key()
	}
	return b.filled.Text + "\x00" + b.approved.declared.Key()
}

// Param is the value of one parameter of the final text.
type Param struct {
	Value Arg
	Index int // position in the caller's args, from 0; -1 for the server's own id, less for a literal
}

// IsLiteral tells that the value was a literal of the caller's text: its Text is as Postgres
// reads it, whatever the parameter's type is.
func (p Param) IsLiteral() bool { return p.Index < serverSlot }

// Valid tells whether the value came from Approved.Bind.
func (b Bound) Valid() bool { return b.approved != nil }

// Fleeting is Approved.Fleeting.
func (b Bound) Fleeting() bool { return b.approved.fleeting }

// Approved is what was bound; nil for the zero value.
func (b Bound) Approved() *Approved { return b.approved }

// Server is the id of the server that the statement was bound for.
func (b Bound) Server() string { return b.server }

// SQL is the text to send, with parameters $1 to $n; n is NumParams(). It is empty before
// Fill where that is needed.
func (b Bound) SQL() string {
	if b.filled.Text != "" || b.approved.inline || b.approved.query != nil {
		return b.filled.Text
	}
	return b.approved.sql
}

// Command is Approved.Command.
func (b Bound) Command() Command { return b.approved.command }

// NumParams is the number of parameters.
func (b Bound) NumParams() int { return b.approved.NumParams() }

// Param is the value of a parameter, counted from 0.
func (b Bound) Param(i int) Param {
	switch at := b.approved.plan.slots[i]; {
	case at == serverSlot:
		return Param{Value: Arg{Kind: String, Text: b.server}, Index: at}
	case at < serverSlot:
		return Param{Value: Arg{Kind: String, Text: b.approved.literals[serverSlot-1-at].Value}, Index: at}
	default:
		return Param{Value: b.args[at], Index: at}
	}
}

// LiteralPosition gives where in the caller's text, in characters from 1, the literal stands
// that a parameter carries; 0 where it carries none.
func (b Bound) LiteralPosition(p Param) int {
	if b.approved == nil || !p.IsLiteral() || serverSlot-1-p.Index >= len(b.approved.literals) {
		return 0
	}
	return b.approved.positions.ofTranslation(b.approved.literals[serverSlot-1-p.Index].Offset)
}

// Params are the values in the order of the parameters.
func (b Bound) Params() []Param {
	params := make([]Param, b.NumParams())
	for i := range params {
		params[i] = b.Param(i)
	}
	return params
}

// Kind is the kind of the outermost statement.
func (b Bound) Kind() Kind { return b.approved.kind }

// MayWrite is Approved.MayWrite.
func (b Bound) MayWrite() bool { return b.approved.MayWrite() }

// Returns is Approved.Returns.
func (b Bound) Returns() bool { return b.approved.returning }

// Limits are those of the policy that approved the statement.
func (b Bound) Limits() Limits { return b.approved.limits }

// Shapes are the table shapes that must still hold when the statement runs; mostly none.
func (a *Approved) Shapes() []Shape { return a.shapes }

// Overridden counts the values given for the scope column that were replaced because
// they were not the server's own id.
func (b Bound) Overridden() int { return b.overridden }

// CallerPosition turns a 1-based character position in SQL() into one in the
// caller's text; 0 where the character was not the caller's.
func (b Bound) CallerPosition(pos int) int {
	if b.filled.Text != "" {
		return b.approved.positions.backFilled(b.filled, pos)
	}
	return b.approved.positions.back(b.approved.sql, pos)
}
