package upstream

import (
	"strings"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// What the cursors of a transaction may be at a time. A backend has each one's plan and whatever
// its query keeps, until it is closed or the transaction ends: sorted rows, and files of them.
const (
	mostCursors  = 256
	mostCursorsB = 32 << 20 // bytes of their plans
)

// cursors are those that a transaction has declared, with the bytes of their plans. One that went
// with a savepoint counts until its name comes again. The zero value has none.
type cursors struct {
	named map[string]int
	bytes int
}

// note counts what a step's statement declares or closes, or refuses to have it declare one more.
func (c *cursors) note(a *policy.Approved) error {
	switch name := a.Command().Name; a.Command().Verb {
	case policy.Declare:
		return c.add(name, a.PlanBytes())
	case policy.CloseCursor:
		if name == "" {
			c.drop()
		}
		c.remove(name)
	}
	return nil
}

func (c *cursors) add(name string, plan int) error {
	c.remove(name)
	if len(c.named) >= mostCursors || c.bytes+plan > mostCursorsB {
		return &proxy.Error{Code: proxy.Overloaded, SQLState: "54000", Message: "too many cursors are open", Hint: "Close some of them, or end the transaction."}
	}
	if c.named == nil {
		c.named = map[string]int{}
	}
	c.named[strings.Clone(name)] = plan
	c.bytes += plan
	return nil
}

func (c *cursors) remove(name string) {
	c.bytes -= c.named[name]
	delete(c.named, name)
}

func (c *cursors) drop() { *c = cursors{} }
