package policy

import (
	"github.com/tenantgate/tenantgate/policy/sql/analyze"
	"github.com/tenantgate/tenantgate/policy/sql/command"
	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/rewrite"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
	"github.com/tenantgate/tenantgate/policy/sql/verify"
)

// Decide judges one text of a dialect, in the steps of the package comment: the first that is
// not satisfied denies. The cost is bounded by the policy's limits on the text. types are
// those that a client of the Postgres dialect gives its parameters.
func (p *Policy) Decide(text string, d Dialect, types ...uint32) Decision {
	given := GivenTypes(types).normal()
	if p.file == nil || d > Postgres || d == REST && len(given) > 0 {
		return Decision{}
	}
	tr, fault := d.read(text, lex.Guard{MaxBytes: p.file.Statement.MaxBytes}) // 1. guard
	if fault != nil {
		return deny(fault, text)
	}
	stmt, fault := tree.Parse(tr.Text) // 2. parse
	var approved *Approved
	if fault == nil {
		approved, fault = p.approve(text, tr, stmt, d, given)
	}
	if fault != nil {
		return deny(tr.CallerRefusal(p.explain(tr, stmt, d, fault)), text)
	}
	return Decision{Verdict: Allow, Approved: approved}
}

// read translates a text of the dialect.
func (d Dialect) read(text string, g lex.Guard) (*lex.Translation, *refusal.Refusal) {
	if d == Postgres {
		return lex.Native(text, g)
	}
	return lex.Translate(text, g)
}

// approve takes a parsed text through the remaining steps.
func (p *Policy) approve(text string, tr *lex.Translation, stmt tree.Statement, d Dialect, given GivenTypes) (*Approved, *refusal.Refusal) {
	if d == Postgres {
		command, fault := command.Read(stmt, tr, p.catalog, p.file.Scope.Mode == Inject)
		switch {
		case fault != nil:
			return nil, fault
		case command != nil:
			return p.command(text, tr, command, given)
		}
	}
	return p.statement(text, tr, stmt, d, given)
}

// statement decides a statement on rows.
func (p *Policy) statement(text string, tr *lex.Translation, stmt tree.Statement, d Dialect, given GivenTypes) (*Approved, *refusal.Refusal) {
	types, fault := p.named(given)
	if fault != nil {
		return nil, fault
	}
	facts, fault := analyze.Analyze(stmt, p.catalog, types...) // 3. understand
	if fault != nil {
		return nil, p.preferTableRefusal(facts, fault)
	}
	if fault := p.judge(facts, d); fault != nil { // 4. rules
		return nil, fault
	}
	p.adjust(facts, d)
	final, fault := rewrite.Rewrite(tr, facts, p.catalog, p.file.Scope.Mode == Inject) // 5. rewrite
	if fault != nil {
		return nil, fault
	}
	if fault := verify.Verify(stmt, final, p.catalog, facts.Demands()); fault != nil { // 6. verify
		return nil, fault
	}
	return p.approved(proved{text, tr, facts, final}, d, given)
}

// adjust takes from the facts what the policy does not ask of the rewrite.
func (p *Policy) adjust(f *facts.Facts, d Dialect) {
	if d == Postgres && p.file.Scope.Mode == Inject {
		f.DropScopeConditions() // as in a database of its own, a statement may ask for another server's rows, and finds none
	}
	if p.file.Planner == Custom {
		f.ShowConstants()
	}
}
