package pgtest

import (
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

// Ensure each test has an empty database that is gone after it.
func TestDatabase(t *testing.T) {
	var first string
	t.Run("first", func(t *testing.T) {
		first = Database(t)
		conn, err := pgx.Connect(t.Context(), first)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(t.Context())
		if _, err := conn.Exec(t.Context(), "CREATE TABLE a (x int)"); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("second", func(t *testing.T) {
		conn, err := pgx.Connect(t.Context(), Database(t))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(t.Context())
		if _, err := conn.Exec(t.Context(), "SELECT FROM a"); err == nil {
			t.Error("the second database has the first one's table")
		}
	})
	if conn, err := pgx.Connect(t.Context(), first); err == nil {
		_ = conn.Close(t.Context())
		t.Error("the database outlived its test")
	}
}
