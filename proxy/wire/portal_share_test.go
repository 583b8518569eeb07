package wire

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure the tables that named portals read are bounded over all clients, and given back however a portal ends: each
// keeps shared buffers of Postgres, and who finds none fails.
func TestPortalReadsAreShared(t *testing.T) {
	w := greeted(t)
	of := proxy.NewTally(40, 100) // a server has 30 of them
	w.client.server.ledger.reads = of
	reads := func(n int) {
		t.Helper()
		if got := of.Taken(); got != n {
			t.Errorf("%d are counted, want %d", got, n)
		}
	}
	bind := func(name string) string {
		return w.pipe(&pgproto3.Bind{DestinationPortal: name, PreparedStatement: "s"}, &pgproto3.Execute{Portal: name, MaxRows: 1})
	}
	w.pipe(&pgproto3.Parse{Name: "s", Query: "SELECT a.id FROM messages a JOIN messages b ON a.id = b.id"})
	fill := func() {
		t.Helper()
		w.query("BEGIN")
		for i := range 15 {
			if got := bind(fmt.Sprint("p", i)); strings.Contains(got, "ERROR") {
				t.Fatal(got)
			}
		}
		reads(30)
	}
	fill()
	w.pipe(&pgproto3.Close{ObjectType: 'P', Name: "p3"})
	reads(28)
	w.send(&pgproto3.Close{ObjectType: 'P', Name: "p4"})
	time.Sleep(50 * time.Millisecond)
	reads(28) // Postgres has it until the Close was run
	w.pipe()
	reads(26)
	bind("")
	reads(26) // the unnamed one is one for each client
	w.query("ROLLBACK")
	reads(0)
	fill()
	if got := bind("more"); !strings.Contains(got, "ERROR 54000") {
		t.Error(got)
	}
	if w.tally.of("short of portals: server") != 1 {
		t.Error(w.tally.counts)
	}
	w.query("ROLLBACK")
	reads(0)
	w.query("BEGIN")
	w.query("SAVEPOINT a")
	bind("p")
	w.query("ROLLBACK TO a")
	reads(0)
	bind("outer")
	w.query("SAVEPOINT a")
	w.link.fails["content"] = pgError("22012", "division by zero")
	w.pipe(&pgproto3.Parse{Query: "SELECT content FROM messages"}, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Close{ObjectType: 'P', Name: "outer"})
	w.query("ROLLBACK TO a")
	reads(2) // the Close was left out
	w.pipe(&pgproto3.Close{ObjectType: 'P', Name: "outer"}, &pgproto3.Parse{Query: "SELECT content FROM messages"})
	w.query("ROLLBACK TO a")
	w.query("SAVEPOINT b")
	reads(2) // whether the Close was run is not asked
	w.query("COMMIT")
	reads(0)
	fill()
	if got := w.pipe(&pgproto3.Close{ObjectType: 'P', Name: "p3"}, &pgproto3.Bind{DestinationPortal: "p3", PreparedStatement: "s"}); strings.Contains(got, "ERROR") {
		t.Error(got) // Postgres closes the one before it makes the other
	}
	reads(30)
	w.query("ROLLBACK")
	reads(0)
}
