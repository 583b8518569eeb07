package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

// nested puts a sub-query into itself.
func nested(n int, first, of string) string {
	text := first
	for i := range n {
		text = fmt.Sprintf(of, i, text)
	}
	return text
}

// large are texts whose plans grow with each of n steps; what they took of a Postgres 15 is beside them.
var large = map[string]func(n int) string{
	"rows of rows": func(n int) string { // 621 bytes: 300 MB, and twice that with each further step
		return nested(n, "SELECT 1 AS r, 2 AS s", "SELECT t%[1]d AS r, t%[1]d AS s FROM (%[2]s) AS t%[1]d")
	},
	"rows beside their columns": func(n int) string { // 712 bytes: 1.5 GB
		return nested(n, "SELECT 1 AS a, 2 AS b, 3 AS c, 4 AS d", "SELECT t%[1]d AS r, t%[1]d.* FROM (%[2]s) AS t%[1]d")
	},
	"expressions": func(n int) string {
		return nested(n, "SELECT title AS a FROM conversations", "SELECT a || a AS a FROM (%[2]s) AS t%[1]d")
	},
	"BETWEEN SYMMETRIC": func(n int) string { // 379 bytes: 400 MB
		return "SELECT 1 FROM conversations WHERE " + nested(n, "id = title", "(%[2]s) BETWEEN SYMMETRIC (id = title) AND true")
	},
	"IN": func(n int) string {
		return "SELECT 1 FROM conversations WHERE " + nested(n, "id = title", "(%[2]s) IN (id = 'a', id = 'b', id = 'c')")
	},
	"NOT MATERIALIZED": func(n int) string { // 754 bytes: 270 MB
		var text strings.Builder
		text.WriteString("WITH q0 AS (SELECT id FROM conversations)")
		for i := range n {
			fmt.Fprintf(&text, ", q%d AS NOT MATERIALIZED (SELECT id FROM q%d UNION ALL SELECT id FROM q%d)", i+1, i, i)
		}
		return text.String() + fmt.Sprintf(" SELECT id FROM q%d", n)
	},
	"columns through joins": func(n int) string { // 1.3 KB: 110 MB
		var text strings.Builder
		text.WriteString("SELECT * FROM messages AS m")
		for i := range 20 * n {
			fmt.Fprintf(&text, ", messages AS m%d", i)
		}
		return text.String()
	},
	"CUBE": func(n int) string {
		return "SELECT count(*) FROM messages GROUP BY CUBE (id" + strings.Repeat(", id", n) + ")"
	},
	"windows": func(n int) string {
		return "SELECT messages.*" + strings.Repeat(", count(*) OVER (ORDER BY role)", 10*n) + " FROM messages, conversations"
	},
}

// Ensure the plan of a statement has a bound, however short its text is, and that it is met late.
func TestLargePlans(t *testing.T) {
	p := compile(t, "inject", readSchema(t))
	for name, text := range large {
		t.Run(name, func(t *testing.T) {
			for n := 1; ; n++ {
				d := p.Decide(text(n), policy.Postgres)
				if d.Verdict != policy.Allow {
					t.Logf("refused at %d, %d bytes: %s", n, len(text(n)), d.Refusal.Message)
					if n < 4 || n > 15 || !strings.Contains(d.Refusal.Message, "plan") {
						t.Errorf("refused at %d: %+v", n, d.Refusal)
					}
					return
				}
				if got := d.Approved.PlanBytes(); got > 64<<20 {
					t.Fatalf("%d: %d", n, got)
				}
			}
		})
	}
}

// Ensure what people write weighs little.
func TestPlanBytes(t *testing.T) {
	p := compile(t, "inject", readSchema(t))
	for text, most := range map[string]int{
		"SELECT id, title FROM conversations WHERE id = $1": 80,
		"SELECT c.*, m.* FROM conversations c JOIN messages m ON m.conversation_id = c.id WHERE c.id = $1 ORDER BY m.created_at DESC LIMIT 20":                                                    250,
		"INSERT INTO messages (conversation_id, content) VALUES " + strings.Repeat("($1, $2), ", 499) + "($1, $2)":                                                                                1200,
		"SELECT id FROM messages WHERE id IN ($1" + strings.Repeat(", $2::text", 500) + ")":                                                                                                       3000,
		"WITH a AS (SELECT conversation_id AS id, count(*) AS n FROM messages GROUP BY 1), b AS (SELECT id, n, n * 2 AS m FROM a) SELECT a.n, b.n + b.m FROM a JOIN b USING (id) WHERE b.n > a.n": 300,
	} {
		if got := admitted(t, p, text).PlanBytes() >> 10; got > most || got < 32 {
			t.Errorf("%d KB: %.80s", got, text)
		}
	}
}

// Ensure the rows are counted of which a backend keeps the types.
func TestRecordBytes(t *testing.T) {
	p := compile(t, "inject", readSchema(t))
	for text, want := range map[string]int{
		"SELECT c FROM conversations c":                                                0,
		"SELECT id, title FROM conversations":                                          0,
		"SELECT row_to_json(s) FROM (SELECT id AS a, title AS b FROM conversations) s": 200 + 2*112,
		"SELECT count(s.*) FROM (SELECT id AS a, title AS b FROM conversations) s":     200 + 2*112,
		"SELECT ROW(id, title, 1) FROM conversations":                                  200 + 3*112,
		"SELECT x.a FROM json_to_record($1) AS x(a int, b int, c int)":                 200 + 3*112,
		"WITH q AS (SELECT 1 AS a) SELECT q, q FROM q":                                 2 * (200 + 112),
		"SELECT j FROM (conversations CROSS JOIN (SELECT 1 AS x) AS y) AS j":           -1,
	} {
		if got := admitted(t, p, text).RecordBytes(); got != want && (want >= 0 || got == 0) {
			t.Errorf("%d: %s", got, text)
		}
	}
}

// Ensure each table counts for every time that it is in the plan.
func TestRelations(t *testing.T) {
	p := compile(t, "inject", readSchema(t))
	for text, want := range map[string]int{
		"SELECT 1":                0,
		"SELECT id FROM messages": 1,
		"SELECT a.id FROM messages a JOIN messages b ON a.id = b.id":                                            2,
		"SELECT (SELECT id FROM messages LIMIT 1), (SELECT id FROM messages LIMIT 1) FROM messages":             3,
		"WITH w AS NOT MATERIALIZED (SELECT id FROM messages) SELECT a.id FROM w a, w b, w c WHERE a.id = b.id": 4, // one too many
		"WITH w AS MATERIALIZED (SELECT id FROM messages) SELECT a.id FROM w a":                                 1,
		"WITH w AS (SELECT id FROM messages) SELECT a.id FROM w a, w b WHERE a.id = b.id":                       2, // one that is read once more
		"DECLARE c CURSOR FOR SELECT (SELECT id FROM messages LIMIT 1)":                                         1,
		"SELECT id FROM messages UNION ALL SELECT id FROM messages":                                             2,
	} {
		if got := admitted(t, p, text).Relations(); got != want {
			t.Errorf("%s: %d, not %d", text, got, want)
		}
	}
}

// Ensure each decision names the policy that it is of, and no other one, though that may be of the same file.
func TestOrigin(t *testing.T) {
	p, other := compile(t, "inject", readSchema(t)), compile(t, "inject", readSchema(t))
	for _, text := range []string{"SELECT 1", "BEGIN", "SHOW timezone", "DECLARE c CURSOR FOR SELECT id FROM messages", "COPY messages (id) TO STDOUT", "FETCH c"} {
		a, same, b := admitted(t, p, text).Origin(), admitted(t, p, text).Origin(), admitted(t, other, text).Origin()
		if a != same || a == b || a == (policy.Origin{}) || b == (policy.Origin{}) {
			t.Errorf("%s: %v, %v, %v", text, a, same, b)
		}
	}
}

// admitted decides on a text that is to be allowed.
func admitted(t *testing.T, p *policy.Policy, text string) *policy.Approved {
	t.Helper()
	d := p.Decide(text, policy.Postgres)
	if d.Verdict != policy.Allow {
		t.Fatalf("%s: %+v", text, d.Refusal)
	}
	return d.Approved
}
