package wire

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Ensure modes are those of the savepoint that was gone back to.
func TestRealModesOfSavepoints(t *testing.T) {
	w, _ := onPostgres(t)
	for _, text := range []string{"BEGIN", "INSERT INTO notes (id) VALUES (2)", "SAVEPOINT a", "SET TRANSACTION READ ONLY", "ROLLBACK TO a"} {
		w.query(text)
	}
	w.is(w.query("SHOW transaction_read_only"), "columns(transaction_read_only:25) row(off) <SHOW> T")
	w.is(w.query("SAVEPOINT b; SET TRANSACTION READ ONLY; RELEASE b; SHOW transaction_read_only"),
		"<SAVEPOINT> <SET> <RELEASE> columns(transaction_read_only:25) row(off) <SHOW> T")
	w.query("COMMIT AND CHAIN")
	w.is(w.query("INSERT INTO notes (id) VALUES (3)"), "<INSERT 0 1> T")
	w.query("ROLLBACK")
	w.is(w.query("SELECT id FROM notes WHERE id = 1; DISCARD ALL"), "columns(id:23) row(1) <SELECT 1> ERROR 25001 I")
}

// Ensure a chained block has the modes that an error has left: the savepoint's, and without one those of the session.
func TestRealModesChainedAfterError(t *testing.T) {
	w, _ := onPostgres(t)
	const begin, read, written = "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY", "SHOW transaction_isolation; INSERT INTO notes (id) VALUES (2)", "columns(transaction_isolation:25) row(%) <SHOW> "
	kept, lost := strings.Replace(written, "%", "serializable", 1)+"ERROR 25006 E", strings.Replace(written, "%", "read committed", 1)+"<INSERT 0 1> T"
	for _, end := range []string{"ROLLBACK AND CHAIN", "COMMIT AND CHAIN"} {
		for before, want := range map[string]string{
			begin: lost, begin + "; SAVEPOINT a": kept, begin + "; SAVEPOINT a; SAVEPOINT b; ROLLBACK TO a": kept, begin + "; SAVEPOINT a; RELEASE a": lost,
			"BEGIN ISOLATION LEVEL SERIALIZABLE; SAVEPOINT a; SET TRANSACTION READ ONLY": strings.Replace(kept, "ERROR 25006 E", "<INSERT 0 1> T", 1),
		} {
			w.query(before)
			w.query("SELECT 1 / (id - 1) FROM notes WHERE id = 1")
			w.is(w.query(end), "<ROLLBACK> T")
			if got := w.query(read); got != want {
				t.Errorf("%s, %s: %s", before, end, got)
			}
			w.query("ROLLBACK")
		}
	}
}

const (
	toReadOnly  = "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"
	toReadWrite = "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE"
)

// pipeline is texts with the extended protocol, in one cycle.
func pipeline(texts ...string) (messages []pgproto3.FrontendMessage) {
	for _, text := range texts {
		messages = slices.Concat(messages, step(text))
	}
	return messages
}

// Ensure a transaction that no BEGIN has opened has the modes that the session had as its first message came, as in Postgres.
func TestRealModesOfImplicitTransactions(t *testing.T) {
	w, _ := onPostgres(t)
	const insert, show = "INSERT INTO notes (body) VALUES ('x')", "SHOW transaction_read_only"
	const off, on = "columns(transaction_read_only:25) row(off) <SHOW> ", "columns(transaction_read_only:25) row(on) <SHOW> "
	const told, untold = "default_transaction_read_only=on ", "default_transaction_read_only=off "
	w.is(w.query(toReadOnly+"; "+show+"; "+insert), "<SET> "+off+"<INSERT 0 1> "+told+"I")
	w.is(w.query(toReadWrite+"; "+show+"; "+insert), "<SET> "+on+"ERROR 25006 I")
	w.is(w.query("SET default_transaction_read_only = off; BEGIN; "+show), "<SET> <BEGIN> "+on+untold+"T")
	w.is(w.query("ROLLBACK"), "<ROLLBACK> "+told+"I")
	w.is(w.query("SELECT 1; BEGIN READ WRITE"), "columns(?column?:23) row(1) <SELECT 1> ERROR 25001 I")
	w.is(w.query("SET TRANSACTION READ WRITE; "+insert), "<SET> <INSERT 0 1> I")
	w.is(w.pipe(pipeline(toReadWrite, insert)...), "parsed bound <SET> parsed bound ERROR 25006 I")
	w.is(w.query(toReadWrite+"; COMMIT; "+insert), "<SET> WARNING 25P01 <COMMIT> <INSERT 0 1> "+untold+"I")
	w.is(w.pipe(pipeline(toReadOnly, insert)...), "parsed bound <SET> parsed bound <INSERT 0 1> "+told+"I")
	w.is(w.query(toReadWrite), "<SET> "+untold+"I")
	w.is(w.query("SET default_transaction_isolation = 'serializable'; SHOW transaction_isolation"),
		"<SET> columns(transaction_isolation:25) row(read committed) <SHOW> I")
	w.is(w.query("SHOW transaction_isolation"), "columns(transaction_isolation:25) row(serializable) <SHOW> I")
}

// Ensure a database that takes no writes is told from a transaction that was to take none, which
// it is no longer behind ROLLBACK TO, and is whatever its session sets meanwhile.
func TestRealReadOnly(t *testing.T) {
	w, admin := onPostgres(t)
	_, err := admin.Exec(t.Context(), `CREATE SEQUENCE tries;
		CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN PERFORM set_config('transaction_read_only', 'on', true); PERFORM nextval('public.tries'); END $$;
		CREATE TRIGGER refuse BEFORE INSERT ON notes FOR EACH ROW EXECUTE FUNCTION refuse()`)
	if err != nil {
		t.Fatal(err)
	}
	const insert = "INSERT INTO notes (id) VALUES (2)"
	failover := func(want string) { t.Helper(); w.is(w.query(insert), "ERROR 08006 "+want) }
	w.query("BEGIN; SAVEPOINT a; SET TRANSACTION READ ONLY; SAVEPOINT b")
	w.is(w.query(insert), "ERROR 25006 E")
	w.query("ROLLBACK TO a")
	failover("E")
	w.query("ROLLBACK")
	w.is(w.query("SET default_transaction_read_only = on; "+insert), "<SET> ERROR 08006 I")
	one := "columns(?column?:23) row(1) <SELECT 1> "
	for _, set := range [][2]string{{toReadOnly, toReadWrite}, {"SET default_transaction_read_only = on", "SET default_transaction_read_only = off"}} {
		w.query(set[0])
		w.is(w.query("SELECT 1; "+set[1]+"; "+insert), one+"<SET> ERROR 25006 I")
		w.is(w.pipe(pipeline("SELECT 1", set[1], insert)...), "parsed bound row(1) <SELECT 1> parsed bound <SET> parsed bound ERROR 25006 I")
		w.is(w.query("SELECT 1; BEGIN; "+set[1]+"; "+insert), one+"<BEGIN> <SET> ERROR 25006 E")
		w.query("ROLLBACK")
		w.query(set[1])
		failover("I")
		w.is(w.query(set[0]+"; SELECT 1; "+set[1]+"; "+insert), "<SET> "+one+"<SET> ERROR 08006 I")
		w.is(w.pipe(pipeline(set[0], "SELECT 1", set[1], insert)...), "parsed bound <SET> parsed bound row(1) <SELECT 1> parsed bound <SET> parsed bound ERROR 08006 I")
		w.is(w.query("SELECT 1; "+set[0]+"; "+insert), one+"<SET> ERROR 08006 I")
	}
}
