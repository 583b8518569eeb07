package wire

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// A statement that is parsed anew has the table's columns as they are now, also where it is
// the same text as before; one that was parsed before has not.
func TestRealParseAfterAlter(t *testing.T) {
	w, admin := onPostgres(t)
	const text = "SELECT id FROM notes"
	described := []pgproto3.FrontendMessage{&pgproto3.Parse{Query: text}, &pgproto3.Describe{ObjectType: 'S'}, &pgproto3.Bind{}, &pgproto3.Execute{}}
	named := []pgproto3.FrontendMessage{&pgproto3.Bind{PreparedStatement: "s"}, &pgproto3.Execute{}}
	w.is(w.pipe(slices.Concat([]pgproto3.FrontendMessage{&pgproto3.Parse{Name: "s", Query: text}}, named)...), "parsed bound row(1) <SELECT 1> I")
	for _, to := range []struct{ kind, oid string }{{"bigint", "20"}, {"text", "25"}, {"int", "23"}} {
		w.is(w.pipe(step(text)...), "parsed bound row(1) <SELECT 1> I")
		if _, err := admin.Exec(t.Context(), "ALTER TABLE notes ALTER id TYPE "+to.kind+" USING id::"+to.kind); err != nil {
			t.Fatal(err)
		}
		w.is(w.pipe(step(text)...), "parsed bound row(1) <SELECT 1> I")
		w.is(w.pipe(described...), "parsed params[] columns(id:"+to.oid+") bound row(1) <SELECT 1> I")
		if to.kind != "int" { // that is what it was told first
			w.is(w.pipe(named...), "ERROR 0A000 I")
		}
	}
}
