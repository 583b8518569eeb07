package policy

import (
	"fmt"
	"slices"

	"github.com/tenantgate/tenantgate/policy/sql/constants"
	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// proved is a statement that passed all steps.
type proved struct {
	text  string // the caller's
	tr    *lex.Translation
	facts *facts.Facts
	final *facts.Rewritten
}

// What a prepared statement and its plan take in a backend: by themselves, beside the text, and for each expression
// of the plan (Postgres 15, 2026-11-23: 30 KB for a look-up by key, 100 to 250 bytes).
const (
	statementBytes  = 32 << 10
	expressionBytes = 250
)

// approved makes the Approved of a proved statement. What has too many parameters to be bound is refused.
func (p *Policy) approved(s proved, d Dialect, given GivenTypes) (*Approved, *refusal.Refusal) {
	plan, fault := p.argPlan(s, d, given)
	if fault != nil {
		return nil, fault
	}
	f, final := s.facts, s.final
	a := &Approved{
		sql: final.Text, kind: kindOfAccess(f.Kind), returning: f.Returns, limits: p.limits, origin: p.origin,
		writes: f.Kinds&^facts.AccessSelect != 0 || f.Locks, plan: plan, zones: f.Zones, durations: f.WritesIntervals(),
		calls: p.callsUnjudged(f), hides: f.Hides, tableless: len(f.Tables) == 0, types: slices.Clone(given), fleeting: s.tr.UsesParseTime(),
		planned: statementBytes + len(final.Text) + expressionBytes*f.Weight, records: f.RecordBytes, relations: f.Relations,
	}
	for _, t := range f.Shaped() {
		a.shapes = append(a.shapes, shapeOf(t))
	}
	a.tables = tableNames(f)
	for _, param := range final.Params {
		if param.Literal != nil {
			a.literals = append(a.literals, *param.Literal)
		}
	}
	if fault := a.place(f, final); fault != nil {
		return nil, fault
	}
	a.declare()
	a.positions = newPositionMap(s.text, s.tr, final)
	return a, nil
}

// argPlan maps the caller's arguments to the parameters.
func (p *Policy) argPlan(s proved, d Dialect, given GivenTypes) (argPlan, *refusal.Refusal) {
	plan, ok := newArgPlan(s.tr, s.facts, s.final, d, p.file.Scope, p.limits.MaxArgs)
	plan.count = max(plan.count, len(given)) // a type alone makes a parameter too
	switch {
	case !ok:
		return plan, &refusal.Refusal{Code: Internal, Message: "the arguments could not be mapped", Offset: -1}
	case d == Postgres && plan.count > plan.maxArgs: // it could never be bound, and would still be described
		return plan, &refusal.Refusal{Code: ArgumentCount, Offset: -1,
			Message: fmt.Sprintf("the statement takes %d parameters; at most %d are allowed", plan.count, plan.maxArgs)}
	}
	return plan, nil
}

// place finds the parameters that are the number of a LIMIT or an OFFSET.
func (a *Approved) place(facts *facts.Facts, final *facts.Rewritten) (fault *refusal.Refusal) {
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

// tableNames gives the tables of an admitted statement, each once; none is not nil.
func tableNames(f *facts.Facts) []TableName {
	names := []TableName{}
	for _, use := range f.Tables {
		if name := (TableName{use.Table.Schema, use.Table.Name}); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
