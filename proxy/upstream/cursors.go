package upstream

import (
	"strings"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// How many cursors of a transaction may be open at a time. The backend keeps each one's plan, and what its
// query has sorted or collected, until the cursor is closed or the transaction ends.
const (
	mostCursors  = 256
	mostCursorsB = 32 << 20 // bytes of their plans
)

// cursors counts the open cursors of a transaction. A cursor counts under its name from when Postgres has answered
// its DECLARE until Postgres has answered its CLOSE or the transaction's end. One that ROLLBACK TO SAVEPOINT
// has closed counts until its name is declared again. The zero value has none.
type cursors struct {
	named map[string]int // bytes of their plans
	bytes int            // of all of them

	written      int // DECLAREs that were written and not answered, of names that do not count yet
	writtenBytes int
}

// write counts a statement before it is written, or refuses it.
func (c *cursors) write(a *policy.Approved) error {
	if a.Command().Verb != policy.Declare {
		return nil
	}
	before, open := c.named[a.Command().Name]
	if !open && len(c.named)+c.written >= mostCursors || c.bytes+c.writtenBytes-before+a.PlanBytes() > mostCursorsB {
		return &proxy.Error{Code: proxy.Overloaded, SQLState: "54000", Message: "too many cursors are open", Hint: "Close some of them, or end the transaction."}
	}
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
		c.remove(name)
		if c.named == nil {
			c.named = map[string]int{}
		}
		c.named[strings.Clone(name)] = a.PlanBytes()
		c.bytes += a.PlanBytes()
	case policy.CloseCursor:
		if name == "" {
			c.named, c.bytes = nil, 0
		}
		c.remove(name)
	case policy.Commit, policy.Rollback:
		c.named, c.bytes = nil, 0
	}
}

// answered notes that nothing written is unanswered.
func (c *cursors) answered() { c.written, c.writtenBytes = 0, 0 }

func (c *cursors) remove(name string) {
	c.bytes -= c.named[name]
	delete(c.named, name)
}

func (c *cursors) drop() { *c = cursors{} }

// declares counts the cursor that a step's statement declares, if it does. What was written before may close
// cursors, so a refusal waits for the answers to that.
func (e *exchange) declares(s *proxy.Step) error {
	a, c := approvedOf(s), &e.link.cursors
	if err := c.write(a); err == nil || len(e.answers) == 0 {
		return err
	}
	if err := e.catchUp(); err != nil {
		return err
	}
	return c.write(a)
}
