package upstream

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/proxy"
)

const threeRows = "SELECT id FROM notes UNION ALL SELECT 3"

// executed are the steps that bind a portal and execute it so many times, for one row each.
func (l *linked) executed(portal string, times int) []proxy.Step {
	l.t.Helper()
	a := l.approve(threeRows)
	steps := []proxy.Step{{Verb: proxy.Bind, Prepared: &proxy.Prepared{Approved: a}, Bound: l.bound(a), Portal: portal}}
	for range times {
		steps = append(steps, proxy.Step{Verb: proxy.Execute, Approved: a, Portal: portal, Most: 1})
	}
	return steps
}

// The policy's limits are of a result, in however many portions it is asked for.
func TestLimitsOfPortions(t *testing.T) {
	for limit, refused := range map[string]string{"maxRows: 2, maxResultBytes: none": "2 rows", "maxRows: none, maxResultBytes: 30": "30 bytes"} {
		for _, portal := range []string{"", "p"} {
			l := link(t, Config{})
			l.decidesBy(strings.Replace(linkPolicy, "maxRows: none, maxResultBytes: none", limit, 1))
			wants := func(steps []proxy.Step, want bool) {
				t.Helper()
				got, _, err := l.run(proxy.Exchange{Steps: steps})
				if failed := err != nil && strings.Contains(err.Error(), refused); failed != want || (err != nil) != want {
					t.Errorf("%s of portal %q: %v\n%s", limit, portal, err, got)
				}
			}
			steps := l.executed(portal, 3)
			wants(steps[:2], false)
			wants(steps[2:3], false)
			wants(steps[3:], true)
			wants(l.executed(portal, 3), true)
			wants(l.executed(portal, 2), false) // in another transaction
			l.link.Rollback()
			again := append(l.executed("", 2), l.executed("", 2)...)
			wants(again, false)
			l.link.Rollback()
			cursor := func(n int) []proxy.Step {
				return []proxy.Step{l.simple(fmt.Sprintf("FETCH %d FROM c", n))}
			}
			begin := proxy.Exchange{Begin: l.begin("BEGIN"), Steps: []proxy.Step{l.simple("DECLARE c CURSOR FOR " + threeRows), cursor(1)[0]}}
			if _, _, err := l.run(begin); err != nil {
				t.Error(err)
			}
			wants(cursor(1), false)
			wants(cursor(1), true)
			l.link.Rollback()
		}
	}
}

// What was counted is bounded, too.
func TestCountedPortalsAreBounded(t *testing.T) {
	var p portions
	for i := range maxPortions {
		if err := p.keep(fmt.Sprint(i), portion{rows: 1}); err != nil {
			t.Fatal(i, err)
		}
	}
	if err := p.keep("0", portion{rows: 2}); err != nil || p.of("0").rows != 2 {
		t.Error(err)
	}
	if err := p.keep("one more", portion{rows: 1}); err == nil || proxy.AsError(err).SQLState != "54000" {
		t.Error(err)
	}
	p.forget("1")
	if err := p.keep("one more", portion{rows: 1}); err != nil {
		t.Error(err)
	}
	p.drop()
	if len(p.named) != 0 {
		t.Error(p)
	}
}
