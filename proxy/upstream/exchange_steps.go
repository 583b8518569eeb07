package upstream

import (
	"slices"
	"strconv"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// step writes what one step asks of Postgres, and notes what the client gets for it.
func (e *exchange) step(s *proxy.Step) error {
	if err := e.countRecordTypes(approvedOf(s)); err != nil {
		return err
	}
	if a := approvedOf(s); a != nil && a.Zones() {
		if err := e.countZones(); err != nil {
			return err
		}
	}
	if e.unread && e.isLasting(s) {
		if err := e.catchUp(); err != nil {
			return err
		}
		e.unread = false
	}
	switch s.Verb {
	case proxy.Say:
		e.expect(answer{kind: sendText, step: s})
		return nil
	case proxy.Copied:
		e.expect(answer{kind: sendCopied, step: s})
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
	if l.opened && (!l.settingsLost || ends) {
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

func (e *exchange) execute(s *proxy.Step) error {
	if s.Approved == nil {
		return defect("a portal without approval reached upstream")
	}
	if err := e.declares(s); err != nil {
		return err
	}
	if err := e.need(verbOf(s)); err != nil {
		return err
	}
	e.s.wire.executePortal(s.Portal, s.Most)
	e.link.midway = e.link.midway || s.Most > 0 && s.Approved.MayWrite()
	e.pending = true
	e.addRun(s, passRows)
	return nil
}

// addRun notes that a step's statement runs, and what that does to the transaction.
func (e *exchange) addRun(s *proxy.Step, kind answerKind) {
	e.expect(answer{kind: kind, step: s})
	a := approvedOf(s)
	e.unread = e.unread || refusable(a)
	e.link.changed = e.link.changed || a.MayWrite()
	switch verbOf(s) {
	case policy.Commit, policy.Rollback:
		e.committing = e.committing || verbOf(s) == policy.Commit
		e.link.opened = false // what follows is another transaction
	case policy.RollbackTo:
		e.link.settingsLost = true
	}
}

// isLasting tells whether a step does something that Postgres would leave out behind an error, and that a ROLLBACK TO does not
// undo: it ends a transaction, makes or drops a savepoint, moves or closes a cursor or portal. An end that is not the client's
// matters only where it could commit a change: without a block the client's state is the same either way.
func (e *exchange) isLasting(s *proxy.Step) bool {
	replaces := s.Verb == proxy.Bind && s.Portal == ""
	if replaces || s.Verb == proxy.ClosePortal || s.Verb == proxy.Execute && verbOf(s) == policy.NoCommand {
		return e.isEarlier(s.Portal)
	}
	switch verbOf(s) {
	case policy.NoCommand, policy.CopyOut, policy.Declare:
		return false
	}
	return s.Verb != proxy.Quiet || e.changes()
}

// isEarlier tells whether a portal is still there behind an error and a ROLLBACK TO: whether it was bound before the exchange, or
// before a savepoint in it.
func (e *exchange) isEarlier(portal string) bool {
	for _, s := range slices.Backward(e.request.Steps[:e.writing]) {
		if s.Verb == proxy.Bind && s.Portal == portal {
			return false
		}
		if verbOf(&s) == policy.Savepoint {
			break
		}
	}
	return true
}

// refusable tells whether a statement's result can be refused for its size.
func refusable(a *policy.Approved) bool {
	limits, verb := a.Limits(), a.Command().Verb
	return (a.Returns() && verb != policy.Declare || verb == policy.CopyOut) && (limits.MaxRows >= 0 || limits.MaxResultBytes >= 0)
}

func (e *exchange) describePortal(s *proxy.Step) error {
	if s.Prepared == nil || verbOf(s) != policy.NoCommand || e.link.failed {
		if err := e.need(policy.NoCommand); err != nil {
			return err
		}
		e.s.wire.about(frame.Describe, frame.Portal, s.Portal)
		e.pending = true
		e.expect(answer{kind: passPortalColumns, step: s})
		return nil
	}
	e.expect(answer{kind: sendPortalColumns, step: s, wanted: e.wantedFor(s)})
	return nil
}

func (e *exchange) closePortal(s *proxy.Step) error {
	if !e.link.opened {
		e.expect(answer{kind: sendCloseComplete, step: s})
		return nil
	}
	e.s.wire.about(frame.Close, frame.Portal, s.Portal)
	e.pending = true
	e.expect(answer{kind: passCloseComplete, step: s})
	return nil
}

// simple runs a statement from its preparation to its end.
func (e *exchange) simple(s *proxy.Step) error {
	if err := e.beginStatement(s); err != nil {
		return err
	}
	if err := e.declares(s); err != nil {
		return err
	}
	e.writeBind(s, "", nil)
	e.expect(answer{kind: skipBindComplete, step: s})
	e.checkShapes(s.Bound.Approved().Shapes(), s)
	switch verb := verbOf(s); {
	case s.Verb == proxy.Quiet:
	case verb == policy.Fetch:
		e.s.wire.about(frame.Describe, frame.Portal, "")
		e.expect(answer{kind: passPortalColumns, step: s})
	case verb == policy.NoCommand && s.Bound.Returns():
		e.expect(answer{kind: sendColumns, step: s, wanted: e.wantedFor(s)})
	}
	e.s.wire.executePortal("", 0)
	kind := passRows
	if s.Verb == proxy.Quiet {
		kind = skipRows
	}
	e.addRun(s, kind)
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
