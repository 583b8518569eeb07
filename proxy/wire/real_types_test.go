package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
)

// given has a text parsed with types and described.
func given(text string, types ...uint32) []pgproto3.FrontendMessage {
	return []pgproto3.FrontendMessage{&pgproto3.Parse{Query: text, ParameterOIDs: types}, &pgproto3.Describe{ObjectType: 'S'}}
}

// oidOf asks for a type's OID.
func oidOf(t *testing.T, admin *pgx.Conn, name string) (oid uint32) {
	t.Helper()
	if err := admin.QueryRow(t.Context(), "SELECT $1::text::regtype::oid", name).Scan(&oid); err != nil {
		t.Fatal(err)
	}
	return oid
}

// Ensure a client may give its parameters the types that it was told of, as pgx does with
// cache_describe.
func TestRealTypesOfColumns(t *testing.T) {
	w, admin := onPostgres(t)
	for _, c := range []struct{ text, typ, value string }{
		{"INSERT INTO feelings (mo) VALUES ($1)", "mood", "sad"},
		{"INSERT INTO feelings (mos) VALUES ($1)", "mood[]", "{sad}"},
		{"INSERT INTO feelings (title) VALUES ($1)", "title", "x"},
		{"INSERT INTO feelings (titles) VALUES ($1)", "title[]", "{x}"},
		{"UPDATE feelings SET title = 'y' WHERE mo = $1", "mood", "sad"},
		{"UPDATE feelings SET title = 'y' WHERE mo = ANY ($1)", "mood[]", "{sad}"},
		{"UPDATE feelings SET title = 'y' WHERE $1 = ANY (mos)", "mood", "sad"},
	} {
		oid := oidOf(t, admin, c.typ)
		told := fmt.Sprintf("parsed params[%d] ", oid)
		bound := []pgproto3.FrontendMessage{&pgproto3.Bind{Parameters: [][]byte{[]byte(c.value)}}, &pgproto3.Execute{}}
		if got := w.pipe(given(c.text)...); !strings.HasPrefix(got, told) {
			t.Errorf("%s: %s, want %s", c.text, got, told)
		}
		if got := w.pipe(append(given(c.text, oid), bound...)...); !strings.HasPrefix(got, told) || !strings.HasSuffix(got, " 1> I") {
			t.Errorf("%s with %s: %s", c.text, c.typ, got)
		}
	}
}

// Ensure no other types may be given, be they those of columns too.
func TestRealTypesRefused(t *testing.T) {
	w, admin := onPostgres(t)
	for _, name := range []string{"pair", "pair[]", "relation", "relation[]", "notes", "regclass", "record", "anyelement", "information_schema.sql_identifier"} {
		w.is(w.pipe(given("SELECT $1", oidOf(t, admin, name))...), "ERROR 42501 I")
	}
	old := oidOf(t, admin, "mood")
	if _, err := admin.Exec(t.Context(), "DROP TYPE mood CASCADE; CREATE TYPE mood AS ENUM ('glad', 'sad'); ALTER TABLE feelings ADD mo mood"); err != nil {
		t.Fatal(err)
	}
	const insert = "INSERT INTO feelings (mo) VALUES ($1)"
	w.is(w.pipe(given(insert, oidOf(t, admin, "mood"))...), "ERROR 42501 I")
	if got := w.pipe(given(insert, old)...); !strings.HasPrefix(got, "ERROR") {
		t.Errorf("a type that was dropped: %s", got)
	}
}

// Ensure an INSERT that overrides identity columns is one of the client's server.
func TestRealOverriding(t *testing.T) {
	w, admin := onPostgres(t)
	w.is(w.query("INSERT INTO feelings (id, title) OVERRIDING SYSTEM VALUE VALUES (71, 'a'), (72, 'b')"), "<INSERT 0 2> I")
	w.is(w.query("INSERT INTO feelings (id, title) OVERRIDING SYSTEM VALUE SELECT id + 10, title FROM feelings"), "<INSERT 0 2> I")
	w.is(w.query("INSERT INTO feelings (id, title) OVERRIDING USER VALUE VALUES (99, 'c')"), "<INSERT 0 1> I")
	w.is(w.query("SELECT id FROM feelings ORDER BY id"), "columns(id:20) row(1) row(71) row(72) row(81) row(82) <SELECT 5> I")
	var others int
	if err := admin.QueryRow(t.Context(), "SELECT count(*) FROM feelings WHERE server_id IS DISTINCT FROM $1", ownID).Scan(&others); err != nil || others != 0 {
		t.Errorf("%d rows of others, %v", others, err)
	}
}
