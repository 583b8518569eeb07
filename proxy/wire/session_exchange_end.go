package wire

import (
	"context"
	"errors"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// ran takes in what became of an exchange, and gives the error to be told.
func (s *session) ran(state proxy.State, refusal *proxy.Error) error {
	s.counted(refusal)
	if refusal == nil {
		return s.succeeded(state)
	}
	s.forgetFailed(s.batch.x.Done)
	s.locate(refusal)
	ended := s.tx.ending != policy.NoCommand && state == proxy.Idle
	s.tx.ending = policy.NoCommand
	switch {
	case ended: // the commit itself has failed, or nobody knows
		s.endBlock(false)
	case s.tx.block():
		if s.tx.unended = false; state == proxy.Idle {
			s.tx.on(txLoses)
		} else {
			s.tx.on(txBreaks)
		}
		s.tx.trim(s.batch.x.Done)
		s.countSavepoints()
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
	case tx.block():
		if state == proxy.Failed {
			tx.on(txBreaks)
		}
		tx.saved()
	case s.batch.x.Commit || state == proxy.Idle: // a Parse may need no connection
		tx.on(txIdles)
	default:
		tx.on(txStays)
	}
	return nil
}

// undo rolls an implicit transaction back.
func (s *session) undo() {
	s.rollback()
	s.tx.on(txEnds)
	s.portals.drop()
	s.transactionEnded(false)
}

// forgetFailed drops the portals that were to be made, and the statements that were to be prepared, by steps that were not done. The
// unnamed statement before stays, unless it is its successor that failed.
func (s *session) forgetFailed(done int) {
	s.portals.dropFailed(max(done, 0))
	s.prepared.releaseReplaced() // the one that comes back counts as itself
	for i := len(s.batch.notes) - 1; i >= max(done, 0); i-- {
		n := s.batch.notes[i]
		if n.made == nil || s.prepared.find(n.made.name) != n.made {
			continue
		}
		s.prepared.drop(n.made)
		if n.made.name == "" && i > done && n.was != nil {
			if n.was.approved != nil {
				n.was.approved.Told = n.told // the Parse of the same text was left out
			}
			_ = s.prepared.add(n.was) // where others have taken its room meanwhile, there is none
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
		if n.kind != "" && !s.msg.again {
			s.recorder().Statement(string(n.kind), code)
		}
		if code != "ok" {
			return // the rest was left out
		}
	}
}

// locate notes where in the client's message the step is that failed.
func (s *session) locate(refusal *proxy.Error) {
	done, last := s.batch.x.Done, len(s.batch.notes)-1
	if done > last && last >= 0 { // the commit, which has no text, or the last statement's
		s.about.text = s.batch.notes[last].text
	}
	if done >= 0 && done <= last {
		n := s.batch.notes[done]
		s.about.offset, s.about.taken, s.about.text = n.offset, n.taken, n.text
		if n.line > 0 && s.copied != nil {
			s.about.where = s.copied.at(n.line)
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
	early := refusal.SQLState == canceled || refusal.Unsettled || refusal.Retryable || refusal.Code == policy.Internal ||
		refusal.Code == proxy.UpstreamUnavailable || refusal.Code == proxy.StatementTimeout
	switch {
	case errors.Is(cause, errClientGone):
		return errGone
	case !early, refusal.Unsettled && errors.Is(cause, errCancelled):
		return refusal
	case errors.Is(cause, errCancelled):
		return &proxy.Error{Code: policy.QueryFailed, SQLState: canceled, Message: errCancelled.Error(), Cause: refusal}
	case refusal.Unsettled: // whoever is told to connect again repeats it
		return &fatal{state: refusal.SQLState, code: refusal.Code, message: refusal.Message, cause: refusal}
	}
	why := errShutdown
	_ = errors.As(cause, &why)
	return why.because(refusal)
}

// refresh has the schema read again, so that the statement can be decided on anew: a Query message's here, where the
// schema is another than when the message came, and any other when the client repeats it. A cancel request ends the waiting,
// for the exchange is not left yet.
func (s *session) refresh(query bool) (changed bool) {
	since := time.Now()
	defer s.apart(since)
	if query {
		since = s.msg.began
	}
	changed, _ = s.gate.Refresh(s.present.ctx, since) // without a schema the client is told
	return changed
}

var errGone = errors.New("the client is gone")
