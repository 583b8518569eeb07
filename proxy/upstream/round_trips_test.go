package upstream

import (
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// countedTrips is a connection to Postgres whose round trips are countedTrips: reads that follow something written.
type countedTrips struct {
	net.Conn
	written bool
	trips   int
}

func (c *countedTrips) Write(b []byte) (int, error) {
	c.written = true
	return c.Conn.Write(b)
}

func (c *countedTrips) Read(b []byte) (int, error) {
	if c.written {
		c.written = false
		c.trips++
	}
	return c.Conn.Read(b)
}

// Ensure an exchange costs one round trip, once its texts are known, and a second one only where a result can be refused
// after something that would be committed.
func TestRoundTrips(t *testing.T) {
	const read, insert, returning = "SELECT id FROM notes", "INSERT INTO notes (id) VALUES (60)", "INSERT INTO notes (id) VALUES (61) RETURNING id"
	for maxRows, cases := range map[string]map[string]int{
		"none": {read: 1, insert: 1, returning: 1, "+" + read + ";ROLLBACK": 1, "+" + insert + ";" + returning + ";ROLLBACK": 1, "+" + read + ";~COMMIT": 1},
		"10": {
			read: 1, insert: 1, returning: 2, "+" + read + ";": 1, "+" + insert + ";" + read + ";": 1, "+" + insert + ";ROLLBACK": 1,
			"+" + read + ";ROLLBACK": 2, "+" + insert + ";" + read + ";COMMIT": 2,
			"+" + read + ";~COMMIT": 1, "+" + insert + ";" + read + ";~COMMIT": 2,
		},
	} {
		l := link(t, Config{MaxConns: 1})
		l.decidesBy(strings.Replace(linkPolicy, "maxRows: none", "maxRows: "+maxRows, 1))
		l.want(proxy.Exchange{Steps: []proxy.Step{l.simple("DELETE FROM notes")}, Commit: true}, proxy.Idle, "done DELETE 2")
		c := l.counts()
		for texts, want := range cases {
			var trips int
			for range 2 { // Postgres prepares a text the first time
				c.trips = 0
				if got, _, err := l.run(l.cycle(texts)); err != nil {
					t.Fatalf("%s: %s %v", texts, got, err)
				}
				trips = c.trips
				l.link.Rollback()
				l.exec("DELETE FROM notes")
			}
			if trips != want {
				t.Errorf("maxRows %s: %s took %d round trips, want %d", maxRows, texts, trips, want)
			}
		}
	}
}

// Ensure that portals which a cycle makes itself cost none beside that.
func TestRoundTripsOfPortals(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	l.decidesBy(strings.Replace(linkPolicy, "maxRows: none", "maxRows: 10", 1))
	one, other := l.extended("SELECT id FROM notes"), l.extended("SELECT body FROM notes")
	named := l.extended("SELECT body FROM notes")
	named[2].Portal, named[3].Portal, named[4].Portal = "p", "p", "p"
	part := one[4]
	part.Most = 1
	closes := proxy.Step{Verb: proxy.ClosePortal}
	for _, begin := range []policy.Bound{{}, l.begin("BEGIN")} {
		var c *countedTrips
		for i, steps := range [][]proxy.Step{ // the first has Postgres prepare the texts
			slices.Concat(one, other), slices.Concat(one, other), append(one, closes), slices.Concat(one, []proxy.Step{closes}, other, []proxy.Step{closes}), append(one[:4:4], part, part, closes), slices.Concat(one, named),
		} {
			if c != nil {
				c.trips = 0
			}
			if got, _, err := l.run(proxy.Exchange{Begin: begin, Steps: steps, Commit: true}); err != nil || c != nil && c.trips != 1 {
				t.Errorf("%d: %+v %s %v", i, c, got, err)
			}
			l.link.Rollback()
			if c == nil {
				c = l.counts()
			}
		}
	}
}

// counts has the round trips of the pool's only connection counted.
func (l *linked) counts() *countedTrips {
	l.t.Helper()
	p := l.pool.places
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.open {
		c := &countedTrips{Conn: s.Conn}
		s.Conn = c
		return c
	}
	l.t.Fatal("the pool has no connection")
	return nil
}

// cycle gives the statements of texts as an exchange that ends with a Sync. Behind + a block is opened. What ~ stands before is not the client's.
func (l *linked) cycle(texts string) proxy.Exchange {
	l.t.Helper()
	x := proxy.Exchange{Commit: true}
	texts, block := strings.CutPrefix(texts, "+")
	if block {
		x.Begin = l.begin("BEGIN")
	}
	for text := range strings.SplitSeq(strings.TrimSuffix(texts, ";"), ";") {
		text, quiet := strings.CutPrefix(text, "~")
		s := l.simple(text)
		if quiet {
			s.Verb = proxy.Quiet
		}
		x.Steps = append(x.Steps, s)
	}
	return x
}
