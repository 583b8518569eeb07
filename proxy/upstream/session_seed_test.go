package upstream

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure the numbers of random() tell nothing of those that the server before had of the same backend: each
// transaction begins with a seed of its own, however it runs.
func TestRandomIsNobodyElses(t *testing.T) {
	for name, cfg := range map[string]Config{"named": {MaxConns: 1}, "unnamed": {MaxConns: 1, NoPrepared: true}} {
		t.Run(name, func(t *testing.T) {
			l := link(t, cfg)
			l.decidesBy(linkPolicy+"functions: {allow: [random]}\n", "float8")
			var known string
			seeded := func() {
				t.Helper()
				own, err := l.pool.acquireOwn(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer l.pool.release(own, ownTurn)
				if err := own.conn.QueryRow(t.Context(), "SELECT random()::text FROM setseed(0.42)").Scan(&known); err != nil {
					t.Fatal(err)
				}
				if _, err := own.conn.Exec(t.Context(), "SELECT setseed(0.42)"); err != nil {
					t.Fatal(err)
				}
			}
			seen := map[string]bool{}
			differs := func(got string) {
				t.Helper()
				if len(got) < 10 || strings.Contains(got, known) || seen[got] {
					t.Errorf("random() gives %q, which the seed of another tells", got)
				}
				seen[got] = true
			}
			for range 3 {
				seeded()
				differs(l.must(sel("SELECT random()::text")))
				seeded()
				differs(l.must(sel("SELECT random()::text"))) // prepared by now
				seeded()
				got, _, err := l.run(proxy.Exchange{Steps: []proxy.Step{l.simple("SELECT random()::text AS r")}, Commit: true})
				if err != nil {
					t.Fatal(err)
				}
				differs(strings.Split(got, "\n")[1])
				seeded()
				if got, _, err = l.run(proxy.Exchange{Begin: l.begin("BEGIN"), Steps: []proxy.Step{l.simple("SELECT random()::text AS r")}, Commit: true}); err != nil {
					t.Fatal(err)
				}
				differs(strings.Split(got, "\n")[1])
				l.want(proxy.Exchange{Steps: []proxy.Step{l.simple("COMMIT")}, Commit: true}, proxy.Idle, "done COMMIT")
			}
		})
	}
}

// Ensure seeds are what setseed takes, and differ.
func TestSeeds(t *testing.T) {
	var s seeds
	seen, negative := map[float64]bool{}, 0
	for range 1000 {
		n := math.Float64frombits(binary.BigEndian.Uint64(s.appendNext(nil)))
		if !(n >= -1 && n <= 1) || seen[n] {
			t.Fatal(n)
		}
		if seen[n] = true; n < 0 {
			negative++
		}
	}
	if negative < 400 || negative > 600 {
		t.Errorf("%d of 1000 are negative", negative)
	}
}
