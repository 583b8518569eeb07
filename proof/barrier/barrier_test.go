// Package barrier shows on a real Postgres what the barrier prevents on tables without row-level
// security, and that honest statements still use the indexes that they need.
package barrier

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/control"
	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// compiled is the policy for applications that know nothing of server_id, on the bundled tables.
func compiled(t *testing.T, walled bool) *policy.Policy {
	t.Helper()
	var schema policy.Schema
	if err := json.Unmarshal(policies.BundledSchema(), &schema); err != nil {
		t.Fatal(err)
	}
	return compile(t, schema, walled)
}

func compile(t *testing.T, schema policy.Schema, walled bool) *policy.Policy {
	t.Helper()
	src, _ := policies.Named("inject")
	file, err := policy.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	for i := range schema.Tables {
		schema.Tables[i].Walled = walled
	}
	p, err := policy.Compile(file, schema, policy.Sets{Functions: policies.Sets(), Types: policies.Types(), Operators: policies.Operators(), Leakproof: policies.Leakproof()})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// statement is a text for server a, with its parameters: all of them are the server's id.
func statement(t *testing.T, p *policy.Policy, text string) (sql string, params []any) {
	t.Helper()
	d := p.Decide(text, policy.REST)
	if d.Verdict != policy.Allow {
		t.Fatalf("%s\nis refused: %+v", text, d.Refusal)
	}
	b, reason := d.Approved.Bind("a", nil)
	if reason != nil {
		t.Fatalf("%s\n%+v", text, *reason)
	}
	for _, param := range b.Params() {
		params = append(params, param.Value.Text)
	}
	return b.SQL(), params
}

// database makes the bundled tables and fills them by sql; the connection is a role that
// row-level security does not bind.
func database(t *testing.T, sql string) *pgx.Conn {
	t.Helper()
	url := pgtest.Database(t)
	roles := control.Roles{Statement: "nobody_s", Lookup: "nobody_l", Optional: true}
	if _, err := control.MigrateWall(t.Context(), url, roles); err != nil {
		t.Fatal(err)
	}
	if _, err := control.MigrateBundled(t.Context(), url, roles); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	execute(t, conn, sql)
	return conn
}

func execute(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
		t.Fatal(sql, err)
	}
}

func lines(rows pgx.Rows, err error) (string, error) {
	if err != nil {
		return "", err
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return strings.Join(list, "\n"), err
}
