package upstream

import (
	"testing"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure steps that no front end should ever make reach no database: nothing unapproved, and
// nothing of another server's.
func TestLinkDefects(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	read := l.approve("SELECT id FROM notes")
	others, reason := read.Bind("other", nil)
	if reason != nil {
		t.Fatal(reason)
	}
	mine := l.bound(read)
	for name, steps := range map[string][]proxy.Step{
		"a Query of nothing":     {{Verb: proxy.Simple}},
		"another server's Query": {{Verb: proxy.Simple, Bound: others}},
		"another server's Bind":  {{Verb: proxy.Bind, Prepared: &proxy.Prepared{Approved: read}, Bound: others}},
		"a Bind of nothing":      {{Verb: proxy.Bind, Prepared: &proxy.Prepared{Approved: read}}},
		"a portal of nobody's":   {{Verb: proxy.Bind, Prepared: &proxy.Prepared{Approved: read}, Bound: mine}, {Verb: proxy.Execute}},
	} {
		got, state, err := l.run(proxy.Exchange{Steps: steps, Commit: true})
		if refusal := proxy.AsError(err); err == nil || refusal.Code != policy.Internal || state != proxy.Idle {
			t.Errorf("%s: %q, %c, %v", name, got, state, err)
		}
	}
	l.want(proxy.Exchange{Steps: []proxy.Step{l.simple("SELECT id FROM notes ORDER BY id")}, Commit: true}, proxy.Idle, "columns id:23:0", "row 1", "row 2", "done SELECT 2")
}
