package upstream

import (
	"slices"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// prepare answers at once where it is known what Postgres says of the statement; else
// Postgres is asked, so that the client learns now what is wrong with it.
func (e *exchange) prepare(s *proxy.Step) error {
	if commandOf(s) != policy.NoCommand {
		e.expect(answer{kind: sendParseComplete, step: s})
		return nil
	}
	if e.link.midway { // Postgres' Parse has what such a portal wrote so far show to statements behind it; it gets one, whatever is known
		e.s.wire.parse("", "")
		e.expect(answer{kind: skipParseComplete, step: s})
		e.pending = true
	}
	w := &wanted{approved: s.Prepared.Approved, prepared: s.Prepared}
	s.Prepared.Told = proxy.Told{} // of a statement that is new, also where this is tried again
	d, known := e.link.pool.descriptions.get(w.key())
	if p := e.planOf(w); known && p != nil && !p.description.Equal(&d.Description) {
		e.dropStale(w, false) // one of the two is from before a table was altered
		known = false
	}
	if known {
		if err := e.waitAsUnknown(); err != nil {
			return err
		}
		s.Prepared.Told.Said = &d.Description
		e.expect(answer{kind: sendParseComplete, step: s})
		return nil
	}
	if err := e.need(policy.NoCommand); err != nil {
		return err
	}
	if p := e.planOf(w); p != nil { // which what comes before it in the exchange may push out
		s.Prepared.Told.Said = &p.description.Description
		e.expect(answer{kind: sendParseComplete, step: s})
		return nil
	}
	e.ensure(w, s)
	e.expect(answer{kind: sendParseComplete, step: s, wanted: w})
	return nil
}

// prepares tells whether the exchange has a step that prepares a statement.
func (e *exchange) prepares(p *proxy.Prepared) bool {
	return slices.ContainsFunc(e.request.Steps, func(s proxy.Step) bool { return s.Verb == proxy.Prepare && s.Prepared == p })
}

// waitAsUnknown fails where an unknown text would, for want of a connection: else whoever has used up his share could tell by
// the answer whether anybody has sent a text before, with the values in it. An exchange that goes on takes the connection, as it
// would for an unknown text.
func (e *exchange) waitAsUnknown() error {
	switch {
	case e.link.held || e.hadTurn:
		return nil
	case !e.describesOnly():
		return e.need(policy.NoCommand)
	}
	e.hadTurn = true
	return e.link.pool.passes(e.ctx, e.link.account(), e.link.waited)
}

// describesOnly tells whether the exchange ends with a Sync and only prepares and describes statements.
func (e *exchange) describesOnly() bool {
	return e.request.Commit && !slices.ContainsFunc(e.request.Steps, func(s proxy.Step) bool { return s.Verb != proxy.Prepare && s.Verb != proxy.Describe })
}

// commandOf is what a step's prepared statement does beside statements on rows.
func commandOf(s *proxy.Step) policy.Verb { return s.Prepared.Approved.Command().Verb }

// ensure gives the name under which the connection has a statement prepared, and has it
// prepared where it has not. One that is not to be kept has no name: it is parsed in each
// exchange. Nor has one that nobody has asked for before, since it may be the last time.
func (e *exchange) ensure(w *wanted, s *proxy.Step) (name string) {
	if p := e.planOf(w); p != nil {
		return p.name
	}
	if p := e.preparingFor(w); p != nil && (p.name != "" || p.at == e.s.wire.unnamed) {
		return p.name
	}
	p := &plan{sql: e.planKey(w), bytes: w.approved.PlanBytes()}
	if _, asked := e.link.pool.descriptions.get(w.key()); asked {
		p.name = e.kept(w).name()
	}
	e.preparing = append(e.preparing, p)
	e.s.growth.add(p.bytes, w.approved.RecordBytes())
	e.unread = e.unread || w.canDiffer() // then it is refused
	e.s.wire.parse(p.name, w.text(), w.paramTypes()...)
	p.at = e.s.wire.unnamed
	e.s.wire.describe(p.name)
	e.pending = true
	e.expect(answer{kind: readDescription, step: s, wanted: w, plan: p, epoch: e.link.pool.descriptions.epoch.Load()})
	e.link.pool.cfg.Recorder.StatementParsed()
	return p.name
}

// changes tells whether the transaction has changed something, or may yet.
func (e *exchange) changes() bool {
	return e.link.changed || e.json != nil && e.json.st.mayWrite || slices.ContainsFunc(e.request.Steps, func(s proxy.Step) bool { a := approvedOf(&s); return a != nil && a.MayWrite() })
}

// kept are the connection's prepared statements, if there is a connection and the statement may be kept; else nil.
func (e *exchange) kept(w *wanted) *statements {
	if e.s == nil || w.approved.Fleeting() || w.approved.PlanBytes() > planMost {
		return nil
	}
	return e.s.statements
}

// planOf is a statement's plan on the connection; nil for none.
func (e *exchange) planOf(w *wanted) *plan { return e.kept(w).get(e.planKey(w)) }

// learn gives what Postgres says of a statement, and asks it where that is not known. The transaction must be open.
func (e *exchange) learn(w *wanted, s *proxy.Step) (described, error) {
	if d, known := e.known(w); known {
		return d, nil
	}
	e.ensure(w, s)
	if err := e.catchUp(); err != nil {
		return described{}, err
	}
	d, known := e.known(w)
	if !known {
		return d, defect("a statement's types are not known")
	}
	return d, nil
}

// describe tells of a statement what its Parse found.
func (e *exchange) describe(s *proxy.Step) error {
	switch commandOf(s) {
	case policy.NoCommand:
	case policy.Fetch:
		if err := e.need(policy.Fetch); err != nil {
			return err
		}
		e.s.wire.parse("", s.Prepared.Approved.Rewritten())
		e.s.wire.describe("")
		e.pending = true
		e.expect(answer{kind: passFetchTypes, step: s})
		return nil
	default:
		e.expect(answer{kind: sendNoTypes, step: s})
		return nil
	}
	if s.Prepared.Told.Outdated {
		return changedResult()
	}
	e.expect(answer{kind: sendStatementTypes, step: s})
	return nil
}

// preparingFor gives the last of a statement's plans that were written in the exchange; nil for none.
func (e *exchange) preparingFor(w *wanted) *plan {
	for _, p := range slices.Backward(e.preparing) {
		if p.sql == e.planKey(w) {
			return p
		}
	}
	return nil
}
