package wire

import (
	"strings"

	"github.com/tenantgate/tenantgate/policy"
)

// begin begins a transaction block; the link hears of it with its first statement.
func (s *session) begin(approved *policy.Approved, c policy.Command, text string) error {
	tag := "BEGIN"
	if text = strings.TrimLeft(text, " \t\r\n"); len(text) >= 5 && strings.EqualFold(text[:5], "start") {
		tag = "START TRANSACTION"
	}
	tx := &s.tx
	switch {
	case tx.block():
		s.notice("25001", "there is already a transaction in progress")
		if err := s.setTxModes(c.Modes); err != nil {
			return err
		}
	case tx.implicit():
		if err := s.beginBehind(approved, c.Modes); err != nil {
			return err
		}
	default:
		if tx.modes != (policy.Modes{}) { // SET TRANSACTION came before
			approved = nil
		}
		if err := s.beginWith(approved, merged(tx.modes, c.Modes)); err != nil {
			return err
		}
		tx.first = s.set.modes()
	}
	s.tag(tag)
	return nil
}

// beginBehind makes a block of the implicit transaction, with all that was done in it: as in
// Postgres, what a SELECT there has fixed stays. One that was begun by name is a block for the
// database already, and takes modes as such.
func (s *session) beginBehind(approved *policy.Approved, modes policy.Modes) (err error) {
	tx, now := &s.tx, s.modes()
	switch text := modesText(modes); {
	case tx.txState != txNamed:
		tx.becomes = approved
		err = s.exchange(false)
		tx.becomes = nil
	case text != "":
		if approved, err = s.decide("SET TRANSACTION" + text); err == nil {
			err = s.quiet(approved)
		}
		if err == nil {
			err = s.exchange(false)
		}
	}
	if err != nil {
		return err
	}
	tx.on(txAdopt)
	tx.unended = true
	tx.first, tx.modes = s.set.modes(), merged(now, modes)
	return nil
}

// beginWith begins a block with modes, and with the session's where they leave one out.
func (s *session) beginWith(approved *policy.Approved, modes policy.Modes) (err error) {
	all := merged(s.set.modes(), modes)
	if approved == nil || modesText(all) != modesText(modes) {
		if approved, err = s.decide("BEGIN" + modesText(all)); err != nil {
			return err
		}
	}
	s.tx.on(txBegin)
	s.tx.begin, s.tx.modes = approved, all
	return nil
}

// endTransaction commits or rolls back.
func (s *session) endTransaction(approved *policy.Approved, c policy.Command) error {
	tag := "COMMIT"
	if c.Verb == policy.Rollback {
		tag = "ROLLBACK"
	}
	modes := s.tx.modes
	switch {
	case !s.tx.block():
		return s.endNothing(tag, c)
	case s.tx.failed():
		modes = s.tx.modesFailed()
		s.rollback()
		s.endBlock(false)
		s.tag("ROLLBACK")
	case !s.tx.linked() && len(s.batch.x.Steps) == 0:
		s.endBlock(c.Verb == policy.Commit)
		s.tag(tag)
	default:
		if err := s.endSent(approved, tag, c); err != nil {
			return err
		}
	}
	if !c.Chain {
		return nil
	}
	if err := s.flushPending(); err != nil {
		return err
	}
	if err := s.beginWith(nil, modes); err != nil {
		return err
	}
	s.tx.first = s.tx.modes
	return nil
}

// endSent has the link end the block. Its own BEGIN is behind a chained one: nothing lasts
// from one transaction to the next.
func (s *session) endSent(approved *policy.Approved, tag string, c policy.Command) (err error) {
	if c.Chain {
		if approved, err = s.decide(tag); err != nil {
			return err
		}
	}
	if err := s.simple(&part{approved: approved}); err != nil {
		return err
	}
	s.tx.ending = c.Verb
	return nil
}

// endNothing is for a COMMIT or a ROLLBACK without a block. It ends the implicit
// transaction, as in Postgres.
func (s *session) endNothing(tag string, c policy.Command) error {
	if c.Chain {
		return pgError("25P01", tag+" AND CHAIN can only be used in transaction blocks")
	}
	if c.Verb == policy.Commit {
		if err := s.exchange(true); err != nil {
			return err
		}
		s.transactionEnded(true)
	} else {
		if err := s.exchange(false); err != nil {
			return err
		}
		s.undo()
	}
	s.notice("25P01", "there is no transaction in progress")
	s.tag(tag)
	return nil
}
