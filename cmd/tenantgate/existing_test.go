package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// TestExisting runs the statements of testdata/existing on a database as applications leave them
// behind, through each front end. Each must answer as a plain Postgres does whose database holds
// the server's rows alone, and leave the same rows.
func TestExisting(t *testing.T) {
	t.Parallel()
	for name, wall := range map[string]string{"walled": existingFile(t, "walls.sql"), "engine": "SELECT"} {
		t.Run(name, func(t *testing.T) {
			e := startExisting(t, wall)
			for front, run := range map[string]func(t *testing.T, sql string) answered{"rest": e.rest, "simple": e.wire(t, pgx.QueryExecModeSimpleProtocol), "extended": e.wire(t, pgx.QueryExecModeExec), "cursor": e.cursor(t)} {
				t.Run(front, func(t *testing.T) { e.honest(t, run) })
			}
		})
	}
}

// existing is a program in front of such a database, and a plain connection to one with the
// server's rows alone.
type existing struct {
	*instance
	shared, plain *pgx.Conn
	url           string
}

// answered is what a statement answered: rows as texts, and how many it changed.
type answered struct {
	rows     []string
	affected int64
}

const existingServer = "srv-x"

var sqlComment = regexp.MustCompile(`(?m)^--.*$`)

func existingFile(t *testing.T, name string) string {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("testdata/existing", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

func startExisting(t *testing.T, wall string) *existing {
	dir, first := firstStart(t)
	schema := strings.ReplaceAll(existingFile(t, "schema.sql"), "{{owner}}", "app_owner")
	first.admin(t, `CREATE ROLE app_owner; ALTER ROLE app_owner SET search_path = crm, "$user", public; GRANT CREATE ON SCHEMA public TO app_owner`, schema, existingFile(t, "grants.sql"), wall)
	if code := first.stop(); code != 0 {
		t.Fatalf("the first start ended with %d", code)
	}
	in, err := launchIn(dir, "--requests-per-second=0", "--pool-max=3", "--policy=testdata/existing/policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.stop() })
	e := &existing{instance: in, shared: in.connect(t)}
	e.enrol(t)
	e.alone(t, schema)
	return e
}

// enrol makes the server, and rows of others.
func (e *existing) enrol(t *testing.T) {
	var made struct{ APIKey string }
	if err := json.Unmarshal([]byte(e.cli(t, "server", "create", existingServer, "--id", existingServer, "--project", e.ProjectID, "--json")), &made); err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(e.PgURL)
	if err != nil {
		t.Fatal(err)
	}
	e.url = pgURL(at.Host, existingServer, made.APIKey)
	for _, id := range []string{"srv-y", "SRV-X"} {
		e.exec(t, e.shared, e.seed(t, id, "CANARY"))
	}
}

// alone makes the plain database.
func (e *existing) alone(t *testing.T, schema string) {
	e.exec(t, e.shared, "CREATE DATABASE alone")
	u, err := url.Parse(e.AdminDatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/alone"
	if e.plain, err = pgx.Connect(t.Context(), u.String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.plain.Close(t.Context()) })
	e.exec(t, e.plain, "GRANT CREATE ON SCHEMA public TO app_owner")
	e.exec(t, e.plain, schema)
	e.exec(t, e.plain, "ALTER TABLE crm.people ALTER tenant SET DEFAULT 'srv-x'; ALTER TABLE crm.notes ALTER tenant SET DEFAULT 'srv-x'; ALTER TABLE crm.visits ALTER tenant SET DEFAULT 'srv-x'; SET timezone = 'UTC'; SET search_path = crm, public")
}

func (e *existing) seed(t *testing.T, id, mark string) string {
	return strings.NewReplacer("{{id}}", id, "{{mark}}", mark).Replace(existingFile(t, "rows.sql"))
}

func (e *existing) exec(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%.200s: %v", sql, err)
	}
}

// honest runs all statements through a front end and on the plain database.
func (e *existing) honest(t *testing.T, run func(t *testing.T, sql string) answered) {
	for _, conn := range []*pgx.Conn{e.shared, e.plain} {
		e.exec(t, conn, "TRUNCATE crm.log RESTART IDENTITY")
		e.exec(t, conn, e.seed(t, existingServer, ""))
	}
	others := e.held(t, e.shared, "<>")
	for _, block := range strings.Split(existingFile(t, "honest.sql"), "\n\n") {
		sql := strings.TrimSpace(sqlComment.ReplaceAllString(block, ""))
		if sql == "" {
			continue
		}
		got, want := run(t, sql), queryPlain(t, e.plain, sql)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s\ngot  %v\nwant %v", sql, got, want)
		}
	}
	if got, want := e.held(t, e.shared, "="), e.held(t, e.plain, "="); got != want {
		t.Errorf("the server's rows are\n%s\nwant\n%s", got, want)
	}
	if e.held(t, e.shared, "<>") != others {
		t.Error("LEAK: other servers' rows were changed")
	}
}

// held gives the rows of the server, or all others.
func (e *existing) held(t *testing.T, conn *pgx.Conn, op string) string {
	var all []string
	for _, name := range []string{"crm.people", `"Sales"."Price List"`, "crm.notes", "public.notes", "crm.assets", "crm.visits"} {
		scope := "tenant"
		if strings.HasPrefix(name, `"`) {
			scope = `"Tenant"`
		}
		got := queryPlain(t, conn, "SELECT x::text FROM "+name+" AS x WHERE "+scope+" "+op+" 'srv-x' ORDER BY 1")
		all = append(all, name, strings.Join(got.rows, "\n"))
	}
	return strings.Join(all, "\n")
}

// rest sends a statement to the REST interface.
func (e *existing) rest(t *testing.T, sql string) answered {
	r := e.queryAs(t, existingServer, sql)
	var got struct {
		Rows         [][]any
		RowsAffected int64
	}
	if r.status != 200 {
		t.Errorf("%s\nanswered %d %s", sql, r.status, r.body)
		return answered{}
	}
	decodeNumbers(t, r.body, &got)
	a := answered{affected: got.RowsAffected}
	for _, row := range got.Rows {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = map[any]string{nil: "NULL", true: "t", false: "f"}[v]
			if cells[i] == "" {
				cells[i] = fmt.Sprint(v)
			}
		}
		a.rows = append(a.rows, strings.Join(cells, "|"))
	}
	return a
}

// wire sends statements as a Postgres client.
func (e *existing) wire(t *testing.T, mode pgx.QueryExecMode) func(*testing.T, string) answered {
	conn, err := pgx.Connect(t.Context(), e.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	return func(t *testing.T, sql string) answered { return askPlainly(t, conn, mode, sql) }
}

// cursor reads the rows of a SELECT from a cursor.
func (e *existing) cursor(t *testing.T) func(*testing.T, string) answered {
	conn, err := pgx.Connect(t.Context(), e.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	return func(t *testing.T, sql string) answered {
		if !strings.HasPrefix(sql, "SELECT") {
			return queryPlain(t, conn, sql)
		}
		results, err := conn.PgConn().Exec(t.Context(), "BEGIN; DECLARE c CURSOR FOR "+sql+"; FETCH ALL FROM c; COMMIT").ReadAll()
		if err != nil || len(results) != 4 {
			t.Errorf("%s\nfailed: %v", sql, err)
			_, _ = conn.Exec(t.Context(), "ROLLBACK") // it may have ended
			return answered{}
		}
		return answered{rows: printed(results[2])}
	}
}

func queryPlain(t *testing.T, conn *pgx.Conn, sql string) answered {
	return askPlainly(t, conn, pgx.QueryExecModeSimpleProtocol, sql)
}

// askPlainly runs a statement and gives its rows as Postgres prints them.
func askPlainly(t *testing.T, conn *pgx.Conn, mode pgx.QueryExecMode, sql string) (a answered) {
	t.Helper()
	var result *pgconn.Result
	if mode == pgx.QueryExecModeSimpleProtocol {
		results, err := conn.PgConn().Exec(t.Context(), sql).ReadAll()
		if err != nil || len(results) != 1 {
			t.Errorf("%s\nfailed: %v", sql, err)
			return a
		}
		result = results[0]
	} else if result = conn.PgConn().ExecParams(t.Context(), sql, nil, nil, nil, nil).Read(); result.Err != nil {
		t.Errorf("%s\nfailed: %v", sql, result.Err)
		return a
	}
	a.rows = printed(result)
	if writes := []string{"INSERT", "UPDATE", "DELETE"}; slices.ContainsFunc(writes, func(w string) bool { return strings.HasPrefix(result.CommandTag.String(), w) }) {
		a.affected = result.CommandTag.RowsAffected()
	}
	return a
}

// printed gives a result's rows.
func printed(result *pgconn.Result) (rows []string) {
	for _, row := range result.Rows {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = string(v)
			if v == nil {
				cells[i] = "NULL"
			}
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
	return rows
}
