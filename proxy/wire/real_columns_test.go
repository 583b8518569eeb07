package wire

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// TestRealMissingColumns compares what is said of a column that does not exist with what Postgres says. It has no hint
// on lists of columns, where own is ours.
func TestRealMissingColumns(t *testing.T) {
	w, admin := onPostgres(t)
	for text, own := range map[string]string{
		"SELECT bdy FROM notes":                                                    "",
		"SELECT n.bod FROM notes n":                                                "",
		`SELECT "BODY" FROM notes`:                                                 `Perhaps you meant to reference the column "notes.body".`,
		"SELECT 1 FROM notes WHERE bdoy = 'a'":                                     "",
		"SELECT bodi FROM notes a, notes b":                                        "",
		"SELECT bodi FROM notes a, notes b, notes c":                               "",
		"SELECT boooody FROM notes":                                                "",
		"SELECT zzz FROM notes":                                                    "",
		"SELECT id FROM notes ORDER BY bodi":                                       "",
		"SELECT 1 FROM notes WHERE EXISTS (SELECT FROM feelings WHERE titel = '')": `Perhaps you meant to reference the column "feelings.title".`, // to Postgres titles is as near
		"DELETE FROM notes WHERE bodi = 'a'":                                       "",
		"INSERT INTO notes (id) VALUES (1) RETURNING bodi":                         "",
		"INSERT INTO notes (id, bodi) VALUES (1, 'a')":                             `Perhaps you meant to reference the column "body".`,
		"INSERT INTO notes (bodi) SELECT nothing FROM notes":                       `Perhaps you meant to reference the column "body".`,
		"UPDATE notes SET bodi = 'a'":                                              `Perhaps you meant to reference the column "body".`,
		"UPDATE notes SET (id, bodi) = (1, 'a')":                                   `Perhaps you meant to reference the column "body".`,
		"UPDATE notes SET zzz = 'a'":                                               "",
	} {
		_, err := admin.Exec(t.Context(), text)
		var want *pgconn.PgError
		if !errors.As(err, &want) {
			t.Fatalf("%s: %v", text, err)
		}
		if own == "" {
			own = want.Hint
		}
		w.send(&pgproto3.Query{String: text})
		got := w.refusal()
		if got.Code != "42703" || got.Code != want.Code || got.Message != want.Message || got.Position != want.Position || got.Hint != own {
			t.Errorf("%s: %s %q at %d, %q; Postgres has %s %q at %d, %q", text, got.Code, got.Message, got.Position, got.Hint, want.Code, want.Message, want.Position, want.Hint)
		}
	}
}
