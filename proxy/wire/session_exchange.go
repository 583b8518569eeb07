package wire

import (
	"errors"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// flushPending makes sure that a transaction whose end is collected has ended: what comes behind
// it finds the session as it is then. Nothing of a message may be kept before.
func (s *session) flushPending() error {
	if s.tx.ending == policy.NoCommand {
		return nil
	}
	return s.exchange(true) // what comes behind it is another cycle
}

// exchange has the link do what was collected; at a Sync, and at the end of a block, it
// commits what was not begun.
func (s *session) exchange(sync bool) error {
	x := &s.batch.x
	s.msg.again = false
	sync = sync || s.tx.ending != policy.NoCommand // it ends now: nobody may keep the connection
	if len(x.Steps) == 0 && s.tx.becomes == nil && !(sync && (s.tx.implicit() || s.tx.unended)) {
		s.batch.reset()
		return nil
	}
	about := s.about.text
	s.about.text = "" // unless it is known which step has failed
	if err := s.complete(sync); err != nil {
		s.forgetFailed(0)
		s.portals.closed(false)
		s.portals.endExchange()
		s.batch.reset()
		return err
	}
	state, err := s.runOn(x)
	refusal := refusalIn(err)
	changed := errors.Is(err, proxy.ErrSchemaChanged) && s.refresh(x.Query)
	if s.msg.again = s.runsAgain(refusal, changed); !s.msg.again { // else a cancel request is one of the second run already
		s.leave()
	}
	if err != nil && refusal == nil {
		return err
	}
	s.portals.closed(refusal == nil)
	err = s.ran(state, refusal)
	s.prepared.releaseReplaced()
	s.portals.endExchange()
	if c := s.copied; c != nil {
		c.count += x.Inserted
		if c.over {
			s.copied = nil
		}
	}
	s.batch.reset()
	s.round++
	s.rechecked = false
	if err == nil {
		s.about.text = about
	}
	return err
}

// complete says what the exchange needs beside its steps.
func (s *session) complete(sync bool) error {
	// The client may have waited since the gate was asked, as with the rows of a COPY; and a Sync can commit what earlier exchanges did.
	if sync || s.rechecked {
		s.rechecked = false
		if err := s.identify(); err != nil {
			return err
		}
	}
	if err := s.prove(); err != nil {
		return err
	}
	begin, err := s.beginning()
	if err != nil {
		return err
	}
	opens := policy.Bound{}
	if begin != nil {
		if opens, err = s.bound(begin, nil); err != nil {
			return err
		}
	}
	x, tx := &s.batch.x, &s.tx
	sends := txSend
	if begin != nil && !tx.block() && tx.becomes == nil {
		sends = txSendNamed
	}
	if sync && (sends == txSendNamed || tx.txState == txNamed) {
		if err := s.commitWrapped(); err != nil {
			return err
		}
	}
	opened := tx.linked()
	x.Begin, x.Commit, x.Timeout = opens, sync, s.set.timeout()
	only := tx.modes.ReadOnly // a block's has the session's of its beginning
	if !tx.block() {
		only = s.modes().ReadOnly
	}
	x.ReadOnly = only != nil && *only
	switch {
	case !opened:
		x.Settings = s.set.differing()
	case s.set.applied != s.set.now:
		x.Settings, x.Resettle = s.set.all(), true
	}
	s.set.applied = s.set.now
	tx.on(sends)
	tx.unended = tx.unended && !sync
	return nil
}

// beginning gives what opens a transaction by name, if the exchange has to.
func (s *session) beginning() (*policy.Approved, error) {
	switch modes := modesText(s.modes()); {
	case s.tx.becomes != nil:
		return s.tx.becomes, nil
	case s.tx.block() && !s.tx.linked():
		return s.tx.begin, nil
	case s.tx.txState == txNone && (s.tx.wrap || modes != ""):
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
	return s.quiet(commit)
}

// quiet collects a command that the client is told nothing of.
func (s *session) quiet(approved *policy.Approved) error {
	bound, err := s.bound(approved, nil)
	if err == nil {
		s.batch.add(proxy.Step{Verb: proxy.Quiet, Bound: bound}, note{})
	}
	return err
}
