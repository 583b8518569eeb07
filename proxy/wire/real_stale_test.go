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

// Ensure modes are those of the savepoint that was gone back to.
func TestRealModesOfSavepoints(t *testing.T) {
	w, _ := onPostgres(t)
	for _, text := range []string{"BEGIN", "INSERT INTO notes (id) VALUES (2)", "SAVEPOINT a", "SET TRANSACTION READ ONLY", "ROLLBACK TO a"} {
		w.query(text)
	}
	w.is(w.query("SHOW transaction_read_only"), "columns(transaction_read_only:25) row(off) <SHOW> T")
	w.query("COMMIT AND CHAIN")
	w.is(w.query("INSERT INTO notes (id) VALUES (3)"), "<INSERT 0 1> T")
	w.query("ROLLBACK")
	w.is(w.query("SELECT id FROM notes WHERE id = 1; DISCARD ALL"), "columns(id:23) row(1) <SELECT 1> ERROR 25001 I")
}

// Ensure a database that takes no writes is told from a transaction that was to take none, which
// it is no longer behind ROLLBACK TO.
func TestRealReadOnly(t *testing.T) {
	w, admin := onPostgres(t)
	_, err := admin.Exec(t.Context(), `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '25006'; END $$;
		CREATE TRIGGER refuse BEFORE INSERT ON notes FOR EACH ROW EXECUTE FUNCTION refuse()`)
	if err != nil {
		t.Fatal(err)
	}
	const insert = "INSERT INTO notes (id) VALUES (2)"
	w.query("BEGIN; SAVEPOINT a; SET TRANSACTION READ ONLY; SAVEPOINT b")
	w.is(w.query(insert), "ERROR 25006 E")
	w.query("ROLLBACK TO a")
	w.is(w.query(insert), "ERROR 08006 E")
	w.query("ROLLBACK")
	w.is(w.query("SET default_transaction_read_only = on; "+insert), "<SET> ERROR 25006 I")
	w.is(w.query(insert), "ERROR 08006 I")
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
