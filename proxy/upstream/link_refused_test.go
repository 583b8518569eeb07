package upstream

import (
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure a change is not committed where a result behind it is refused, which its client takes
// for the end of the transaction.
func TestLinkCommitBeforeRefused(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	l.decidesBy(strings.Replace(linkPolicy, "maxRows: none", "maxRows: 1", 1))
	insert, read := l.simple("INSERT INTO notes (id) VALUES (50)"), l.simple("SELECT id FROM notes")
	for name, all := range map[string][]proxy.Exchange{
		"by itself":       {{Steps: []proxy.Step{insert, read}, Commit: true}},
		"with its COMMIT": {{Begin: l.begin("BEGIN"), Steps: []proxy.Step{insert, read, l.simple("COMMIT")}, Commit: true}},
		"in two":          {{Begin: l.begin("BEGIN"), Steps: []proxy.Step{insert}, Commit: true}, {Steps: []proxy.Step{read, l.simple("COMMIT")}, Commit: true}},
	} {
		var state proxy.State
		var err error
		for _, x := range all {
			_, state, err = l.run(x)
		}
		if refusal := proxy.AsError(err); refusal.Code != proxy.ResultTooLarge {
			t.Errorf("%s: %v", name, err)
		}
		l.link.Rollback()
		if n := l.one("SELECT count(*) FROM notes WHERE id = 50"); n != "0" {
			t.Errorf("%s: %s rows are there, state %c", name, n, state)
		}
		l.exec("DELETE FROM notes WHERE id = 50")
	}
}
