package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Ensure an error that looks like one of a prepared statement's, while it is executed, is told.
func TestRealTriggersStale(t *testing.T) {
	w, admin := onPostgres(t)
	_, err := admin.Exec(t.Context(), `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '26000'; END $$;
		CREATE TRIGGER refuse BEFORE INSERT ON notes FOR EACH ROW EXECUTE FUNCTION refuse()`)
	if err != nil {
		t.Fatal(err)
	}
	w.is(w.pipe(step("INSERT INTO notes (id) VALUES (2)")...), "parsed bound ERROR 26000 I")
	w.is(w.query("SELECT 1"), "columns(?column?:23) row(1) <SELECT 1> I")
}

// Ensure a statement whose execution says so runs once all the same.
func TestRealRunsOnce(t *testing.T) {
	w, admin := onPostgres(t)
	_, err := admin.Exec(t.Context(), `CREATE SEQUENCE tries; CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
		BEGIN PERFORM nextval('public.tries'); RAISE EXCEPTION 'x' USING ERRCODE = NEW.body; END $$;
		CREATE TRIGGER refuse BEFORE INSERT ON notes FOR EACH ROW EXECUTE FUNCTION refuse()`)
	if err != nil {
		t.Fatal(err)
	}
	w.query("SELECT id FROM notes")
	for i, state := range []string{"26000", "42704", "42P01", "42703", "25006"} {
		text := "INSERT INTO notes (id, body) VALUES (2, '" + state + "')"
		w.is(w.query(text), "ERROR "+state+" I")
		w.is(w.pipe(step(text)...), "parsed bound ERROR "+state+" I")
		var tries int
		if err := admin.QueryRow(t.Context(), "SELECT last_value FROM tries").Scan(&tries); err != nil || tries != 2*(i+1) {
			t.Fatalf("%s: %d statements ran %d times, %v", state, 2*(i+1), tries, err)
		}
	}
}

// Ensure an error of a statement that runs once more as it was written has its place in the message.
func TestRealPlaceInTheMessage(t *testing.T) {
	w, _ := onPostgres(t)
	for _, before := range []string{"", ";", " ; ; "} {
		text := before + "SELECT id FROM notes WHERE body = 'a' AND body = 1"
		w.is(w.query(text), fmt.Sprintf("ERROR 42883@%d I", strings.Index(text, "= 1")+1))
	}
}

// Ensure an error that is cut off, since it quotes a long value, does not tell what a function
// in the database says: whose it is has been cut off, too.
func TestRealLongErrorOfAFunction(t *testing.T) {
	w, admin := onPostgres(t)
	_, err := admin.Exec(t.Context(), `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN RAISE EXCEPTION 'taken by Smith' USING ERRCODE = '22023', DETAIL = NEW.body; END $$;
		CREATE TRIGGER refuse BEFORE INSERT ON notes FOR EACH ROW EXECUTE FUNCTION refuse()`)
	if err != nil {
		t.Fatal(err)
	}
	for _, length := range []int{10, 5000, 2 << 20} {
		w.send(append(step("INSERT INTO notes (id, body) VALUES (2, $1)", strings.Repeat("x", length)), &pgproto3.Sync{})...)
		for told := false; !told; {
			message, err := w.front.Receive()
			if err != nil {
				t.Fatal(err)
			}
			if e, is := message.(*pgproto3.ErrorResponse); is && (e.Code != "22023" || strings.Contains(e.Message, "Smith")) {
				t.Errorf("%d bytes: told %s %q", length, e.Code, e.Message)
			}
			_, told = message.(*pgproto3.ReadyForQuery)
		}
	}
}

// Ensure an error whose text is long costs neither the connection nor the savepoint.
func TestRealLongError(t *testing.T) {
	w, admin := onPostgres(t)
	pid := func() (pid int) {
		if err := admin.QueryRow(t.Context(), "SELECT coalesce(max(pid), 0) FROM pg_stat_activity WHERE application_name = 'tenantgate' AND datname = current_database()").Scan(&pid); err != nil {
			t.Fatal(err)
		}
		return pid
	}
	w.query("BEGIN")
	w.query("INSERT INTO notes (id) VALUES (2)")
	w.query("SAVEPOINT a")
	before := pid()
	w.is(w.pipe(step("INSERT INTO notes (id) VALUES ($1)", strings.Repeat("x", 2<<20))...), "parsed ERROR 22P02 E")
	w.is(w.query("ROLLBACK TO a"), "<ROLLBACK> T")
	if after := pid(); after != before {
		t.Errorf("the connection %d became %d", before, after)
	}
	w.is(w.query("COMMIT"), "<COMMIT> I")
}
