package wire

import (
	"context"
	"errors"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// settled makes sure that a transaction whose end is collected has ended: what comes behind
// it finds the session as it is then. Nothing of a message may be kept before.
func (s *session) settled() error {
	if s.tx.ending == policy.NoCommand {
		return nil
	}
	return s.exchange(true) // what comes behind it is another cycle
}

// exchange has the link do what was collected; at a Sync, it commits what was not begun.
func (s *session) exchange(sync bool) error {
	x := &s.batch.x
	if len(x.Steps) == 0 && !(sync && s.tx.implicit) {
		s.batch.reset()
		return nil
	}
	if err := s.complete(sync); err != nil {
		s.forget(0)
		s.portals.forgetViews()
		s.batch.reset()
		return err
	}
	present := s.follow()
	state, err := s.link.Run(present.ctx, x, &s.c.out)
	s.leave()
	refusal := refusalIn(err)
	if err != nil && refusal == nil {
		return err
	}
	if errors.Is(err, proxy.ErrSchemaChanged) {
		s.refresh()
	}
	err = s.ran(state, refusal)
	s.portals.forgetViews()
	s.batch.reset()
	s.round++
	if s.copied != nil && s.copied.over {
		s.copied = nil
	}
	s.asked = false
	return err
}

// complete says what the exchange needs beside its steps.
func (s *session) complete(sync bool) error {
	if err := s.prove(); err != nil {
		return err
	}
	begin, err := s.beginning()
	if err != nil {
		return err
	}
	x, tx := &s.batch.x, &s.tx
	if begin != nil && !tx.block {
		tx.wrapped = true
	}
	if tx.wrapped && sync {
		if err := s.commitWrapped(); err != nil {
			return err
		}
	}
	opened := tx.sent || tx.implicit
	x.Begin, x.Commit, x.Timeout = begin, sync, s.set.timeout()
	switch {
	case !opened:
		x.Settings = s.set.differing()
	case s.set.applied != s.set.now:
		x.Settings, x.Resettle = s.set.all(), true
	}
	s.set.applied = s.set.now
	tx.sent = tx.block
	return nil
}

// beginning gives what opens a transaction by name, if the exchange has to.
func (s *session) beginning() (*policy.Approved, error) {
	switch modes := modesText(s.set.modes()); {
	case s.tx.block && !s.tx.sent:
		return s.tx.begin, nil
	case !s.tx.block && !s.tx.implicit && (s.tx.wrap || modes != ""):
		return s.decide("BEGIN" + modes)
	}
	return nil, nil
}

// commitWrapped adds the end of a transaction that the client did not ask for by name.
func (s *session) commitWrapped() error {
	commit, err := s.decide("COMMIT")
	if err != nil {
		return err
	}
	bound, err := s.bound(commit, nil)
	if err != nil {
		return err
	}
	s.batch.add(proxy.Step{Verb: proxy.Quiet, Bound: bound}, note{})
	return nil
}

// ran takes in what became of an exchange, and gives the error to be told.
func (s *session) ran(state proxy.State, refusal *proxy.Error) error {
	s.counted(refusal)
	if refusal == nil {
		return s.succeeded(state)
	}
	s.forget(s.batch.x.Done)
	s.locate(refusal)
	ended := s.tx.ending != policy.NoCommand && state == proxy.Idle
	s.tx.ending = policy.NoCommand
	switch {
	case ended: // the commit itself has failed
		s.endBlock(false)
	case s.tx.block:
		s.tx.failed, s.tx.sent = true, state != proxy.Idle
		s.tx.trim()
	default:
		s.undo()
	}
	if cause := context.Cause(s.present.ctx); cause != nil {
		return interrupted(cause, refusal)
	}
	return refusal
}

// succeeded takes in the state after an exchange of which every step was done.
func (s *session) succeeded(state proxy.State) error {
	tx := &s.tx
	switch {
	case tx.ending != policy.NoCommand:
		s.endBlock(tx.ending == policy.Commit)
	case tx.block:
		tx.failed = tx.failed || state == proxy.Failed
		tx.saved()
	default:
		tx.implicit = !s.batch.x.Commit
		if !tx.implicit {
			tx.wrapped = false
		}
	}
	return nil
}

// undo rolls an implicit transaction back.
func (s *session) undo() {
	if s.tx.implicit || s.tx.wrapped {
		s.link.Rollback()
	}
	s.tx.implicit, s.tx.wrapped = false, false
	s.portals.drop()
	s.settle(false)
}

// forget drops the statements that were to be prepared by steps that were not done.
func (s *session) forget(done int) {
	for i := max(done, 0); i < len(s.batch.notes); i++ {
		if made := s.batch.notes[i].made; made != nil {
			s.prepared.drop(made)
		}
	}
}

// counted tells the recorder how the statements of an exchange ended.
func (s *session) counted(refusal *proxy.Error) {
	for i, n := range s.batch.notes {
		code := "ok"
		if refusal != nil && i >= s.batch.x.Done {
			code = string(refusal.Code)
		}
		if n.kind != "" {
			s.recorder().Statement(string(n.kind), code)
		}
		if code != "ok" {
			return // the rest was left out
		}
	}
}

// locate notes where in the client's message the step is that failed.
func (s *session) locate(refusal *proxy.Error) {
	if done := s.batch.x.Done; done >= 0 && done < len(s.batch.notes) {
		n := s.batch.notes[done]
		s.offset, s.taken = n.offset, n.taken
		if n.line > 0 && s.copied != nil {
			s.where = s.copied.at(n.line)
			if s.copied.over {
				s.recorder().Statement(string(s.copied.insert.Kind()), string(refusal.Code))
			}
		}
	}
}

// canceled is the SQLSTATE of a statement that was cancelled.
const canceled = "57014"

// interrupted tells an error by what ended its context, unless the statement came to an end of
// its own.
func interrupted(cause error, refusal *proxy.Error) error {
	early := refusal.SQLState == canceled || refusal.Retryable || refusal.Code == policy.Internal ||
		refusal.Code == proxy.UpstreamUnavailable || refusal.Code == proxy.StatementTimeout
	switch {
	case errors.Is(cause, errClientGone):
		return errGone
	case !early:
		return refusal
	case errors.Is(cause, errCancelled):
		return &proxy.Error{Code: policy.QueryFailed, SQLState: canceled, Message: errCancelled.Error(), Cause: refusal}
	}
	return errShutdown.because(refusal)
}

// refresh has the schema read again, so that the statement can be decided on anew when the
// client repeats it.
func (s *session) refresh() {
	if gate, can := s.gate.(interface {
		Refresh(ctx context.Context, since time.Time) (bool, error)
	}); can {
		_, _ = gate.Refresh(s.base, time.Now()) // the client is told of the change in any case
	}
}

var errGone = errors.New("the client is gone")
