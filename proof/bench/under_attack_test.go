package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestAttackTables judges the last program, by its ratios and by refusals in any round.
func TestAttackTables(t *testing.T) {
	of := func(requests, refused int, p99 time.Duration) sample {
		return sample{turn: turn{requests: requests, refused: refused, elapsed: time.Second, p99: p99, longest: 5 * p99}}
	}
	alone, memory := []sample{of(100, 0, time.Millisecond), of(100, 0, time.Millisecond)}, []sample{{resident: 5 << 20}, {resident: 5 << 20}}
	lost := outcome{alone, []sample{of(0, 9, 0), of(0, 9, 0)}, memory, ""}
	kept := outcome{alone, []sample{of(70, 0, 3*time.Millisecond), of(71, 0, 2*time.Millisecond)}, memory, ""}
	slow := outcome{alone, []sample{of(69, 0, 4*time.Millisecond), of(60, 1, 4*time.Millisecond)}, memory, ""}
	stalled := outcome{alone, []sample{of(70, 0, time.Millisecond), {turn: turn{requests: 70, elapsed: time.Second, p99: time.Millisecond, longest: time.Second}}}, memory, ""}
	c := &crowdCommand{options: options{Tenantgate: "/nowhere/new"}, Quiet: 10, Before: "/nowhere/old"}
	list := []*scenario{{attacks()[0], 1, []outcome{lost, kept}}, {attacks()[0], 2, []outcome{kept, slow}}, {attack{name: "half-sent", nobody: true}, 1, []outcome{kept, lost}}, {attacks()[1], 1, []outcome{kept, stalled}}}
	text := c.attackTables(t.Context(), list)
	for _, want := range []string{
		"| uncancellable | 1 server | 0.00 | none | 0 | 18 of 18 | 5 | 0.71 | 3.0 | 15 | 0 of 141 | 5 | kept |\n",
		"| uncancellable | 2 servers | 0.71 | 3.0 | 15 | 0 of 141 | 5 | 0.69 | 4.0 | 20 | 1 of 130 | 5 | missed: rate, p99, refused |\n",
		"| half-sent | nobody | 0.71 |", "| 0.70 | 1.0 | 1000 | 0 of 140 | 5 | missed: longest |\n", "/nowhere/old of an unknown version: rate | p99 |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if strings.Count(text, "- **uncancellable**") != 1 {
		t.Error("an attack is explained twice")
	}
	checkColumns(t, text)
}

// TestChosen knows each attack by its name.
func TestChosen(t *testing.T) {
	for _, test := range []struct {
		names []string
		want  int // -1: an error
	}{{[]string{"all"}, len(attacks())}, {[]string{"texts", "plans"}, 2}, {[]string{"together"}, 1}, {[]string{"texts", "nonsense"}, -1}} {
		got, err := chosen(test.names)
		if (err != nil) != (test.want < 0) || err == nil && len(got) != test.want {
			t.Errorf("%v: %d, %v", test.names, len(got), err)
		}
	}
}

// TestScenarios measures each attack from as many servers as are worth it.
func TestScenarios(t *testing.T) {
	got := map[string]int{}
	for _, s := range (&crowdCommand{}).scenarios(attacks()) {
		if got[s.name]++; s.servers != got[s.name] || len(s.programs) != 1 {
			t.Errorf("%s: from %d servers, %d programs", s.name, s.servers, len(s.programs))
		}
	}
	if got["records"] != 2 || got["plans"] != 3 || got["half-sent"] != 1 || len(got) != len(attacks()) {
		t.Error(got)
	}
}

// TestAttackTexts: each is another one, and short enough to be looked at.
func TestAttackTexts(t *testing.T) {
	for name, text := range map[string]func(int) string{"plans": largePlan, "records": newRecord, "texts": longText} {
		seen := map[string]bool{}
		for n := range 100 {
			seen[text(n)] = true
			if length := len(text(n)); length > 10_000 {
				t.Fatalf("%s: %d bytes", name, length)
			}
		}
		if len(seen) != 100 {
			t.Errorf("%s: %d of 100 differ", name, len(seen))
		}
	}
}

// TestAttacked tells an attack from what never got so far.
func TestAttacked(t *testing.T) {
	for status, want := range map[string]bool{"200": true, "none": true, "503": true, "transaction": true, "half-sent": true, "401": false, "404": false, "no login": false, "no connection": false} {
		a := &attacker{got: map[string]int{}}
		if a.count(status); a.attacked() != want {
			t.Errorf("%s: %v", status, !want)
		}
	}
	if (&attacker{}).attacked() {
		t.Error("who did nothing has attacked")
	}
}

// TestVisitor connects anew, and counts whatever fails.
func TestVisitor(t *testing.T) {
	var connections, requests atomic.Int64
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, _ *http.Request) {
		if requests.Add(1)%5 == 0 {
			panic(http.ErrAbortHandler)
		}
	}))
	srv.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	srv.Start()
	defer srv.Close()
	l := load{addr: srv.Listener.Addr().String(), clients: 1, anew: 3, pause: 5 * time.Millisecond, request: func(int, int) []byte { return request("/", "t", nil) }}
	got, err := l.send(t.Context(), 300*time.Millisecond)
	if err != nil || got.requests == 0 || got.refused == 0 || int(requests.Load()) != got.requests+got.refused {
		t.Errorf("%+v, %v, of %d", got, err, requests.Load())
	}
	if got.longest <= 0 {
		t.Error("nobody waited")
	}
	if n := int(connections.Load()); n < got.requests/3 {
		t.Errorf("%d connections for %d requests", n, got.requests)
	}
	l.addr = "127.0.0.1:1"
	if got, err := l.send(t.Context(), 50*time.Millisecond); err != nil || got.requests != 0 || got.refused == 0 {
		t.Errorf("nobody listens: %+v, %v", got, err)
	}
}
