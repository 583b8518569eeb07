package upstream

import (
	"errors"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// drain brings an exchange that failed to its end: what was left out is passed over, and the
// transaction's state is known.
func (e *exchange) drain() {
	w, l := &e.s.wire, e.link
	switch {
	case e.broken:
		return
	case !w.sent:
		w.out.Buf = w.out.Buf[:0]
		l.opened, l.explicit, e.free = e.atStart.opened, e.atStart.explicit, !e.atStart.held
		return
	case !e.synced:
		w.out.Buf = w.out.Buf[:0]
		if !l.explicit { // it may have succeeded so far, and Sync would commit that
			w.undo()
		}
		w.sync()
		if w.flush() != nil {
			e.broken = true
			return
		}
	}
	if state := e.untilReady(); state != 0 {
		e.applyState(state)
	}
	for _, p := range e.preparing { // it may be there, and nobody would know its name
		if e.s.statements.get(p.sql) != p {
			e.s.statements.close(p.name)
		}
	}
}

// failure tells what is known about the end of an exchange.
func (e *exchange) failure(err error) *linkFailure {
	f := &linkFailure{st: e.statement(e.failedStep()), step: e.stepsDone(), client: e.clientErr, endedEarlier: e.ended}
	f.st.mayWrite = f.st.mayWrite || e.link.changed // what was written before may be committed with it
	f.failure = failure{
		err: err, reached: e.reached, unsent: e.s == nil || !e.s.wire.sent, synced: e.synced && !e.link.explicit || e.ended || e.committing, at: e.at,
		outlived: e.timedOut && !e.unconfirmed && e.s != nil && (!e.s.pooled() || e.reached >= begun), elapsed: e.elapsed(), readOnly: e.request.ReadOnly,
		executed:  e.reading != nil && e.reading.kind.executing(),
		announced: e.json != nil && e.json.st.announced != nil,
	}
	if e.committing && !f.unsent {
		f.reached = completed // Postgres answers a COMMIT after it has committed
	}
	errors.As(err, &f.refused)
	if f.stale() {
		e.dropStale(e.wantedBy(e.reading), sqlState(err) == undefinedStatement)
	}
	return f
}

// endLost ends a transaction with its connection where that was asked for. A ROLLBACK is done. Whatever
// became of a COMMIT, the transaction is over: were it only to have failed, the ROLLBACK behind
// it would tell of something undone that may be committed.
func (e *exchange) endLost(f *linkFailure) {
	if e.s != nil && !e.s.abandoned {
		return
	}
	f.rolledBack = !e.committing && e.rollsBack(f.step)
	if !f.rolledBack && !e.committing {
		return
	}
	l := e.link
	l.explicit, l.failed = false, false
	if f.rolledBack && f.step < len(e.request.Steps) { // else it was told
		e.out.Complete("ROLLBACK")
	}
}

// rollsBack tells whether, behind so many steps, nothing but a ROLLBACK is left to do, or to confirm.
// Behind a chained one there would be a transaction.
func (e *exchange) rollsBack(done int) bool {
	last := len(e.request.Steps) - 1
	if last < 0 || done < last {
		return false
	}
	s := &e.request.Steps[last]
	return verbOf(s) == policy.Rollback && !approvedOf(s).Command().Chain
}

// wantedBy is the statement that an answer is about; nil for none. A step that is about a portal alone has none.
func (e *exchange) wantedBy(a *answer) *wanted {
	switch {
	case a == nil:
		return nil
	case e.json != nil:
		return &e.json.st.wanted
	case a.step == nil || a.step.Prepared == nil && !a.step.Bound.Valid():
		return nil
	}
	return e.wantedFor(a.step)
}

// dropStale forgets what was known of a statement that does not fit the schema any more; nil: of none. Where one is gone,
// somebody has dropped the connection's statements, all of them and the session's own.
func (e *exchange) dropStale(w *wanted, gone bool) {
	if w != nil {
		e.s.statements.drop(e.planKey(w))
		e.link.pool.descriptions.drop(w.key())
	}
	if gone {
		e.link.giveUp()
	}
}

// failedStep is the step that an error is about: that whose answer was being read, or that which
// could not be written; nil: none.
func (e *exchange) failedStep() *proxy.Step {
	switch {
	case e.reading != nil && e.reading.step != nil:
		return e.reading.step
	case e.writing < len(e.request.Steps):
		return &e.request.Steps[e.writing]
	}
	return nil
}

// stepsDone counts the steps that are answered: those before the first of which an answer is to come, or,
// where none is, before that which could not be written.
func (e *exchange) stepsDone() int {
	for _, a := range e.answers[e.answered:] {
		for i := range e.request.Steps {
			if a.step == &e.request.Steps[i] {
				return i
			}
		}
	}
	return e.writing
}

// statement is what a step runs, for the errors.
func (e *exchange) statement(s *proxy.Step) *statement {
	if e.json != nil {
		return e.json.st
	}
	st := newStatement()
	switch {
	case s == nil:
	case s.Bound.Valid():
		st.load(s.Bound)
	case approvedOf(s) != nil:
		st.takeApproved(approvedOf(s))
	}
	st.native, st.limits.StatementTimeout = true, e.timeLimit
	return st
}
