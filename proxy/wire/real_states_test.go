package wire

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Ensure the database, too, knows between two messages of a transaction that nobody is waiting:
// who watches pg_stat_activity sees no statement that seems to run for ever.
func TestRealStatesOfTransactions(t *testing.T) {
	w, _, admin := twoOnPostgres(t, 1)
	backendOf(t, w, admin)
	const open, failed = "idle in transaction", "idle in transaction (aborted)"
	for _, c := range []struct{ text, want string }{
		{"BEGIN", "idle"},
		{"INSERT INTO notes (id) VALUES (2)", open},
		{"SAVEPOINT a", open},
		{"RELEASE a", open},
		{"SAVEPOINT b", open},
		{"ROLLBACK TO b", open},
		{"SET DateStyle = 'German'", open},
		{"SELECT at FROM notes WHERE id = 1", open},
		{"SET TimeZone = 'Asia/Tokyo'", open},
		{"SELECT 1/0", failed},
		{"ROLLBACK TO b", open},
		{"SAVEPOINT c; SELECT 1; RELEASE c", open},
		{"COMMIT", "idle"},
	} {
		w.query(c.text)
		if got := stateOf(t, admin, c.want); got != c.want {
			t.Errorf("behind %s the state is %q, want %q", c.text, got, c.want)
		}
	}
}

// stateOf gives the state of the pool's one connection, which has a moment to become what it
// should be.
func stateOf(t *testing.T, admin *pgx.Conn, want string) (state string) {
	t.Helper()
	for end := time.Now().Add(time.Second); state != want && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if err := admin.QueryRow(t.Context(), "SELECT state FROM pg_catalog.pg_stat_activity WHERE application_name = 'tenantgate' AND datname = current_database()").Scan(&state); err != nil {
			t.Fatal(err)
		}
	}
	return state
}

// Ensure what a function in the database sets for its whole session is nobody else's.
func TestRealSettingsOfFunctions(t *testing.T) {
	for _, setting := range []string{"'timezone', 'Asia/Tokyo'", "'datestyle', 'German'", "'intervalstyle', 'iso_8601'"} {
		first, second, admin := twoOnPostgres(t, 1)
		_, err := admin.Exec(t.Context(), `CREATE FUNCTION sets() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM set_config(`+setting+`, false); RETURN new; END $$;
			CREATE TRIGGER sets BEFORE INSERT ON notes FOR EACH ROW EXECUTE FUNCTION sets()`)
		if err != nil {
			t.Fatal(err)
		}
		const see = "SELECT at, '1 day'::interval FROM notes WHERE id = 1"
		want := second.query(see)
		first.is(first.query("INSERT INTO notes (id) VALUES (2)"), "<INSERT 0 1> I")
		if got := second.query(see); got != want {
			t.Errorf("behind set_config(%s): %s, want %s", setting, got, want)
		}
		first.query("BEGIN")
		first.query("INSERT INTO notes (id) VALUES (3)")
		first.query("COMMIT")
		if got := second.query(see); got != want {
			t.Errorf("behind set_config(%s) in a block: %s, want %s", setting, got, want)
		}
		pid := backendOf(t, first, admin)
		first.is(first.query("SET TimeZone = 'Asia/Tokyo'; SELECT 1; BEGIN; SELECT 1"), "<SET> columns(?column?:23) row(1) <SELECT 1> <BEGIN> columns(?column?:23) row(1) <SELECT 1> TimeZone=Asia/Tokyo T")
		first.query("COMMIT")
		if after := backendOf(t, second, admin); after != pid {
			t.Error("a client's own setting cost the connection")
		}
	}
}
