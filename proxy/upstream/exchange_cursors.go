package upstream

import (
	"errors"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// How many cursors of a transaction may be open at a time. The backend keeps each one's plan, and what its
// query has sorted or collected, until the cursor is closed or the transaction ends.
const (
	maxCursors     = 256
	maxCursorBytes = 32 << 20 // bytes of their plans
)

// cursorReads is how many relations the open cursors of all transactions together read. A cursor that stopped midway keeps up
// to three of Postgres' shared buffers for each, as a portal does (portalReads in package wire).
const cursorReads = 500

// cursors counts the open cursors of a transaction. A cursor counts under its name from when Postgres has answered
// its DECLARE until Postgres has answered its CLOSE, a ROLLBACK TO a savepoint that is older, or the transaction's end.
// Link.counted makes it.
type cursors struct {
	named  map[string]cursor
	bytes  int // of all of their plans
	reads  int // relations of all of their plans
	made   int // how many DECLAREs were answered
	points []mark

	written      int // DECLAREs that were written and not answered, of names that do not count yet
	writtenBytes int

	all     *proxy.Tally // of cursorReads
	account proxy.Account
	taken   int // of all
}

// cursor is one that is open.
type cursor struct {
	bytes  int // of its plan
	reads  int // relations of its plan
	number int // of its DECLARE
}

// mark is a savepoint that is there, and how many cursors had been made before.
type mark struct {
	name string
	made int
}

// errCursors is why a cursor can't be declared.
var errCursors = &proxy.Error{Code: proxy.Overloaded, SQLState: "54000", Message: "too many cursors are open", Hint: "Close some of them, or end the transaction."}

// write counts a DECLARE before it is written, or tells why it is refused: errCursors, or as Tally.Take.
func (c *cursors) write(a *policy.Approved) error {
	before, open := c.named[a.Command().Name]
	if !open && len(c.named)+c.written >= maxCursors || c.bytes+c.writtenBytes-before.bytes+a.PlanBytes() > maxCursorBytes {
		return errCursors
	}
	if full := c.all.Take(c.account, a.Relations()); full != nil {
		return full
	}
	c.taken += a.Relations()
	if !open {
		c.written++
	}
	c.writtenBytes += a.PlanBytes()
	return nil
}

// completed counts what a statement has done, when Postgres has answered it.
func (c *cursors) completed(a *policy.Approved) {
	switch name := a.Command().Name; a.Command().Verb {
	case policy.Declare:
		c.add(strings.Clone(name), a)
	case policy.CloseCursor:
		if name == "" {
			c.named, c.bytes, c.reads = nil, 0, 0
		}
		c.remove(name)
	case policy.Savepoint:
		c.points = append(c.points, mark{strings.Clone(name), c.made})
	case policy.Release, policy.RollbackTo:
		c.toSavepoint(name, a.Command().Verb == policy.RollbackTo)
	case policy.Commit, policy.Rollback:
		c.named, c.bytes, c.reads, c.points = nil, 0, 0, nil
	}
}

func (c *cursors) add(name string, a *policy.Approved) {
	c.remove(name)
	if c.named == nil {
		c.named = map[string]cursor{}
	}
	c.made++
	c.named[name] = cursor{a.PlanBytes(), a.Relations(), c.made}
	c.bytes += a.PlanBytes()
	c.reads += a.Relations()
}

// toSavepoint releases the last savepoint of a name with those after it, or goes back to it, which closes the cursors that
// were made since.
func (c *cursors) toSavepoint(name string, back bool) {
	for at := len(c.points) - 1; at >= 0; at-- {
		to := c.points[at]
		c.points = c.points[:at]
		if to.name != name {
			continue
		}
		if back {
			c.points = append(c.points, to)
			c.removeSince(to.made)
		}
		return
	}
}

func (c *cursors) removeSince(made int) {
	for name, open := range c.named {
		if open.number > made {
			c.remove(name)
		}
	}
}

// answered notes that nothing written is unanswered, and gives back what the cursors that are open don't take.
func (c *cursors) answered() {
	if c != nil {
		c.written, c.writtenBytes = 0, 0
		c.all.Give(c.account, c.taken-c.reads)
		c.taken = c.reads
	}
}

// drop gives all back.
func (c *cursors) drop() {
	if c != nil {
		c.all.Give(c.account, c.taken)
	}
}

func (c *cursors) remove(name string) {
	c.bytes -= c.named[name].bytes
	c.reads -= c.named[name].reads
	delete(c.named, name)
}

// counted gives the cursors of the transaction.
func (l *Link) counted() *cursors {
	if l.cursors == nil {
		l.cursors = &cursors{all: l.pool.cursorReads, account: l.account()}
	}
	return l.cursors
}

// completed counts a statement that Postgres has answered.
func (l *Link) completed(a *policy.Approved) {
	if verb := a.Command().Verb; l.cursors != nil || verb == policy.Declare || verb == policy.Savepoint {
		l.counted().completed(a)
	}
}

// declares counts the cursor that a step's statement declares, if it does. What was written before may close
// cursors, so a refusal waits for the answers to that.
func (e *exchange) declares(s *proxy.Step) error {
	a := approvedOf(s)
	if a.Command().Verb != policy.Declare {
		return nil
	}
	c := e.link.counted()
	full := c.write(a)
	if full != nil && len(e.answers) > 0 {
		if err := e.catchUp(); err != nil {
			return err
		}
		full = c.write(a)
	}
	if full == nil || errors.Is(full, errCursors) {
		return full
	}
	e.link.pool.cfg.Recorder.Short("cursors", proxy.Whose(full))
	return &proxy.Error{Code: proxy.Overloaded, SQLState: "54000", Message: "too many tables are read by the open cursors of this server, its project or all",
		Hint: "Close cursors, or end the transaction; run a statement that reads hundreds of tables without a cursor."}
}
