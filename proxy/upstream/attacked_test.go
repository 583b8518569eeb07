package upstream

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/proxy"
)

// Of a change that may have been committed nobody is told that it was not.
func TestLinkLostAnswer(t *testing.T) {
	const insert = "INSERT INTO notes (id, body) VALUES (9, 'x')"
	for name, c := range map[string]struct {
		at    string
		steps func(l *linked) []proxy.Exchange
	}{
		"implicit": {"INSERT 0 1", func(l *linked) []proxy.Exchange {
			return []proxy.Exchange{{Steps: []proxy.Step{l.simple(insert)}, Commit: true}}
		}},
		"one exchange": {"COMMIT", func(l *linked) []proxy.Exchange {
			return []proxy.Exchange{{Begin: l.begin("BEGIN"), Steps: []proxy.Step{l.simple(insert), l.simple("COMMIT")}, Commit: true}}
		}},
		"two": {"COMMIT", func(l *linked) []proxy.Exchange {
			return []proxy.Exchange{
				{Begin: l.begin("BEGIN"), Steps: []proxy.Step{l.simple(insert)}}, {Steps: []proxy.Step{l.simple("COMMIT")}, Commit: true},
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			l, r, admin := relayed(t)
			l.run(proxy.Exchange{Steps: []proxy.Step{l.simple("SELECT body FROM notes")}, Commit: true})
			all := c.steps(l)
			for i, x := range all {
				if i == len(all)-1 {
					r.Watch.Store(new(func(p pgtest.Part) bool { return !p.Answer || !bytes.Contains(p.Bytes, []byte(c.at)) }))
				}
				_, state, err := l.run(x)
				if i < len(all)-1 {
					continue
				}
				var n int
				if admin.QueryRow(t.Context(), "SELECT count(*) FROM notes WHERE id = 9").Scan(&n) != nil || n != 1 {
					t.Fatalf("%d rows", n)
				}
				if e := proxy.AsError(err); !strings.Contains(e.Message, "not known") || e.SQLState != "08007" || e.Retryable {
					t.Errorf("it is committed, and told as: %s, to be tried again %v, state %c", e.Message, e.Retryable, state)
				}
			}
		})
	}
}
