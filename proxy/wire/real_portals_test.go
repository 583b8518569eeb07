package wire

import (
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Ensure portals that ROLLBACK TO has ended are gone, and those that were closed meanwhile.
func TestRealPortalsOfSavepoints(t *testing.T) {
	bind := []pgproto3.FrontendMessage{&pgproto3.Bind{PreparedStatement: "s", DestinationPortal: "p"}, &pgproto3.Execute{Portal: "p", MaxRows: 1}}
	w, _ := onPostgres(t)
	w.query("INSERT INTO notes (id) VALUES (2)")
	w.is(w.pipe(&pgproto3.Parse{Name: "s", Query: "SELECT id FROM notes ORDER BY id"}), "parsed I")
	w.query("BEGIN; SAVEPOINT a")
	w.is(w.pipe(bind...), "bound row(1) *pgproto3.PortalSuspended T")
	w.query("ROLLBACK TO a")
	w.is(w.pipe(bind...), "bound row(1) *pgproto3.PortalSuspended T")
	w.query("ROLLBACK")

	w.query("BEGIN")
	w.is(w.pipe(bind...), "bound row(1) *pgproto3.PortalSuspended T")
	w.query("SAVEPOINT a")
	w.query("SELECT 1/0")
	w.is(w.pipe(&pgproto3.Close{ObjectType: 'P', Name: "p"}), "closed E")
	w.query("ROLLBACK TO a")
	w.is(w.pipe(bind...), "bound row(1) *pgproto3.PortalSuspended T")
	w.query("ROLLBACK")
}

// Ensure a portal whose Bind stood behind an error is not there, though its statement is answered here.
func TestRealPortalsBehindAnError(t *testing.T) {
	w, _ := onPostgres(t)
	w.is(w.pipe(&pgproto3.Parse{Name: "end", Query: "ROLLBACK"}, &pgproto3.Parse{Name: "show", Query: "SHOW timezone"}, &pgproto3.Parse{Name: "read", Query: "SELECT id FROM notes"},
		&pgproto3.Parse{Name: "bad", Query: "SELECT 1/(id - id) FROM notes"}), "parsed parsed parsed parsed I")
	for _, behind := range []string{"end", "show", "read"} {
		bind := []pgproto3.FrontendMessage{&pgproto3.Bind{PreparedStatement: behind, DestinationPortal: "p"}, &pgproto3.Execute{Portal: "p"}}
		w.query("BEGIN")
		w.is(w.pipe(append([]pgproto3.FrontendMessage{&pgproto3.Bind{PreparedStatement: "bad"}, &pgproto3.Execute{}}, bind...)...), "bound ERROR 22012 E")
		w.is(w.pipe(&pgproto3.Execute{Portal: "p"}), "ERROR 34000 E")
		if behind == "end" {
			w.is(w.pipe(bind...), "bound <ROLLBACK> I")
			continue
		}
		w.query("ROLLBACK")
		w.query("BEGIN")
		w.is(w.pipe(bind[0]), "bound T")
		w.query("ROLLBACK")
	}
	w.query("BEGIN")
	w.is(w.pipe(&pgproto3.Bind{PreparedStatement: "bad"}, &pgproto3.Execute{}, &pgproto3.Bind{PreparedStatement: "end"}), "bound ERROR 22012 E")
	w.is(w.pipe(&pgproto3.Execute{}), "ERROR 34000 E")
	w.query("ROLLBACK")
	w.query("BEGIN")
	w.is(w.pipe(&pgproto3.Parse{Name: "save", Query: "SAVEPOINT s"}, &pgproto3.Parse{Name: "undo", Query: "ROLLBACK TO s"}, &pgproto3.Bind{PreparedStatement: "show"},
		&pgproto3.Bind{PreparedStatement: "show", DestinationPortal: "p"}, &pgproto3.Bind{PreparedStatement: "read", DestinationPortal: "q"}, &pgproto3.Bind{PreparedStatement: "save", DestinationPortal: "a"},
		&pgproto3.Execute{Portal: "a"}, &pgproto3.Bind{PreparedStatement: "bad", DestinationPortal: "b"}, &pgproto3.Execute{Portal: "b"}), "parsed parsed bound bound bound bound <SAVEPOINT> bound ERROR 22012 E")
	w.is(w.pipe(&pgproto3.Bind{PreparedStatement: "undo", DestinationPortal: "c"}, &pgproto3.Execute{Portal: "c"}, &pgproto3.Execute{}, &pgproto3.Execute{Portal: "p"}, &pgproto3.Execute{Portal: "q"}),
		"bound <ROLLBACK> row(UTC) <SHOW> row(UTC) <SHOW> row(1) <SELECT 1> T")
	w.query("ROLLBACK")
}

// Ensure what a portal has written that stopped midway shows to a statement that is parsed behind it, as in Postgres, also where the
// connection knows that statement.
func TestRealWrittenMidway(t *testing.T) {
	w, _ := onPostgres(t)
	const read = "SELECT body FROM notes WHERE id = $1"
	w.query("INSERT INTO notes (id) VALUES (2)")
	w.pipe(step(read, "1")...)
	write := []pgproto3.FrontendMessage{&pgproto3.Parse{Query: "UPDATE notes SET body = 'new' RETURNING id"}, &pgproto3.Bind{DestinationPortal: "p"}, &pgproto3.Execute{Portal: "p", MaxRows: 1}}
	w.query("BEGIN")
	w.is(w.pipe(append(write, step(read, "1")...)...), "parsed bound row(1) *pgproto3.PortalSuspended parsed bound row(new) <SELECT 1> T")
	w.query("ROLLBACK")
	w.query("BEGIN")
	w.send(append(write, &pgproto3.Flush{})...)
	w.is(w.pipe(step(read, "1")...), "parsed bound row(1) *pgproto3.PortalSuspended parsed bound row(new) <SELECT 1> T")
	w.query("ROLLBACK")
}

// Ensure what was collected of a script that is refused is done as its first statements are.
func TestRealDeclareBeforeRefused(t *testing.T) {
	w, _ := onPostgres(t)
	w.is(w.query("DECLARE c CURSOR FOR SELECT 1; SAVEPOINT a"), "<DECLARE CURSOR> ERROR 25P01 I")
}

// Ensure a BEGIN behind other statements leaves the unnamed portal.
func TestRealPortalBeforeBegin(t *testing.T) {
	w, _ := onPostgres(t)
	w.is(w.pipe(&pgproto3.Parse{Name: "s", Query: "SELECT id FROM notes"}, &pgproto3.Bind{PreparedStatement: "s"}, &pgproto3.Parse{Query: "BEGIN"},
		&pgproto3.Bind{DestinationPortal: "p"}, &pgproto3.Execute{Portal: "p"}, &pgproto3.Execute{}), "parsed bound parsed bound <BEGIN> row(1) <SELECT 1> T")
	w.query("ROLLBACK")
}
