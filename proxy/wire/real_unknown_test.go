package wire

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Ensure who cancels a change is not told that it was cancelled where it may have been committed.
func TestRealCancelUnknown(t *testing.T) {
	w, r, admin := behindRelay(t)
	w.query("SELECT id FROM notes")
	tx, err := admin.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "INSERT INTO notes VALUES ($1, 2)", ownID); err != nil {
		t.Fatal(err)
	}
	w.send(&pgproto3.Query{String: "INSERT INTO notes (id) VALUES (2)"})
	time.Sleep(300 * time.Millisecond) // it waits for the other's
	r.Silent.Store(true)
	r.Ignore.Store(true)
	w.client.cancelRunning()
	_ = tx.Rollback(t.Context())
	for {
		m, err := w.front.Receive()
		if err != nil {
			t.Fatal(err)
		}
		if e, is := m.(*pgproto3.ErrorResponse); is && (!strings.Contains(e.Message, "not known") || e.Code != "08007") {
			var n int
			_ = admin.QueryRow(t.Context(), "SELECT count(*) FROM notes WHERE id = 2").Scan(&n)
			t.Errorf("told %s %q; %d rows were committed", e.Code, e.Message, n)
		}
		if _, is := m.(*pgproto3.ReadyForQuery); is {
			return
		}
	}
}
