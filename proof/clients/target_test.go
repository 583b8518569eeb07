package clients_test

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/control"
	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
)

// patience bounds what a test waits for.
const patience = 2 * time.Minute

// slow runs for far longer than anybody waits, and is nothing that a policy refuses.
const slow = "SELECT count(*) FROM generate_series(1, 1000000) AS a, generate_series(1, 1000000) AS b WHERE a + b < 0"

// plain makes a database of one server's own and gives its URL.
func plain(t *testing.T) string {
	t.Helper()
	url := pgtest.Database(t)
	none := control.Roles{Statement: "clients_none", Lookup: "clients_nobody", Optional: true}
	if _, err := control.MigrateBundled(t.Context(), url, none); err != nil {
		t.Fatal(err)
	}
	execFile(t, url, "testdata/tables.sql")
	execFile(t, url, "testdata/plain.sql")
	return url
}

// empty removes the rows that another test left.
func empty(t *testing.T, url string) {
	t.Helper()
	for _, table := range []string{"samples", "branches", "tellers", "accounts", "history", "files", "messages", "conversations", "end_users"} {
		execute(t, url, "DELETE FROM "+table)
	}
}

func execFile(t *testing.T, url, path string) {
	t.Helper()
	sql, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	execute(t, url, string(sql))
}

// execute sends a text in the simple protocol; of several statements where the target
// takes them so.
func execute(t *testing.T, url, sql string) {
	t.Helper()
	conn := dial(t, url)
	if _, err := conn.PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
		t.Fatal(err)
	}
}

// dial connects until the test ends.
func dial(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

// one gives the text of a query's only value.
func one(t *testing.T, url, sql string) string {
	t.Helper()
	results, err := dial(t, url).PgConn().Exec(t.Context(), sql).ReadAll()
	if err != nil || len(results) != 1 || len(results[0].Rows) != 1 {
		t.Fatalf("%s: %v, %v", sql, results, err)
	}
	return string(results[0].Rows[0][0])
}

// need fails the test in CI where a program is missing, and skips it elsewhere.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		missing(t, program)
	}
}

func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("%s is missing; `make clients` installs it", what)
	}
	t.Skipf("%s is missing; `make clients` installs it", what)
}

// command runs a program with few settings of its own, and gives what it says.
func command(t *testing.T, stdin, dir, url, name string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, environment(url)
	if stdin != "" {
		f, err := os.Open(stdin)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		cmd.Stdin = f
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// environment keeps from the clients what a machine has set for its own Postgres.
func environment(url string) []string {
	env := []string{"DATABASE_URL=" + url, "PGTZ=UTC", "PGCLIENTENCODING=UTF8", "LC_ALL=C.UTF-8", "PSQL_PAGER=", "NO_COLOR=1", "TZ=UTC"}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "CI"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
