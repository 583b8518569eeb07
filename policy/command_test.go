package policy_test

import (
	"fmt"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
)

var verbs = [...]string{
	"", "begin", "commit", "rollback", "savepoint", "release", "rollback to", "set transaction", "set session", "set", "reset", "show",
	"discard", "deallocate", "unlisten", "declare", "fetch", "move", "close", "copy out", "copy in",
}

// told prints a command: its words, what of it is set, and the text that it became.
func told(a *policy.Approved) string {
	c := a.Command()
	out := "allow " + verbs[c.Verb]
	add := func(set bool, format string, v any) {
		if set {
			out += fmt.Sprintf(" "+format, v)
		}
	}
	add(c.Name != "", "name=%q", c.Name)
	add(c.Value != "", "value=%q", c.Value)
	add(c.Local, "local=%t", c.Local)
	add(c.Reset, "reset=%t", c.Reset)
	add(c.Chain, "chain=%t", c.Chain)
	add(c.Modes.Isolation != "", "isolation=%q", c.Modes.Isolation)
	if c.Modes.ReadOnly != nil {
		add(true, "read-only=%t", *c.Modes.ReadOnly)
	}
	if c.Modes.Deferrable != nil {
		add(true, "deferrable=%t", *c.Modes.Deferrable)
	}
	add(c.Copy != policy.CopyStyle{}, "copy=%+v", c.Copy)
	add(a.Returns(), "returns=%t", true)
	add(a.Writes(), "writes=%t", true)
	add(a.NumArgs() > 0, "args=%d", a.NumArgs())
	return strings.TrimRight(out+"\n"+a.Rewritten(), "\n") + "\n"
}
