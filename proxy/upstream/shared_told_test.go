package upstream

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure that a text is answered alike, where there is no connection for it, whether or not somebody has sent it before:
// else a server that has used up its share learns which values another one has written.
func TestKnownTextsTellNothing(t *testing.T) {
	l := link(t, Config{MaxConns: 1, AcquireTimeout: 100 * time.Millisecond})
	written := func(title string) (steps []proxy.Step) {
		return l.extended("SELECT 'salary " + title + "' AS c FROM notes")[:2] // Prepare and Describe
	}
	if _, _, err := l.run(proxy.Exchange{Steps: l.extended("SELECT 'salary 5123' AS c FROM notes"), Commit: true}); err != nil {
		t.Fatal(err)
	}
	held, err := l.pool.acquireOwn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, title := range []string{"5123", "5124"} {
		for n, name := range []string{"Parse", "Parse and Describe"} {
			got, _, err := l.run(proxy.Exchange{Steps: written(title)[:n+1], Commit: true})
			var told *proxy.Error
			if !errors.As(err, &told) || told.Code != proxy.Overloaded {
				t.Errorf("%s of %s: %q, %v", name, title, got, err)
			}
		}
	}
	l.pool.release(held, ownTurn)
	for _, title := range []string{"5123", "5125"} { // without a Sync, either keeps the connection
		if _, _, err := l.run(proxy.Exchange{Steps: written(title)[:1]}); err != nil {
			t.Fatal(err)
		}
		if !l.link.held {
			t.Errorf("%s leaves the connection to others", title)
		}
		l.link.Rollback()
	}
	if _, _, err := l.run(proxy.Exchange{Steps: written("5123"), Commit: true}); err != nil {
		t.Error("with a connection:", err)
	}
	if _, _, err := l.run(proxy.Exchange{Steps: l.extended("SELECT 'salary 5123' AS c FROM notes"), Commit: true}); err != nil {
		t.Error("a turn is lost:", err)
	}
}

// Ensure the tables that open cursors read are bounded over all transactions, and given back however a cursor ends:
// each keeps shared buffers of Postgres, and who finds none fails.
func TestCursorReadsAreShared(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	l.pool.cursorReads = proxy.NewTally(40, 100) // a server has 30 of them
	reads := func(n int) {
		t.Helper()
		if got := l.pool.cursorReads.Taken(); got != n {
			t.Errorf("%d are counted, want %d", got, n)
		}
	}
	fill := func() {
		t.Helper()
		if err := l.declared(0, 15, "SELECT a.id FROM notes a JOIN notes b ON a.id = b.id"); err != nil {
			t.Fatal(err)
		}
		reads(30)
	}
	does := func(text string) {
		t.Helper()
		if _, _, err := l.run(proxy.Exchange{Steps: []proxy.Step{l.simple(text)}}); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	fill()
	does("CLOSE c7")
	reads(28)
	does("SAVEPOINT s")
	does("DECLARE again CURSOR FOR SELECT id FROM notes")
	reads(29)
	does("ROLLBACK TO s")
	reads(28)
	does("DECLARE again CURSOR FOR SELECT id FROM notes")
	does("CLOSE ALL")
	reads(0)
	does("COMMIT")
	fill()
	l.link.Rollback()
	reads(0)
	fill()
	var told *proxy.Error
	if err := l.declared(15, 1, "SELECT id FROM notes"); !errors.As(err, &told) || told.SQLState != "54000" {
		t.Error("one too many:", err)
	}
	if l.rec.class("short of cursors: server") != 1 {
		t.Error(l.rec.errors)
	}
	l.link.Rollback()
	reads(0)
	x := proxy.Exchange{Begin: l.begin("BEGIN")}
	for i := range 31 { // in one message
		x.Steps = append(x.Steps, l.simple(fmt.Sprintf("DECLARE c%d CURSOR FOR SELECT id FROM notes", i)))
	}
	if _, _, err := l.run(x); !errors.As(err, &told) || told.SQLState != "54000" {
		t.Error("one too many in one message:", err)
	}
	l.link.Rollback()
	reads(0)
}
