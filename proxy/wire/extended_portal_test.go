package wire

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Names are as long as Postgres has them, and a longer one is not repeated to the client.
func TestLongNames(t *testing.T) {
	w := greeted(t)
	w.query("BEGIN")
	fits, long := strings.Repeat("n", 63), strings.Repeat("n", 64)
	w.is(w.pipe(&pgproto3.Parse{Name: fits, Query: "SHOW timezone"}, &pgproto3.Bind{PreparedStatement: fits, DestinationPortal: fits}), "parsed bound T")
	refused := func(state string, messages ...pgproto3.FrontendMessage) {
		t.Helper()
		w.query("ROLLBACK")
		w.query("BEGIN")
		before := w.client.out.Sent
		w.is(w.pipe(messages...), "ERROR "+state+" E")
		if sent := w.client.out.Sent - before; sent > 500 {
			t.Errorf("%d bytes were told", sent)
		}
	}
	refused("42622", &pgproto3.Parse{Name: long, Query: "SHOW timezone"})
	refused("42622", &pgproto3.Bind{PreparedStatement: fits, DestinationPortal: long})
	huge := strings.Repeat("\x01", 1<<20)
	refused("42622", &pgproto3.Parse{Name: huge, Query: "SHOW timezone"})
	refused("26000", &pgproto3.Bind{PreparedStatement: huge})
	refused("26000", &pgproto3.Describe{ObjectType: 'S', Name: huge})
	refused("34000", &pgproto3.Describe{ObjectType: 'P', Name: huge})
	refused("34000", &pgproto3.Execute{Portal: huge})
}

// What portals keep counts: texts that nobody else has any more, and formats.
func TestPortalsAreBounded(t *testing.T) {
	w := greeted(t)
	w.query("BEGIN")
	refused := 0
	for i := range maxPortals {
		text := fmt.Sprintf("SELECT id FROM messages -- %d %s", i, strings.Repeat("x", 9_500))
		if strings.Contains(w.pipe(&pgproto3.Parse{Query: text}, &pgproto3.Bind{DestinationPortal: fmt.Sprint(i)}), "ERROR 54000") {
			refused = i
			break
		}
	}
	if refused < 200 || refused > 220 {
		t.Errorf("refused at %d", refused)
	}
	w.query("ROLLBACK")
	w.query("BEGIN")
	w.pipe(&pgproto3.Parse{Name: "show", Query: "SHOW timezone"}, &pgproto3.Parse{Name: "set", Query: "SET timezone = 'UTC'"})
	many := slices.Repeat([]int16{0}, 60_000)
	w.is(w.pipe(&pgproto3.Bind{PreparedStatement: "set", ResultFormatCodes: many}, &pgproto3.Execute{}), "bound <SET> T")
	w.is(w.pipe(&pgproto3.Bind{PreparedStatement: "show", ResultFormatCodes: many}), "ERROR 08P01 E")
}

// What their values take in the database counts, until they are closed.
func TestPortalsValuesAreBounded(t *testing.T) {
	p := keptPortals()
	made := portal{of: &statement{}, values: maxValues / 2}
	for _, name := range []string{"a", "b"} {
		if err := p.room(name, &made); err != nil {
			t.Fatal(err)
		}
		if err := p.add(name, made); err != nil {
			t.Fatal(err)
		}
	}
	if p.room("c", &portal{of: &statement{}, values: 1}) == nil {
		t.Error("there is room for more")
	}
	p.remove("a")
	if err := p.room("c", &made); err != nil {
		t.Error(err)
	}
	w := greeted(t)
	w.query("BEGIN")
	w.pipe(&pgproto3.Parse{Name: "s", Query: point})
	long := &pgproto3.Bind{PreparedStatement: "s", DestinationPortal: "a", Parameters: [][]byte{bytes.Repeat([]byte("x"), maxValues/3)}}
	for _, want := range []string{"bound T", "bound T", "ERROR 54000 E"} {
		w.is(w.pipe(long), want)
		long.DestinationPortal += "a"
	}
}

// Portals hold no more of a Bind than is looked at later.
func TestPortalsForgetViews(t *testing.T) {
	p := keptPortals()
	of := &statement{text: "SELECT 1"}
	for _, name := range []string{"a", ""} {
		if err := p.add(name, portal{of: of, results: []int16{1}}); err != nil {
			t.Fatal(err)
		}
	}
	p.endExchange()
	if p.unnamed.results != nil || p.named["a"].results != nil || p.views {
		t.Errorf("%+v", p)
	}
	p.remove("a")
	p.remove("none")
	if p.bytes != 0 {
		t.Errorf("%d bytes of nothing", p.bytes)
	}
}

// keptPortals are those of a client that has room.
func keptPortals() portals {
	return portals{keeps: &keeping{of: newLedger(Config{Recorder: silent{}, MaxKeptBytes: 1 << 20, ProjectShare: 100})}}
}
