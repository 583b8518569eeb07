package barrier

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
)

// wider gives conversations columns of more types, two of them with collations of their own.
const wider = `ALTER TABLE conversations ADD amount numeric NOT NULL DEFAULT 1, ADD f float8 NOT NULL DEFAULT 1, ADD day date NOT NULL DEFAULT '2020-01-01',
	ADD cc text COLLATE "C" NOT NULL DEFAULT 'x', ADD cp text COLLATE "POSIX" NOT NULL DEFAULT 'x', ADD tags text[] NOT NULL DEFAULT '{a,b}',
	ADD n4 int4 NOT NULL DEFAULT 1, ADD n8 int8 NOT NULL DEFAULT 1, ADD bx box NOT NULL DEFAULT '((0,0),(1,1))', ADD ln line NOT NULL DEFAULT '{1,1,1}', ADD circ circle NOT NULL DEFAULT '<(0,0),1>', ADD seg lseg NOT NULL DEFAULT '[(0,0),(1,1)]', ADD circs circle[] NOT NULL DEFAULT '{}', ADD nm name NOT NULL DEFAULT 'x';`

// widerOthers makes the values of server b fail where they are converted.
const widerOthers = `UPDATE conversations SET amount = '1e400', day = '5000000-01-01', end_user_id = 'u1', tags = '{a}', n8 = -5,
	bx = '((1e200,1e200),(-1e200,-1e200))', ln = '{1e-300,1e300,3}', circ = '<(0,0),1e200>', seg = '[(-1e308,-1e308),(1e308,1e308)]' WHERE server_id = 'b'; ANALYZE;`

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
		for _, c := range []string{"amount numeric", "f float8", "day date", "cc text", "cp text", "tags _text", "bx box", "ln line", "circ circle", "seg lseg", "n4 int4", "n8 int8", "circs _circle", "nm name"} {
			name, typ, _ := strings.Cut(c, " ")
			schema.Tables[i].Columns = append(schema.Tables[i].Columns, policy.Column{Name: name, TypeSchema: "pg_catalog", TypeName: typ, NotNull: true, Collation: collations[name]})
		}
	}
	return compile(t, schema, walled)
}

// setUp is the databases with b's rows beside a's and without, and the policy for both.
type setUp struct {
	policy        *policy.Policy
	shared, alone *pgx.Conn
}

func setUps(t *testing.T) map[string]setUp {
	t.Helper()
	const shared, alone = wider + others + widerOthers, wider + own
	return map[string]setUp{
		"without row-level security": {widened(t, false), database(t, shared), database(t, alone)},
		"with row-level security":    {widened(t, true), walled(t, shared), walled(t, alone)},
	}
}

// byPlaceholder are statements with a placeholder that has two types, and fails in one of
// them where b's rows ask for it, and what is sent for each placeholder.
var byPlaceholder = map[string][]string{
	"title <> $1::text AND (end_user_id IS NULL OR (SELECT $1::int LIMIT 1) IS NULL)":                 {"abc"},
	"n8 BETWEEN $1 AND $2::int AND (end_user_id IS NULL OR (SELECT $1::int LIMIT 1) IS NULL)":         {"9999999999", "5"},
	"n4 IN ($1, 5000000000) AND (end_user_id IS NULL OR (SELECT $1::int LIMIT 1) IS NULL)":            {"9999999999"},
	"coalesce(n4, n8) = $1 AND (end_user_id IS NULL OR (SELECT $1::int LIMIT 1) IS NULL)":             {"9999999999"},
	"n8 = $1 AND coalesce($1, n4) = $2 AND (end_user_id IS NULL OR (SELECT $2::int LIMIT 1) IS NULL)": {"9999999999", "9999999999"},
	"(f IN ($1, amount)) IS NULL OR amount <> $1":                                                     {"1"},
	"(f BETWEEN $1 AND amount) IS NULL OR amount < $1":                                                {"1"},
	"(coalesce(amount, f) = $1) IS NULL OR amount <> $1":                                              {"1"},
	"title <> '(' OR ($1::numeric(3,1)[]) IS NULL":                                                    {"{1000}"},
	"title <> '(' OR EXISTS (SELECT FROM files WHERE $1::numeric(3,1)[] IS NULL)":                     {"{1000}"},
	"title <> '(' OR ($1::point)[0:1] IS NULL":                                                        {"(1,2)"},
	"end_user_id IS NULL OR (SELECT $1 BETWEEN 1.5 AND '1'::float8 LIMIT 1) IS NULL":                  {"1e400"},
}

var generic = []string{
	"SET plan_cache_mode = force_generic_plan; RESET enable_indexscan; RESET enable_bitmapscan; RESET cpu_operator_cost",
	"SET plan_cache_mode = force_generic_plan; SET enable_indexscan = off; SET enable_bitmapscan = off; SET cpu_operator_cost = 0",
}

// Ensure such placeholders tell of no row, where Postgres plans for any argument.
func TestFoundByPlaceholder(t *testing.T) {
	for name, c := range setUps(t) {
		for where, args := range byPlaceholder {
			for _, settings := range generic {
				if got, want := answer(t, c.policy, c.shared, settings, where, args), answer(t, c.policy, c.alone, settings, where, args); got != want {
					t.Errorf("%s, %s: %s\ntells of another server's row: %s, and alone %s", name, settings, where, got, want)
				}
			}
		}
	}
}

// answer runs a condition for server a, and gives the rows or the SQLSTATE.
func answer(t *testing.T, p *policy.Policy, conn *pgx.Conn, settings, where string, args []string) string {
	t.Helper()
	var list []policy.Arg
	for _, arg := range args {
		list = append(list, policy.Arg{Kind: policy.String, Text: arg})
	}
	b, reason := p.Decide("SELECT id FROM conversations WHERE "+where, policy.REST).Approved.Bind("a", list)
	if reason != nil {
		t.Fatal(reason)
	}
	var params []any
	for _, param := range b.Params() {
		params = append(params, param.Value.Text)
	}
	execute(t, conn, settings)
	ids, err := lines(conn.Query(t.Context(), b.SQL(), append([]any{pgx.QueryExecModeDescribeExec}, params...)...))
	var failed *pgconn.PgError
	if errors.As(err, &failed) {
		return failed.Code
	}
	if err != nil {
		t.Fatal(err)
	}
	return "rows " + ids
}

// TestFound runs what told of others' rows once: beside them each statement must end as it
// does without them, however it is planned, with row-level security and without.
func TestFound(t *testing.T) {
	src, err := os.ReadFile("testdata/found.sql")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range setUps(t) {
		t.Run(name, func(t *testing.T) {
			ran := 0
			for text := range strings.Lines(string(src)) {
				text = strings.TrimSpace(text)
				if strings.HasPrefix(text, "--") || c.policy.Decide(text, policy.REST).Verdict != policy.Allow { // refused is as good
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
