package wire

import (
	"fmt"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// savepoint sets a savepoint.
func (s *session) savepoint(approved *policy.Approved, name string) error {
	if !s.tx.block() {
		return pgError("25P01", "SAVEPOINT can only be used in transaction blocks")
	}
	if len(s.tx.points) >= maxSavepoints {
		return &proxy.Error{Code: proxy.Overloaded, SQLState: "54000", Message: "too many savepoints", Hint: "Release some of them."}
	}
	if err := s.tx.mayMakeSavepoint(); err != nil {
		return err
	}
	if err := s.openSavepoint(); err != nil {
		return err
	}
	if err := s.simple(&part{approved: approved}); err != nil {
		s.countSavepoints()
		return err
	}
	s.tx.askedPoints++
	s.tx.points = append(s.tx.points, savepoint{strings.Clone(name), s.set.now, s.set.kept, s.tx.modes, len(s.batch.x.Steps) - 1, s.portals.made})
	return nil
}

// mayMakeSavepoint refuses one more than a transaction makes. Postgres makes each anew that is gone back to.
func (t *txn) mayMakeSavepoint() error {
	if t.askedPoints < maxSavepointsMade {
		return nil
	}
	return &proxy.Error{Code: proxy.Overloaded, SQLState: "54000", Message: fmt.Sprintf("a transaction makes %d savepoints at most", maxSavepointsMade),
		Hint: "Commit in between; savepoints that were released or gone back to count, too."}
}

// toSavepoint releases a savepoint, or goes back to it.
func (s *session) toSavepoint(approved *policy.Approved, c policy.Command) error {
	what := "RELEASE SAVEPOINT"
	if c.Verb == policy.RollbackTo {
		what = "ROLLBACK TO SAVEPOINT"
	}
	switch {
	case !s.tx.block():
		return pgError("25P01", what+" can only be used in transaction blocks")
	case !s.tx.linked():
		return pgError("3B001", fmt.Sprintf("savepoint %q does not exist", printable(c.Name)))
	}
	if c.Verb == policy.RollbackTo {
		if err := s.tx.mayMakeSavepoint(); err != nil {
			return err
		}
		s.tx.askedPoints++
	}
	if err := s.simple(&part{approved: approved}); err != nil {
		return err
	}
	if err := s.exchange(true); err != nil { // within a block a Sync commits nothing
		return err
	}
	at := s.tx.find(c.Name)
	switch {
	case c.Verb == policy.Release && at >= 0: // Postgres takes back here, too, that the transaction is read-only
		s.tx.points, s.tx.modes = s.tx.points[:at], s.tx.points[at].modes
	case c.Verb == policy.RollbackTo:
		s.tx.on(txGoesBack)
		s.set.applied = nil
		if at >= 0 {
			s.set.now, s.set.kept, s.tx.modes = s.tx.points[at].now, s.tx.points[at].kept, s.tx.points[at].modes
			s.portals.dropSince(s.tx.points[at].portals)
			s.tx.points = s.tx.points[:at+1]
		}
	}
	s.tx.saved()
	s.countSavepoints()
	return nil
}
