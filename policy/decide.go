package policy

import (
	"unicode/utf8"

	"github.com/tenantgate/tenantgate/policy/sqltree"
)

// Decide judges one text. See the package comment for the order of its steps; the first
// that is not satisfied denies. The cost is bounded by the policy's limits on the text.
func (p *Policy) Decide(text string) Decision {
	if p.file == nil {
		return Decision{}
	}
	tr, fault := sqltree.Translate(text, sqltree.Guard{MaxBytes: p.file.Statement.MaxBytes})
	if fault != nil {
		return deny(reasonOf(fault, text, fault.Offset))
	}
	approved, fault := p.approve(text, tr)
	if fault != nil {
		fault = tr.CallerFault(fault)
		return deny(reasonOf(fault, text, fault.Offset))
	}
	return Decision{Verdict: Allow, Approved: approved}
}

func deny(r Reason) Decision { return Decision{Reason: r} }

// approve takes a translated text through the remaining steps.
func (p *Policy) approve(text string, tr *sqltree.Translation) (*Approved, *sqltree.Fault) {
	stmt, fault := sqltree.Parse(tr.Text)
	if fault != nil {
		return nil, fault
	}
	facts, fault := sqltree.Analyze(stmt, p.catalog)
	if fault != nil {
		return nil, fault
	}
	for _, rule := range p.rules() {
		if fault := rule(facts); fault != nil {
			return nil, fault
		}
	}
	final, fault := sqltree.Rewrite(tr, facts, p.catalog, p.file.Scope.Mode == Inject)
	if fault != nil {
		return nil, fault
	}
	if fault := sqltree.Verify(stmt, final, p.catalog, facts.Demands()); fault != nil {
		return nil, fault
	}
	plan, ok := newArgPlan(tr, facts, final, p.file.Scope.ForeignID == Reject, p.limits.MaxArgs)
	if !ok {
		return nil, &sqltree.Fault{Code: Internal, Message: "the arguments could not be mapped", Offset: -1}
	}
	a := p.approved(facts, final, plan)
	a.positions = newPositionMap(text, tr, final)
	return a, nil
}

func (p *Policy) approved(f *sqltree.Facts, final *sqltree.Rewritten, plan argPlan) *Approved {
	a := &Approved{
		sql: final.Text, kind: kindOfAccess(f.Kind), returning: f.Returns, limits: p.limits,
		writes: f.Kinds&^sqltree.AccessSelect != 0 || f.Locks, plan: plan,
	}
	for _, t := range f.Shaped() {
		a.shapes = append(a.shapes, shapeOf(t))
	}
	return a
}

func shapeOf(t *sqltree.Table) Shape {
	s := Shape{OID: t.OID}
	for _, c := range t.Columns {
		s.Columns = append(s.Columns, c.Name)
	}
	return s
}

func kindOfAccess(a sqltree.Access) Kind {
	return map[sqltree.Access]Kind{
		sqltree.AccessSelect: Select, sqltree.AccessInsert: Insert, sqltree.AccessUpdate: Update, sqltree.AccessDelete: Delete,
	}[a]
}

// reasonOf gives a fault in the caller's terms; offset is a byte of the caller's text.
func reasonOf(f *sqltree.Fault, text string, offset int) Reason {
	r := Reason{Code: f.Code, Message: f.Message, Hint: f.Hint, SQLState: f.SQLState}
	if offset >= 0 && offset <= len(text) {
		r.Position = utf8.RuneCountInString(text[:offset]) + 1
	}
	return r
}
