package wire

import (
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Ensure a Query whose commit fails is not told before that its last statement was done, as
// Postgres does it; those before it are, and the messages of the extended protocol.
func TestRealDeferredFailures(t *testing.T) {
	w, admin := onPostgres(t)
	_, err := admin.Exec(t.Context(), `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '23514'; END $$;
		CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON notes DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.id > 100) EXECUTE FUNCTION refuse()`)
	if err != nil {
		t.Fatal(err)
	}
	const bad = "INSERT INTO notes (id) VALUES (101)"
	for text, want := range map[string]string{
		bad:                   "ERROR 23514 I",
		bad + " RETURNING id": "columns(id:23) row(101) ERROR 23514 I",
		bad + "; SELECT 1":    "<INSERT 0 1> columns(?column?:23) row(1) ERROR 23514 I",
		bad + "; DECLARE c CURSOR FOR SELECT 1; CLOSE c": "<INSERT 0 1> <DECLARE CURSOR> ERROR 23514 I",
		"BEGIN; " + bad + "; COMMIT":                     "<BEGIN> <INSERT 0 1> ERROR 23514 I",
		bad + "; COMMIT; SELECT 1":                       "<INSERT 0 1> ERROR 23514 I",
	} {
		if got := w.query(text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
	w.is(w.pipe(step(bad)...), "parsed bound <INSERT 0 1> ERROR 23514 I")
	w.send(&pgproto3.Query{String: "COPY notes (id) FROM STDIN"}, &pgproto3.CopyData{Data: []byte("101\n")}, &pgproto3.CopyDone{})
	w.is(w.answers(), "copyin0 [0] ERROR 23514 I")
	w.is(w.query("INSERT INTO notes (id) VALUES (5)"), "<INSERT 0 1> I")
	w.is(w.query("SELECT count(*) FROM notes"), "columns(count:20) row(2) <SELECT 1> I")
}
