package upstream

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

const boundPolicy = `
apiVersion: tenantgate/v1
kind: Policy
metadata: {name: test}
statement: {kinds: [select, insert, update, delete]}
scope: {column: server_id, mode: require}
tables:
  notes: {scoped: true, columns: {secret: {read: false}}}
limits: {statementTimeout: 2s, maxRows: 3}
`

// boundTo decides a text for a policy that was compiled against the database, and binds it.
func boundTo(t *testing.T, b *bench, server, text string, args ...policy.Arg) policy.Bound {
	t.Helper()
	file, err := policy.Parse([]byte(boundPolicy))
	if err != nil {
		t.Fatal(err)
	}
	schema, err := b.pool.Schema(t.Context(), file.TableNames())
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := policy.Compile(file, schema, policy.Sets{Types: []string{"int4", "text"}, Operators: strings.Fields("= < > + - * / ||")})
	if err != nil {
		t.Fatal(err)
	}
	d := compiled.Decide(text, policy.REST)
	if d.Verdict != policy.Allow {
		t.Fatalf("%s: %+v", text, d.Refusal)
	}
	bound, reason := d.Approved.Bind(server, args)
	if reason != nil {
		t.Fatalf("%s: %+v", text, reason)
	}
	return bound
}

// Ensure what the policy approves runs as it approved it: rows, limits, arguments,
// positions and shapes are those of the Bound.
func TestApprovedStatements(t *testing.T) {
	b := setup(t, Config{MaxConns: 1, SearchPath: "pg_catalog, pg_temp"}, `
		CREATE TABLE notes (server_id text, id int, body text, secret text, PRIMARY KEY (server_id, id));
		INSERT INTO notes VALUES ('mine', 1, 'a'), ('mine', 2, 'b'), ('other', 1, 'canary')`)
	query := func(text string, args ...policy.Arg) (string, int64, error) {
		res, err := b.pool.Query(context.Background(), "", boundTo(t, b, "mine", text, args...), Encoding{}, nil)
		return string(res.Body), res.RowsAffected, err
	}
	for _, c := range []struct {
		text     string
		args     []policy.Arg
		want     string
		affected int64
	}{
		{"SELECT * FROM notes WHERE server_id = ? ORDER BY id", nil, `"columns":["server_id","id","body"],"rows":[["mine",1,"a"],["mine",2,"b"]]`, 0},
		{"UPDATE notes SET body = ? WHERE id = ? AND server_id = ? RETURNING body", []policy.Arg{str("é"), num("1")}, `"columns":["body"],"rows":[["é"]]`, 1},
		{"INSERT INTO notes (id, server_id, body) VALUES (?, ?, ?)", []policy.Arg{num("3"), str("other"), {}}, `"columns":[],"rows":[]`, 1},
		{"DELETE FROM notes WHERE server_id = ? AND id > ?", []policy.Arg{num("2")}, `"columns":[],"rows":[]`, 1},
	} {
		if got, n, err := query(c.text, c.args...); err != nil || got != c.want || n != c.affected {
			t.Errorf("%s: got %s, %d, %v", c.text, got, n, err)
		}
	}
	_, _, err := query("INSERT INTO notes (id, server_id, body) VALUES (?, ?, ?)", num("9"), str("mine"), arr("[]"))
	if e := refusal(t, err, policy.InvalidArgument, "an array for text"); !strings.HasPrefix(e.Message, "args[2]") {
		t.Errorf("got %v", e)
	}
	_, _, err = query("SELECT id FROM notes WHERE server_id = ? AND id = ?", str("x"))
	if e := refusal(t, err, policy.InvalidArgument, "a text for int"); !strings.HasPrefix(e.Message, "args[0]") {
		t.Errorf("got %v", e)
	}
	const wrong = "SELECT body + 1 FROM notes WHERE server_id = ?"
	_, _, err = query(wrong)
	if e := refusal(t, err, policy.QueryFailed, wrong); e.Position != strings.Index(wrong, "+")+1 || errors.Is(e, proxy.ErrSchemaChanged) {
		t.Errorf("at %d: %v", e.Position, e)
	}
	_, _, err = query("SELECT a.id FROM notes a, notes b, notes c WHERE a.server_id = ? AND b.server_id = ? AND c.server_id = ?")
	refusal(t, err, proxy.ResultTooLarge, "eight rows")
	// One server's write fails on its own key only, and tells no row.
	_, _, err = query("INSERT INTO notes (id, server_id, body) VALUES (1, ?, 'x')", str("mine"))
	if e := refusal(t, err, proxy.ConstraintViolation, "a key"); e.Constraint != "notes_pkey" || strings.Contains(e.Error(), "mine") {
		t.Errorf("got %v", e)
	}
}

// Ensure a statement with an expanded * asks for a new plan once a column was added, and
// that the new plan serves.
func TestApprovedForAnotherSchema(t *testing.T) {
	b := setup(t, Config{}, `CREATE TABLE notes (server_id text, id int, secret text); INSERT INTO notes VALUES ('mine', 1)`)
	const text = "SELECT * FROM notes WHERE server_id = ?"
	old := boundTo(t, b, "mine", text)
	b.exec("ALTER TABLE notes ADD body text DEFAULT 'x'")
	if body, err := b.pool.Query(t.Context(), "", old, Encoding{}, nil); !errors.Is(err, proxy.ErrSchemaChanged) {
		t.Errorf("an added column: got %s, %v", body.Body, err)
	}
	res, err := b.pool.Query(t.Context(), "", boundTo(t, b, "mine", text), Encoding{}, nil)
	if want := `"columns":["server_id","id","body"],"rows":[["mine",1,"x"]]`; err != nil || string(res.Body) != want {
		t.Errorf("got %s, %v", res.Body, err)
	}
	old = boundTo(t, b, "mine", "SELECT body FROM notes WHERE server_id = ?")
	b.exec("ALTER TABLE notes DROP body")
	if _, err := b.pool.Query(t.Context(), "", old, Encoding{}, nil); !errors.Is(err, proxy.ErrSchemaChanged) {
		t.Errorf("a dropped column: got %v", err)
	}
}
