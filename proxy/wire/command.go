package wire

import (
	"fmt"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// isLocal tells the commands that the session does itself, or has done by a step of its own.
// The others are run as statements are.
func isLocal(verb policy.Verb) bool {
	switch verb {
	case policy.NoCommand, policy.Declare, policy.Fetch, policy.Move, policy.CloseCursor, policy.CopyOut:
		return false
	}
	return true
}

// perform does a command. Whatever has an effect on the session waits for what was collected
// before it: it has none where that fails.
func (s *session) perform(approved *policy.Approved, text string) error {
	c := approved.Command()
	if err := s.mayRun(c.Verb); err != nil {
		return err
	}
	switch c.Verb {
	case policy.Commit, policy.Rollback:
		return s.endTransaction(approved, c)
	case policy.Savepoint:
		return s.savepoint(approved, c.Name)
	}
	if err := s.exchange(false); err != nil {
		return err
	}
	switch c.Verb {
	case policy.Begin:
		return s.begin(approved, c, text)
	case policy.Release, policy.RollbackTo:
		return s.toSavepoint(approved, c)
	case policy.SetTransaction:
		return s.setTransaction(approved, c.Modes)
	case policy.SetSession:
		s.set.setModes(c.Modes)
		s.tag("SET")
		return nil
	case policy.Set, policy.Reset:
		return s.change(c)
	case policy.Show:
		return s.show(c.Name)
	case policy.Discard:
		return s.discard(c, text)
	case policy.Deallocate:
		return s.deallocate(c.Name)
	case policy.CopyIn:
		return s.copyIn(approved, text)
	}
	return unsupported("this command is not supported", "")
}

// begin begins a transaction block; the link hears of it with its first statement.
func (s *session) begin(approved *policy.Approved, c policy.Command, text string) error {
	tag := "BEGIN"
	if len(text) >= 5 && strings.EqualFold(text[:5], "start") {
		tag = "START TRANSACTION"
	}
	tx := &s.tx
	switch {
	case tx.block:
		s.notice("25001", "there is already a transaction in progress")
	case tx.wrapped: // the text began as an implicit transaction, which goes on as this one
		tx.block, tx.sent, tx.wrapped, tx.implicit = true, true, false, false
	case tx.implicit:
		return unsupported("BEGIN after other statements, without a Sync between them, is not supported", "Send Sync, or begin the transaction first.")
	default:
		if err := s.beginWith(approved, c.Modes); err != nil {
			return err
		}
	}
	s.tag(tag)
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
	s.tx.block, s.tx.begin, s.tx.modes = true, approved, all
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
	case !s.tx.block:
		return s.endNothing(tag, c)
	case s.tx.failed:
		s.link.Rollback()
		s.endBlock(false)
		s.tag("ROLLBACK")
	case !s.tx.sent && len(s.batch.x.Steps) == 0:
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
	if err := s.settled(); err != nil {
		return err
	}
	return s.beginWith(nil, modes)
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
		return told("25P01", tag+" AND CHAIN can only be used in transaction blocks")
	}
	if c.Verb == policy.Commit {
		if err := s.exchange(true); err != nil {
			return err
		}
		s.settle(true)
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

// savepoint sets a savepoint.
func (s *session) savepoint(approved *policy.Approved, name string) error {
	if !s.tx.block {
		return told("25P01", "SAVEPOINT can only be used in transaction blocks")
	}
	if len(s.tx.points) >= mostSavepoints {
		return &proxy.Error{Code: proxy.Overloaded, SQLState: "54000", Message: "too many savepoints", Hint: "Release some of them."}
	}
	if err := s.simple(&part{approved: approved}); err != nil {
		return err
	}
	s.tx.points = append(s.tx.points, savepoint{strings.Clone(name), s.set.now, s.set.kept})
	return nil
}

// toSavepoint releases a savepoint, or goes back to it.
func (s *session) toSavepoint(approved *policy.Approved, c policy.Command) error {
	what := "RELEASE SAVEPOINT"
	if c.Verb == policy.RollbackTo {
		what = "ROLLBACK TO SAVEPOINT"
	}
	switch {
	case !s.tx.block:
		return told("25P01", what+" can only be used in transaction blocks")
	case !s.tx.sent:
		return told("3B001", fmt.Sprintf("savepoint %q does not exist", printable(c.Name)))
	}
	if err := s.simple(&part{approved: approved}); err != nil {
		return err
	}
	if err := s.exchange(false); err != nil {
		return err
	}
	at := s.tx.find(c.Name)
	switch {
	case c.Verb == policy.Release && at >= 0:
		s.tx.points = s.tx.points[:at]
	case c.Verb == policy.RollbackTo:
		s.tx.failed = false
		if at >= 0 {
			s.set.now, s.set.kept = s.tx.points[at].now, s.tx.points[at].kept
			s.set.applied = nil
			s.tx.points = s.tx.points[:at+1]
		}
	}
	s.tx.saved()
	return nil
}

// setTransaction sets the modes of the transaction that is open.
func (s *session) setTransaction(approved *policy.Approved, modes policy.Modes) error {
	switch {
	case !s.tx.block:
		s.notice("25P01", "SET TRANSACTION can only be used in transaction blocks")
	case s.tx.sent:
		return s.setLate(approved, modes)
	default:
		if err := s.beginWith(nil, merged(s.tx.modes, modes)); err != nil {
			return err
		}
	}
	s.tag("SET")
	return nil
}

// setLate sets modes once statements have run: as in Postgres, the transaction can become
// read-only, and that is all.
func (s *session) setLate(approved *policy.Approved, modes policy.Modes) error {
	now := s.tx.modes
	switch {
	case modes.Isolation != "" && modes.Isolation != isolation(now.Isolation):
		return told("25001", "SET TRANSACTION ISOLATION LEVEL must be called before any query")
	case modes.Deferrable != nil:
		return told("25001", "SET TRANSACTION [NOT] DEFERRABLE must be called before any query")
	case modes.ReadOnly == nil || !*modes.ReadOnly:
		if modes.ReadOnly != nil && onOff(now.ReadOnly) == "on" {
			return told("25001", "transaction read-write mode must be set before any query")
		}
		s.tag("SET")
		return nil
	}
	if err := s.simple(&part{approved: approved}); err != nil {
		return err
	}
	s.tx.modes = merged(now, policy.Modes{ReadOnly: modes.ReadOnly})
	return nil
}

// discard does DISCARD, which connection pools send between two of their users.
func (s *session) discard(c policy.Command, text string) error {
	what := strings.ToUpper(c.Name)
	if what == "" {
		what = "ALL"
	}
	switch {
	case what != "ALL":
	case s.tx.block:
		return told("25001", "DISCARD ALL cannot run inside a transaction block")
	default:
		s.portals.drop()
		s.prepared = prepared{}
		s.set.resetAll()
	}
	_ = text
	s.tag("DISCARD " + what)
	return nil
}

// deallocate forgets prepared statements, which share their names with those of the protocol.
func (s *session) deallocate(name string) error {
	if name == "" {
		unnamed := s.prepared.unnamed
		s.prepared = prepared{unnamed: unnamed}
		s.tag("DEALLOCATE ALL")
		return nil
	}
	of := s.prepared.find(name)
	if of == nil {
		return unknownStatement(name)
	}
	s.prepared.drop(of)
	s.tag("DEALLOCATE")
	return nil
}

// describeLocal tells the columns of what is answered here.
func (s *session) describeLocal(w *frame.Writer, of *statement, formats []int16) {
	switch {
	case of.answer != nil:
		of.answer.describe(w, formats)
	case of.command().Verb == policy.Show:
		s.describeShow(w, of.command().Name, formats)
	default:
		w.Empty(frame.NoData)
	}
}
