package barrier

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
)

// wider gives conversations columns of more types, two of them with collations of their own.
const wider = `ALTER TABLE conversations ADD amount numeric NOT NULL DEFAULT 1, ADD f float8 NOT NULL DEFAULT 1, ADD day date NOT NULL DEFAULT '2020-01-01',
	ADD cc text COLLATE "C" NOT NULL DEFAULT 'x', ADD cp text COLLATE "POSIX" NOT NULL DEFAULT 'x', ADD tags text[] NOT NULL DEFAULT '{a,b}',
	ADD circ circle NOT NULL DEFAULT '<(0,0),1>', ADD seg lseg NOT NULL DEFAULT '[(0,0),(1,1)]';`

// widerOthers makes the values of server b fail where they are converted.
const widerOthers = `UPDATE conversations SET amount = '1e400', day = '5000000-01-01', end_user_id = 'u1', tags = '{a}',
	circ = '<(0,0),1e200>', seg = '[(-1e308,-1e308),(1e308,1e308)]' WHERE server_id = 'b'; ANALYZE;`

var collations = map[string]string{"cc": `pg_catalog."C"`, "cp": `pg_catalog."POSIX"`}

// widened is the schema with those columns.
func widened(t *testing.T, walled bool) *policy.Policy {
	t.Helper()
	var schema policy.Schema
	if err := json.Unmarshal(policies.BundledSchema(), &schema); err != nil {
		t.Fatal(err)
	}
	for i := range schema.Tables {
		if schema.Tables[i].Name != "conversations" {
			continue
		}
		for _, c := range []string{"amount numeric", "f float8", "day date", "cc text", "cp text", "tags _text", "circ circle", "seg lseg"} {
			name, typ, _ := strings.Cut(c, " ")
			schema.Tables[i].Columns = append(schema.Tables[i].Columns, policy.Column{Name: name, TypeSchema: "pg_catalog", TypeName: typ, NotNull: true, Collation: collations[name]})
		}
	}
	return compile(t, schema, walled)
}

// Ensure a placeholder that has two types, and fails in one of them where b's rows ask for
// it, tells of none.
func TestFoundByPlaceholder(t *testing.T) {
	const text = "SELECT id FROM conversations WHERE title <> $1::text AND (end_user_id IS NULL OR (SELECT $1::int LIMIT 1) IS NULL)"
	const alone = wider + own
	const shared = wider + others + widerOthers
	for name, c := range map[string]struct {
		policy        *policy.Policy
		shared, alone *pgx.Conn
	}{
		"without row-level security": {widened(t, false), database(t, shared), database(t, alone)},
		"with row-level security":    {widened(t, true), walled(t, shared), walled(t, alone)},
	} {
		b, reason := c.policy.Decide(text).Approved.Bind("a", []policy.Arg{{Kind: policy.String, Text: "abc"}})
		if reason != nil {
			t.Fatal(reason)
		}
		var params []any
		for _, p := range b.Params() {
			params = append(params, p.Value.Text)
		}
		for _, conn := range []*pgx.Conn{c.shared, c.alone} {
			execute(t, conn, "SET plan_cache_mode = force_generic_plan; SET enable_indexscan = off; SET enable_bitmapscan = off; SET cpu_operator_cost = 0")
			if _, err := lines(conn.Query(t.Context(), b.SQL(), params...)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestFound runs what told of others' rows once: beside them each statement must end as it
// does without them, however it is planned, with row-level security and without.
func TestFound(t *testing.T) {
	src, err := os.ReadFile("testdata/found.sql")
	if err != nil {
		t.Fatal(err)
	}
	const alone = wider + own
	const shared = wider + others + widerOthers
	for name, c := range map[string]struct {
		policy        *policy.Policy
		shared, alone *pgx.Conn
	}{
		"without row-level security": {widened(t, false), database(t, shared), database(t, alone)},
		"with row-level security":    {widened(t, true), walled(t, shared), walled(t, alone)},
	} {
		t.Run(name, func(t *testing.T) {
			ran := 0
			for text := range strings.Lines(string(src)) {
				text = strings.TrimSpace(text)
				if strings.HasPrefix(text, "--") || c.policy.Decide(text).Verdict != policy.Allow { // refused is as good
					continue
				}
				ran++
				if got, want := fails(t, c.shared, c.policy, text, asItIs), fails(t, c.alone, c.policy, text, asItIs); got != want {
					t.Errorf("%s\ntells of another server's row: SQLSTATE %q, and alone %q", text, got, want)
				}
			}
			if ran < 100 {
				t.Errorf("only %d statements ran", ran)
			}
		})
	}
}
