package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/proxy"
)

// withSavepoints has the clients of w's server open n savepoints together.
func (w *sitting) withSavepoints(n int) *proxy.Tally {
	of := proxy.NewTally(n, 100)
	w.client.server.savepoints = of
	return of
}

// Ensure the savepoints that all have open are bounded, and that each is given back however it ends: else a few
// transactions fill the table of locks of Postgres, and nobody else can write.
func TestOpenSavepointsAreShared(t *testing.T) {
	w := greeted(t)
	of := w.withSavepoints(40) // a server has 30 of them
	open := func(n int) {
		t.Helper()
		if got := of.Taken(); got != n {
			t.Errorf("%d are counted, want %d", got, n)
		}
	}
	fill := func() {
		t.Helper()
		w.query("BEGIN")
		for i := range 30 {
			w.is(w.query(fmt.Sprint("SAVEPOINT s", i)), "<SAVEPOINT> T")
		}
		w.is(w.query("SAVEPOINT more"), "ERROR 54000 E")
		open(30)
	}
	fill()
	if w.tally.of("short of savepoints: server") != 1 {
		t.Error(w.tally.counts)
	}
	w.is(w.query("ROLLBACK TO s9"), "<ROLLBACK> T")
	open(10)
	w.is(w.query("RELEASE s4"), "<RELEASE> T")
	open(4)
	w.is(w.query("COMMIT"), "<COMMIT> I")
	open(0)
	fill()
	w.is(w.query("ROLLBACK"), "<ROLLBACK> I")
	open(0)
	w.query("BEGIN")
	w.query("SAVEPOINT a; SAVEPOINT b; SELECT no FROM nothing; SAVEPOINT c") // refused behind two of them
	open(2)
	w.is(w.query("ROLLBACK"), "<ROLLBACK> I")
	open(0)
	w.link.fails["content"] = pgError("22012", "division by zero")
	w.query("BEGIN")
	w.query("SAVEPOINT a; SELECT content FROM messages; SAVEPOINT b; SAVEPOINT c") // Postgres fails between them
	open(1)
	w.query("ROLLBACK")
	open(0)
	w.query("BEGIN")
	w.query(strings.Repeat("SAVEPOINT a;", 31)) // in one message
	if n := of.Taken(); n > 30 {
		t.Errorf("%d are counted", n)
	}
	w.query("ROLLBACK")
	open(0)
	fill()
	w.close()
	open(0)
}
