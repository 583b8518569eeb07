package wire

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Ensure a change that ends with an error is not committed, and not done twice, where the
// connection has to prepare it anew and its table has changed.
func TestRealChangesOfAlteredTables(t *testing.T) {
	bound := func(name string, args ...string) []pgproto3.FrontendMessage {
		b := &pgproto3.Bind{PreparedStatement: name}
		for _, a := range args {
			b.Parameters = append(b.Parameters, []byte(a))
		}
		return []pgproto3.FrontendMessage{b, &pgproto3.Execute{}}
	}
	for name, c := range map[string]struct{ text, alter string }{
		"a parameter's type":           {"INSERT INTO notes (id) VALUES ($1)", "id TYPE bigint"},
		"a result's type":              {"INSERT INTO notes (id) VALUES ($1) RETURNING id", "id TYPE bigint"},
		"one that is parsed each time": {"INSERT INTO notes (body, at) VALUES ($1, 'now')", "body TYPE varchar"},
	} {
		for way, around := range map[string][]string{"by itself": nil, "with its BEGIN and COMMIT": {"b", "c"}} {
			t.Run(name+", "+way, func(t *testing.T) {
				w, other, admin := twoOnPostgres(t, 0)
				w.pipe(&pgproto3.Parse{Name: "b", Query: "BEGIN"}, &pgproto3.Parse{Name: "c", Query: "COMMIT"})
				w.pipe(slices.Concat([]pgproto3.FrontendMessage{&pgproto3.Parse{Name: "s", Query: c.text}}, bound("s", "7"))...)
				if _, err := admin.Exec(t.Context(), "DELETE FROM notes; ALTER TABLE notes ALTER "+c.alter); err != nil {
					t.Fatal(err)
				}
				other.query("BEGIN")
				other.query("SELECT 1") // it has the connection that knows the statement
				defer other.query("ROLLBACK")
				messages := bound("s", "7")
				if around != nil {
					messages = slices.Concat(bound("b"), messages, bound("c"))
				}
				got, n := w.pipe(messages...), 0
				if err := admin.QueryRow(t.Context(), "SELECT count(*) FROM notes").Scan(&n); err != nil {
					t.Fatal(err)
				}
				if failed := strings.Contains(got, "ERROR"); n > 1 || failed && n != 0 || !failed && n != 1 {
					t.Errorf("%s; %d rows are there", got, n)
				}
			})
		}
	}
}

// Ensure a plan that fits its table no more is dropped, whatever its client has set.
func TestRealStaleSettings(t *testing.T) {
	w, _, admin := twoOnPostgres(t, 1)
	w.query("SET IntervalStyle = iso_8601")
	w.is(w.query("SELECT id FROM notes"), "columns(id:23) row(1) <SELECT 1> I")
	if _, err := admin.Exec(t.Context(), "ALTER TABLE notes ALTER id TYPE bigint"); err != nil {
		t.Fatal(err)
	}
	w.query("SELECT id FROM notes")
	w.is(w.query("SELECT id FROM notes"), "columns(id:20) row(1) <SELECT 1> I")
}

// Ensure what a client has bound without running anything takes bounded memory.
func TestBoundFormats(t *testing.T) {
	w := greeted(t)
	w.pipe(&pgproto3.Parse{Name: "s"})
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc >> 20
	}
	before := heap()
	go func() { // its answers
		for {
			if _, err := w.front.Receive(); err != nil {
				return
			}
		}
	}()
	message, err := (&pgproto3.Bind{PreparedStatement: "s", ResultFormatCodes: make([]int16, 7000)}).Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 3000 {
		if _, err := w.conn.Write(message); err != nil {
			t.Fatal(err)
		}
	}
	after := heap()
	for range 20 { // what tests before this one left may be going just now, and these answers too
		if after <= before+8 {
			return
		}
		time.Sleep(50 * time.Millisecond)
		after = heap()
	}
	t.Errorf("%d MiB more", after-before)
}
