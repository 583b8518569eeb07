package policy

import (
	"slices"

	"github.com/tenantgate/tenantgate/policy/sql/command"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// command decides what is no statement on rows: its own text says all that there is to it, but
// for a query in it, or one that stands for it, which goes through every step like any other.
func (p *Policy) command(text string, tr *lex.Translation, d *command.Directive, given GivenTypes) (*Approved, *refusal.Refusal) {
	switch {
	case len(given) > 0 && d.Verb != Declare:
		return nil, &refusal.Refusal{Code: ArgumentCount, Offset: -1, Message: "this command has no parameters, but types of parameters are declared"}
	case d.Made != "":
		return p.madeCommand(d)
	case d.End > 0:
		return p.queryCommand(text, tr, d, given)
	case d.Text != "":
		if fault := d.Proved(d.Text, "", p.catalog); fault != nil {
			return nil, fault
		}
	}
	return &Approved{sql: d.Text, command: d.Command, returning: d.Verb == Fetch, limits: p.limits, origin: p.origin, plan: argPlan{dialect: Postgres, maxArgs: p.limits.MaxArgs}}, nil
}

// queryCommand decides the query that stands in DECLARE and COPY (…) TO.
func (p *Policy) queryCommand(text string, tr *lex.Translation, d *command.Directive, given GivenTypes) (*Approved, *refusal.Refusal) {
	inner := tr.Text[d.Start:d.End]
	query, fault := lex.Native(inner, lex.Guard{MaxBytes: p.file.Statement.MaxBytes})
	if fault != nil {
		return nil, moved(fault, d.Start)
	}
	stmt, fault := tree.Parse(query.Text)
	switch {
	case fault != nil:
		return nil, moved(fault, d.Start)
	case !d.Holds(stmt):
		return nil, &refusal.Refusal{Code: Internal, Message: "the query of the command was not found", Offset: -1}
	}
	if d.Verb == CopyOut && len(query.Placeholders) > 0 {
		return nil, &refusal.Refusal{Code: QueryFailed, SQLState: "42P02", Offset: d.Start + query.Placeholders[0].Start,
			Message: "there is no parameter $1", Hint: "COPY has no parameters"}
	}
	a, fault := p.statement(inner, query, stmt, Postgres, given)
	if fault != nil {
		return nil, moved(fault, d.Start)
	}
	a.positions.caller, a.positions.base = text, d.Start
	return p.framed(a, d)
}

// moved gives a fault of a part of a text as one of the whole.
func moved(f *refusal.Refusal, by int) *refusal.Refusal {
	if f.Offset < 0 {
		return f
	}
	m := *f
	m.Offset += by
	return &m
}

// madeCommand decides the statement that stands for COPY of a table.
func (p *Policy) madeCommand(d *command.Directive) (*Approved, *refusal.Refusal) {
	tr, fault := lex.Native(d.Made, lex.Guard{MaxBytes: 4 * maxStatementBytes})
	if fault == nil {
		var a *Approved
		if a, fault = p.made(tr, d); fault == nil {
			return a, nil
		}
	}
	f := *fault
	f.Offset = d.At
	return nil, &f
}

func (p *Policy) made(tr *lex.Translation, d *command.Directive) (*Approved, *refusal.Refusal) {
	stmt, fault := tree.Parse(tr.Text)
	if fault != nil {
		return nil, fault
	}
	a, fault := p.statement(d.Made, tr, stmt, Postgres, nil)
	if fault != nil {
		return nil, fault
	}
	a.positions = positionMap{}
	if d.Shape != nil {
		a.shapes = append(a.shapes, shapeOf(d.Shape))
	}
	if d.Verb == CopyOut {
		return p.framed(a, d)
	}
	a.command = d.Command
	return a, nil
}

// framed puts the command's words around the final text of its query.
func (p *Policy) framed(a *Approved, d *command.Directive) (*Approved, *refusal.Refusal) {
	head, tail := d.Around()
	query := a.sql
	if a.hides && slices.ContainsFunc(a.plan.slots, func(slot int) bool { return slot != serverSlot }) {
		plain := *a
		a.query, a.given = &plain, p.given
	}
	a.sql, a.command, a.positions.lead = head+query+tail, d.Command, len(head)
	if d.Verb == CopyOut {
		a.inline = true
	} else {
		a.returning = false
	}
	return a, d.Proved(a.sql, query, p.catalog)
}
