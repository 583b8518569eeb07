package wire

import (
	"strings"

	"github.com/tenantgate/tenantgate/policy"
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
		return s.setTransaction(c.Modes)
	case policy.SetSession:
		s.set.setModes(c.Modes)
		s.tag("SET")
		return nil
	case policy.Set, policy.Reset:
		return s.change(c)
	case policy.Show:
		return s.show(c.Name)
	case policy.Discard:
		return s.discard(c)
	case policy.Deallocate:
		return s.deallocate(c.Name)
	case policy.Unlisten:
		s.tag("UNLISTEN")
		return nil
	case policy.CopyIn:
		return s.copyIn(approved, text)
	}
	return unsupported("this command is not supported", "")
}

// setTransaction sets the modes of the transaction that is open.
func (s *session) setTransaction(modes policy.Modes) error {
	s.wantBlock("SET TRANSACTION")
	if err := s.setTxModes(modes); err != nil {
		return err
	}
	s.tag("SET")
	return nil
}

// setTxModes gives modes to the transaction that is open, for the client or for Postgres alone.
func (s *session) setTxModes(modes policy.Modes) error {
	switch {
	case s.tx.linked():
		return s.setTxModesAfterStart(modes)
	case s.tx.block():
		return s.beginWith(nil, merged(s.tx.modes, modes))
	}
	s.tx.modes = merged(s.tx.modes, modes)
	return nil
}

// setTxModesAfterStart gives modes once statements have run: as in Postgres, the transaction can become
// read-only, and that is all.
func (s *session) setTxModesAfterStart(modes policy.Modes) error {
	now := s.modes()
	switch {
	case modes.Isolation != "" && modes.Isolation != isolation(now.Isolation):
		return pgError("25001", "SET TRANSACTION ISOLATION LEVEL must be called before any query")
	case modes.Deferrable != nil:
		return pgError("25001", "SET TRANSACTION [NOT] DEFERRABLE must be called before any query")
	case modes.ReadOnly == nil:
		return nil
	case !*modes.ReadOnly && onOff(now.ReadOnly) == "on":
		return pgError("25001", "transaction read-write mode must be set before any query")
	case !*modes.ReadOnly:
		return nil
	}
	approved, err := s.decide("SET TRANSACTION READ ONLY")
	if err != nil {
		return err
	}
	if err := s.quiet(approved); err != nil {
		return err
	}
	s.tx.modes = merged(s.tx.modes, policy.Modes{ReadOnly: modes.ReadOnly})
	return nil
}

// discard does DISCARD, which connection pools send between two of their users.
func (s *session) discard(c policy.Command) error {
	what := strings.ToUpper(c.Name)
	if what == "" {
		what = "ALL"
	}
	switch {
	case what != "ALL":
	case s.tx.block() || s.tx.implicit() || s.msg.several:
		return pgError("25001", "DISCARD ALL cannot run inside a transaction block")
	default:
		s.portals.drop()
		s.prepared.dropAll()
		s.set.resetAll()
	}
	s.tag("DISCARD " + what)
	return nil
}

// deallocate forgets prepared statements, which share their names with those of the protocol.
func (s *session) deallocate(name string) error {
	if name == "" {
		s.prepared.dropNamed()
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
