package upstream

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// What is told without asking Postgres is sent as it becomes long, though it was asked for with
// little.
func TestToldIsSent(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	columns := make([]string, 200)
	for i := range columns {
		columns[i] = "id AS a" + strings.Repeat("x", 50) + strings.Repeat("y", i%10)
	}
	steps := l.extended("SELECT " + strings.Join(columns[:100], ", ") + " FROM notes")[:2]
	if _, _, err := l.run(proxy.Exchange{Steps: steps, Commit: true}); err != nil {
		t.Fatal(err)
	}
	x := proxy.Exchange{Steps: slices.Repeat(steps[1:], 63), Commit: true}
	if _, err := l.link.Run(context.Background(), &x, &l.out); err != nil {
		t.Fatal(err)
	}
	if kept, sent := len(l.out.Buf), l.sent.Len(); kept > 32<<10 || sent < 300_000 {
		t.Errorf("%d bytes were sent, and %d wait", sent, kept)
	}
}

// Ensure the link says what it has answered from what it knows, and what it has sent something for, or waited to.
func TestUnsentIsSaid(t *testing.T) {
	l := link(t, Config{MaxConns: 1, AcquireTimeout: 50 * time.Millisecond})
	of := func(steps ...proxy.Step) bool {
		t.Helper()
		told := steps[len(steps)-1].Verb == proxy.Describe
		x := proxy.Exchange{Steps: steps, Commit: told && !l.link.held}
		_, _ = l.link.Run(context.Background(), &x, &l.out)
		return x.Unsent
	}
	known, other := l.extended("SELECT id FROM notes"), l.extended("SELECT id, id FROM notes")
	if of(known[:2]...) {
		t.Error("what was asked for is said to be known")
	}
	for _, within := range []bool{true, false} { // a transaction
		if within {
			_, _ = l.link.Run(context.Background(), &proxy.Exchange{Steps: known[:1]}, &l.out)
		}
		if l.link.held != within {
			t.Fatalf("a transaction is open: %v", l.link.held)
		}
		if !of(known[1]) || !of(known[0], known[1]) {
			t.Error("what is known is said to be asked for")
		}
		if of(known[1], known[2], known[3]) || of(known[4]) {
			t.Error("what was run is said to be known")
		}
		l.link.Rollback()
	}
	l.takeOne()
	if of(other[1]) {
		t.Error("what waited for a connection is said to be known")
	}
}

// Ensure an exchange that needs nothing of the database is no work: a thousand of them a second must not make
// a server's long statements look short, which would let more of them begin.
func TestUnsentIsNoWork(t *testing.T) {
	w := proxy.NewWork(200)
	l := link(t, Config{MaxConns: 1, Work: w})
	l.want(proxy.Exchange{Begin: l.begin("BEGIN"), Steps: []proxy.Step{l.simple("SELECT id FROM notes WHERE id = 1")}, Commit: true}, proxy.Open, "columns id:23:0", "row 1", "done SELECT 1")
	known := l.extended("SELECT body FROM notes WHERE id = 2")[:2]
	if _, _, err := l.run(proxy.Exchange{Steps: known, Commit: true}); err != nil {
		t.Fatal(err)
	}
	for _, quiet := range []string{"a", "b", "c"} {
		w.Start(proxy.Account{Project: quiet, Server: quiet})
	}
	for range 12 {
		w.Start(l.link.account())
	}
	for start := time.Now(); time.Since(start) < 1500*time.Millisecond; {
		x := proxy.Exchange{Steps: known, Commit: true}
		if _, err := l.link.Run(t.Context(), &x, &l.out); err != nil || !x.Unsent {
			t.Fatalf("%v, sent %v", err, !x.Unsent)
		}
		l.out.Buf = l.out.Buf[:0]
	}
	if _, _, err := w.Begin(t.Context(), l.link.account(), time.Millisecond); !errors.Is(err, proxy.ErrBusy) {
		t.Errorf("beside twelve that take long another one begins: %v", err)
	}
}
