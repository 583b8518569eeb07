package statement

import (
	"slices"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

// A seed and a number give the same probe for ever; its values are written in the way that was
// asked for, and its brackets close.
func TestProbe(t *testing.T) {
	g := New(server)
	for number := range 2000 {
		values := Values(number % 3)
		p, again := g.Probe(5, number, policy.Inject, values), g.Probe(5, number, policy.Inject, values)
		text, _ := p.NativeText(server)
		if other, _ := again.NativeText(server); text != other {
			t.Fatalf("%d: %s\n%s", number, text, other)
		}
		plant, held := p.Plant.NativeText(server)
		if other, _ := again.Plant.NativeText(server); plant != other || len(held) > 0 || (plant == "") != (p.Into == nil) {
			t.Fatalf("%d: %s\n%s", number, plant, other)
		}
		if !balanced(p.Tokens) || !balanced(p.Plant.Tokens) {
			t.Errorf("%d: %s", number, text)
		}
		if values == Constants && slices.ContainsFunc(p.Tokens, func(t Token) bool { return t.Hole == Value }) {
			t.Errorf("%d has arguments: %s", number, text)
		}
		if values == Parameters && (strings.Contains(text, "Kestrel") || strings.Contains(text, "Martlet")) {
			t.Errorf("%d has a constant: %s", number, text)
		}
	}
}

// The others' rows of D and D' have NULLs in the same places, values of the same lengths, and
// different ones; the server's own hold both sides of each pair.
func TestSkew(t *testing.T) {
	for _, table := range Tables() {
		if table.ScopeType == "" {
			continue
		}
		for k := range table.Columns {
			c := &table.Columns[k]
			if c.Kind == Scope || c.Kind == Twice {
				continue
			}
			differ, counts := 0, [2]map[string]int{{}, {}}
			for i := range table.Others() {
				a, null := OthersValue(table, k, i, Kestrel)
				b, other := OthersValue(table, k, i, Martlet)
				if null != other || len(a) != len(b) && c.Kind != Flag {
					t.Fatalf("%s.%s, row %d: %q %t, %q %t", table.Name, c.Name, i, a, null, b, other)
				}
				if a != b {
					differ++
				}
				counts[0][a]++
				counts[1][b]++
			}
			for i := range table.Own() {
				v, _ := OwnValue(table, k, i)
				counts[0][v]++
				counts[1][v]++
			}
			if differ < table.Others()/5 || len(counts[0]) != len(counts[1]) {
				t.Errorf("%s.%s: %d values differ; %d and %d different ones", table.Name, c.Name, differ, len(counts[0]), len(counts[1]))
			}
		}
	}
}
