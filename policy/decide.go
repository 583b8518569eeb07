package policy

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/tenantgate/tenantgate/policy/sql/analyze"
	"github.com/tenantgate/tenantgate/policy/sql/command"
	"github.com/tenantgate/tenantgate/policy/sql/constants"
	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/rewrite"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
	"github.com/tenantgate/tenantgate/policy/sql/verify"
)

// Decide judges one text of a dialect. See the package comment for the order of its steps;
// the first that is not satisfied denies. The cost is bounded by the policy's limits on the
// text. types are those that a client of the Postgres dialect gives its parameters.
func (p *Policy) Decide(text string, d Dialect, types ...uint32) Decision {
	given := GivenTypes(types).normal()
	if p.file == nil || d > Postgres || d == Interface && len(given) > 0 {
		return Decision{}
	}
	tr, fault := d.read(text, lex.Guard{MaxBytes: p.file.Statement.MaxBytes})
	if fault != nil {
		return deny(reasonOf(fault, text, fault.Offset))
	}
	approved, fault := p.approve(text, tr, d, given)
	if fault != nil {
		fault = tr.CallerFault(fault)
		return deny(reasonOf(fault, text, fault.Offset))
	}
	return Decision{Verdict: Allow, Approved: approved}
}

func deny(r Reason) Decision { return Decision{Reason: r} }

// read translates a text of the dialect.
func (d Dialect) read(text string, g lex.Guard) (*lex.Translation, *refusal.Fault) {
	if d == Postgres {
		return lex.Native(text, g)
	}
	return lex.Translate(text, g)
}

// approve takes a translated text through the remaining steps.
func (p *Policy) approve(text string, tr *lex.Translation, d Dialect, given GivenTypes) (*Approved, *refusal.Fault) {
	stmt, fault := tree.Parse(tr.Text)
	if fault != nil {
		return nil, p.hinted(tr, d, fault)
	}
	if d != Postgres {
		return p.statement(text, tr, stmt, d, given)
	}
	a, fault := p.native(text, tr, stmt, given)
	return a, p.ofCatalog(stmt, fault)
}

// hinted says how parameters are written to who writes ? where only Postgres reads it, and that
// the scope condition need not be written where it is added.
func (p *Policy) hinted(tr *lex.Translation, d Dialect, fault *refusal.Fault) *refusal.Fault {
	if d != Postgres || fault.Code != SyntaxError || !tr.Marked() {
		return fault
	}
	fault.Hint = "parameters are $1, $2 and so on here; ? is an operator"
	for _, t := range p.file.Tables {
		if p.file.Scope.Mode == Inject && t.Scoped && tr.MarkedFor(t.Column) {
			fault.Hint = "parameters are $1, $2 and so on here, and ? is an operator; the condition on " + t.Column + " can be left out, because it is added"
		}
	}
	return fault
}

// native takes a parsed text of the Postgres dialect through them.
func (p *Policy) native(text string, tr *lex.Translation, stmt tree.Statement, given GivenTypes) (*Approved, *refusal.Fault) {
	command, fault := command.Read(stmt, tr, p.catalog, p.file.Scope.Mode == Inject)
	switch {
	case fault != nil:
		return nil, fault
	case command != nil:
		return p.command(text, tr, command, given)
	}
	return p.statement(text, tr, stmt, Postgres, given)
}

// ofCatalog tells whoever asks for Postgres' catalog that it is not answered, whatever was
// the first thing in the statement that is not available. The code stays.
func (p *Policy) ofCatalog(stmt tree.Statement, fault *refusal.Fault) *refusal.Fault {
	if fault == nil {
		return nil
	}
	switch fault.Code {
	case TableNotAllowed, ColumnNotAllowed, FunctionNotAllowed, TypeNotAllowed, ConstructNotAllowed, QueryFailed:
	default:
		return fault
	}
	at, is := analyze.OfSystem(stmt, p.catalog, fault)
	if !is {
		return fault
	}
	return &refusal.Fault{Code: fault.Code, Offset: at, Message: "the catalog is not answered yet",
		Hint: `tools that read it, such as \d of psql and the introspection of ORMs, do not work here; ` + p.catalog.Listed()}
}

// statement decides a statement on rows.
func (p *Policy) statement(text string, tr *lex.Translation, stmt tree.Statement, d Dialect, given GivenTypes) (*Approved, *refusal.Fault) {
	types, fault := p.named(given)
	if fault != nil {
		return nil, fault
	}
	facts, fault := analyze.Analyze(stmt, p.catalog, types...)
	if fault != nil {
		return nil, p.rather(facts, fault)
	}
	for _, rule := range p.rules(d) {
		if fault := rule(facts); fault != nil {
			return nil, fault
		}
	}
	if d == Postgres && p.file.Scope.Mode == Inject {
		facts.DropScopeConditions() // whoever has a database of his own may ask for another's rows, and finds none
	}
	if p.file.Planner == Custom {
		facts.ShowConstants()
	}
	final, fault := rewrite.Rewrite(tr, facts, p.catalog, p.file.Scope.Mode == Inject)
	if fault != nil {
		return nil, fault
	}
	if fault := verify.Verify(stmt, final, p.catalog, facts.Demands()); fault != nil {
		return nil, fault
	}
	plan, ok := newArgPlan(tr, facts, final, d, p.file.Scope, p.limits.MaxArgs)
	plan.count = max(plan.count, len(given)) // a type alone makes a parameter too
	switch {
	case !ok:
		return nil, &refusal.Fault{Code: Internal, Message: "the arguments could not be mapped", Offset: -1}
	case d == Postgres && plan.count > plan.maxArgs: // it could never be bound, and would still be described
		return nil, &refusal.Fault{Code: ArgumentCount, Offset: -1,
			Message: fmt.Sprintf("the statement takes %d parameters; at most %d are allowed", plan.count, plan.maxArgs)}
	}
	a := p.approved(facts, final, plan)
	a.types = slices.Clone(given)
	for _, param := range final.Params {
		if param.Literal != nil {
			a.literals = append(a.literals, *param.Literal)
		}
	}
	if fault := a.place(facts, final); fault != nil {
		return nil, fault
	}
	a.declare()
	a.fleeting = tr.UsesParseTime()
	a.positions = newPositionMap(text, tr, final)
	return a, nil
}

// place finds the parameters that are the number of a LIMIT or an OFFSET.
func (a *Approved) place(facts *facts.Facts, final *facts.Rewritten) (fault *refusal.Fault) {
	var numbers []int
	for i, param := range final.Params {
		given := a.declaredType(a.ArgOf(i))
		if slices.Contains(facts.Counts, param.Number) && slices.Contains([]uint32{0, int2OID, int4OID, int8OID}, given) {
			numbers = append(numbers, i+1)
		}
	}
	if len(numbers) > 0 {
		a.counts, fault = constants.PlacesOf(a.sql, numbers)
	}
	return fault
}

// rather tells of a table that is not available instead of what was not understood, which may
// be for that: no column of such a table is known.
func (p *Policy) rather(facts *facts.Facts, fault *refusal.Fault) *refusal.Fault {
	if facts == nil {
		return fault
	}
	if first := p.checkTables(facts); first != nil {
		return first
	}
	return fault
}

// What a prepared statement and its plan take in a backend: by themselves, beside the text, and for each expression
// of the plan (Postgres 15, 2026-11-23: 30 KB for a look-up by key, 100 to 250 bytes).
const (
	statementBytes  = 32 << 10
	expressionBytes = 250
)

func (p *Policy) approved(f *facts.Facts, final *facts.Rewritten, plan argPlan) *Approved {
	a := &Approved{
		sql: final.Text, kind: kindOfAccess(f.Kind), returning: f.Returns, limits: p.limits, origin: p.origin,
		writes: f.Kinds&^facts.AccessSelect != 0 || f.Locks, plan: plan, zones: f.Zones, durations: f.WritesIntervals(),
		hides: f.Hides, tableless: len(f.Tables) == 0,
		planned: statementBytes + len(final.Text) + expressionBytes*f.Weight, records: f.RecordBytes, relations: f.Relations,
	}
	for _, t := range f.Shaped() {
		a.shapes = append(a.shapes, shapeOf(t))
	}
	a.tables = []TableName{} // known, and perhaps none
	for _, use := range f.Tables {
		if name := (TableName{use.Table.Schema, use.Table.Name}); !slices.Contains(a.tables, name) {
			a.tables = append(a.tables, name)
		}
	}
	return a
}

func shapeOf(t *tree.Table) Shape {
	s := Shape{OID: t.OID}
	for _, c := range t.Columns {
		s.Columns = append(s.Columns, c.Name)
	}
	return s
}

func kindOfAccess(a facts.Access) Kind {
	return map[facts.Access]Kind{
		facts.AccessSelect: Select, facts.AccessInsert: Insert, facts.AccessUpdate: Update, facts.AccessDelete: Delete,
	}[a]
}

// reasonOf gives a fault in the caller's terms; offset is a byte of the caller's text.
func reasonOf(f *refusal.Fault, text string, offset int) Reason {
	r := Reason{Code: f.Code, Message: f.Message, Hint: f.Hint, SQLState: f.SQLState}
	if offset >= 0 && offset <= len(text) {
		r.Position = utf8.RuneCountInString(text[:offset]) + 1
	}
	return r
}
