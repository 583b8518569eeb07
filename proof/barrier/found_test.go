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
	ADD cc text COLLATE "C" NOT NULL DEFAULT 'x', ADD cp text COLLATE "POSIX" NOT NULL DEFAULT 'x', ADD tags text[] NOT NULL DEFAULT '{}';`

// widerOthers makes the values of server b fail where they are converted.
const widerOthers = `UPDATE conversations SET amount = '1e400', day = '5000000-01-01', end_user_id = 'u1', tags = '{a}' WHERE server_id = 'b'; ANALYZE;`

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
		for _, c := range []string{"amount numeric", "f float8", "day date", "cc text", "cp text", "tags _text"} {
			name, typ, _ := strings.Cut(c, " ")
			schema.Tables[i].Columns = append(schema.Tables[i].Columns, policy.Column{Name: name, TypeSchema: "pg_catalog", TypeName: typ, NotNull: true, Collated: name[0] == 'c'})
		}
	}
	return compile(t, schema, walled)
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
			if ran < 60 {
				t.Errorf("only %d statements ran", ran)
			}
		})
	}
}
