package upstream

import (
	"strconv"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// step writes what one step asks of Postgres, and notes what the client gets for it.
func (e *exchange) step(s *proxy.Step) error {
	switch s.Verb {
	case proxy.Say:
		e.expect(answer{kind: said, step: s})
		return nil
	case proxy.Prepare:
		return e.prepare(s)
	case proxy.Describe:
		return e.describe(s)
	case proxy.DescribePortal:
		return e.describePortal(s)
	case proxy.Bind:
		return e.bind(s)
	case proxy.Execute:
		return e.execute(s)
	case proxy.ClosePortal:
		return e.closePortal(s)
	case proxy.Simple, proxy.Quiet:
		return e.simple(s)
	}
	return defect("a step of verb " + strconv.Itoa(int(s.Verb)))
}

// need makes sure that the transaction is open and can take a statement.
func (e *exchange) need(verb policy.Verb) error {
	l := e.link
	ends := verb == policy.Commit || verb == policy.Rollback || verb == policy.RollbackTo
	if l.failed && !ends && len(e.answers) > 0 { // a ROLLBACK among what was written ends that
		if err := e.catchUp(); err != nil {
			return err
		}
	}
	if l.failed && !ends {
		return aborted()
	}
	if l.explicit && l.failed && !l.held {
		return lostTransaction()
	}
	if l.opened {
		return nil
	}
	return e.open()
}

// aborted is what Postgres says of statements in a transaction that has failed.
func aborted() *proxy.Error {
	return &proxy.Error{Code: policy.QueryFailed, SQLState: "25P02", Message: "current transaction is aborted, commands ignored until end of transaction block"}
}

// lostTransaction tells of one whose connection is gone.
func lostTransaction() *proxy.Error {
	return &proxy.Error{Code: proxy.UpstreamUnavailable, Message: "the transaction ended with its connection to the database; begin a new one"}
}

// prepare answers at once where it is known what Postgres says of the statement; else
// Postgres is asked, so that the client learns now what is wrong with it.
func (e *exchange) prepare(s *proxy.Step) error {
	if commandOf(s) != policy.NoCommand {
		e.expect(answer{kind: toldParsed})
		return nil
	}
	w := wantedOf(s.Prepared, s.Prepared.Approved)
	if d, known := e.link.pool.descriptions.get(w.key()); known {
		w.told = &d
		e.expect(answer{kind: toldParsed})
		return nil
	}
	if err := e.need(policy.NoCommand); err != nil {
		return err
	}
	e.ensure(w, s)
	e.expect(answer{kind: toldParsed})
	return nil
}

// commandOf is what a step's prepared statement does beside statements on rows.
func commandOf(s *proxy.Step) policy.Verb { return s.Prepared.Approved.Command().Verb }

// ensure gives the name under which the connection has a statement prepared, and has it
// prepared where it has not. One that is fleeting has no name: it is parsed each time.
func (e *exchange) ensure(w *wanted, s *proxy.Step) (name string) {
	kept := e.kept(w)
	if p := kept.get(e.planKey(w)); p != nil {
		return p.name
	}
	if p := e.isMaking(w); p != nil && p.name != "" {
		return p.name
	}
	p := &plan{sql: e.planKey(w), name: kept.name()}
	e.making = append(e.making, p)
	e.s.wire.parse(p.name, w.approved.Rewritten(), w.approved.Declared()...)
	e.s.wire.describe(p.name)
	e.pending = true
	e.expect(answer{kind: parsed, step: s, wanted: w, plan: p, epoch: e.link.pool.descriptions.epoch.Load()})
	e.link.pool.cfg.Recorder.StatementParsed()
	return p.name
}

// kept are the connection's prepared statements, if one of them may be kept; else nil.
func (e *exchange) kept(w *wanted) *statements {
	if w.approved.Fleeting() {
		return nil
	}
	return e.s.statements
}

// describe tells of a statement what is known when its turn has come.
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
		e.expect(answer{kind: fetched, step: s})
		return nil
	default:
		e.expect(answer{kind: toldNothing, step: s})
		return nil
	}
	w := wantedOf(s.Prepared, s.Prepared.Approved)
	if w.told == nil {
		if d, known := e.link.pool.descriptions.get(w.key()); known {
			w.told = &d
		}
	}
	if w.told == nil && (!e.link.held || e.isMaking(w) == nil) {
		if err := e.need(policy.NoCommand); err != nil {
			return err
		}
		e.ensure(w, s)
	}
	e.expect(answer{kind: toldStatement, step: s, wanted: w})
	return nil
}

// isMaking gives a statement's plan that was written and not confirmed; nil for none.
func (e *exchange) isMaking(w *wanted) *plan {
	for _, p := range e.making {
		if p.sql == e.planKey(w) {
			return p
		}
	}
	return nil
}

func (e *exchange) execute(s *proxy.Step) error {
	if s.Approved == nil {
		return defect("a portal without approval reached upstream")
	}
	if err := e.need(verbOf(s)); err != nil {
		return err
	}
	e.s.wire.executePortal(s.Portal, s.Most)
	e.pending = true
	e.ran(s, rows)
	return nil
}

// ran notes that a step's statement runs, and what that does to the transaction.
func (e *exchange) ran(s *proxy.Step, kind answerKind) {
	e.expect(answer{kind: kind, step: s})
	a := approvedOf(s)
	limits := a.Limits()
	e.review = e.review || a.Writes() && a.Returns() && (limits.MaxRows >= 0 || limits.MaxResultBytes >= 0)
	e.link.wrote = e.link.wrote || a.Writes()
	switch verbOf(s) {
	case policy.Commit, policy.Rollback:
		e.committing = verbOf(s) == policy.Commit
		e.link.opened = false // what follows is another transaction
	case policy.SetTransaction:
		e.link.wants(a)
	}
}

func (e *exchange) describePortal(s *proxy.Step) error {
	if s.Prepared == nil || verbOf(s) != policy.NoCommand || e.link.failed {
		if err := e.need(policy.NoCommand); err != nil {
			return err
		}
		e.s.wire.about(frame.Describe, frame.Portal, s.Portal)
		e.pending = true
		e.expect(answer{kind: portalTold, step: s})
		return nil
	}
	e.expect(answer{kind: toldPortal, step: s, wanted: e.wantedFor(s)})
	return nil
}

func (e *exchange) closePortal(s *proxy.Step) error {
	if !e.link.opened || e.link.failed {
		e.expect(answer{kind: toldClosed, step: s})
		return nil
	}
	e.s.wire.about(frame.Close, frame.Portal, s.Portal)
	e.pending = true
	e.expect(answer{kind: closed, step: s})
	return nil
}

// simple runs a statement from its preparation to its end.
func (e *exchange) simple(s *proxy.Step) error {
	if err := e.begun(s); err != nil {
		return err
	}
	e.writeBind(s, "", nil)
	e.expect(answer{kind: ownBound, step: s})
	e.checkShapes(s)
	switch verb := verbOf(s); {
	case s.Verb == proxy.Quiet:
	case verb == policy.Fetch:
		e.s.wire.about(frame.Describe, frame.Portal, "")
		e.expect(answer{kind: portalTold, step: s})
	case verb == policy.NoCommand && s.Bound.Returns():
		e.expect(answer{kind: toldSimple, step: s, wanted: e.wantedFor(s)})
	}
	e.s.wire.executePortal("", 0)
	kind := rows
	if s.Verb == proxy.Quiet {
		kind = ownRows
	}
	e.ran(s, kind)
	return nil
}

// approvedOf is what a step is about; nil for one that is about no statement.
func approvedOf(s *proxy.Step) *policy.Approved {
	switch {
	case s.Bound.Valid():
		return s.Bound.Approved()
	case s.Approved != nil:
		return s.Approved
	case s.Prepared != nil:
		return s.Prepared.Approved
	}
	return nil
}

// verbOf is what a step's statement does beside statements on rows. The rows of a COPY come
// one by one, each as such a statement.
func verbOf(s *proxy.Step) policy.Verb {
	a := approvedOf(s)
	if a == nil || a.Command().Verb == policy.CopyIn {
		return policy.NoCommand
	}
	return a.Command().Verb
}
