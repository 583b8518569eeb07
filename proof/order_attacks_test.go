package proof

import (
	"context"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

// orderAttack asks for a value that the others hold in D, and do not in D', by the order of the
// server's own rows.
type orderAttack struct {
	name  string
	path  Path
	plant string
	text  string
	args  []string
	walls Walls // behind which alone the planner would see the value; "" for both
}

const planted = "INSERT INTO conversations (id, title) SELECT 'p' || g, 'Kestrel 4000' FROM generate_series(1, 9) g"

var orderAttacks = []orderAttack{
	{name: "the range of the issue", path: Extended, plant: planted, text: "SELECT DISTINCT id FROM conversations WHERE title >= 'Kestrel 4000' AND title < 'Kestrel 4001'"},
	{name: "the same in a Query message", path: Simple, plant: planted, text: "SELECT DISTINCT id FROM conversations WHERE title >= 'Kestrel 4000' AND title < 'Kestrel 4001'"},
	{name: "the cross join of the issue", path: Extended, text: "SELECT array_agg(id) = array_agg(id ORDER BY id) FROM (SELECT DISTINCT c.id FROM conversations c, generate_series(1, 2) g WHERE c.title = 'Kestrel 4000') s"},
	{name: "over REST", path: REST, text: "SELECT DISTINCT m.id FROM messages m, generate_series(1, 12) g WHERE m.server_id = ? AND m.content = 'Kestrel 4000'"},
	{name: "an argument over REST", path: REST, text: "SELECT DISTINCT m.id FROM messages m, generate_series(1, 12) g WHERE m.server_id = ? AND m.content = ?", args: []string{"Kestrel 4000"}},
	{name: "an argument", path: Extended, text: "SELECT DISTINCT id FROM messages, generate_series(1, 12) WHERE content = $1", args: []string{"Kestrel 4000"}},
	{name: "a prepared statement's argument", path: Named, text: "SELECT DISTINCT id FROM messages, generate_series(1, 12) WHERE content = $1", args: []string{"Kestrel 4000"}},
	{name: "a cursor's argument", path: Cursor, text: "SELECT array_agg(id) FROM (SELECT DISTINCT id FROM messages, generate_series(1, 12) WHERE content = $1) s", args: []string{"Kestrel 4000"}},
	{name: "COPY", path: Copy, text: "SELECT DISTINCT id FROM messages, generate_series(1, 12) WHERE content = 'Kestrel 4000'"},
	{name: "several statements of one message", path: Several, text: "SELECT DISTINCT id FROM messages, generate_series(1, 12) WHERE content = 'Kestrel 4000'"},
	{name: "IN", path: Extended, text: "SELECT DISTINCT id FROM messages, generate_series(1, 12) WHERE content IN ('Kestrel 4000', 'x')"},
	{name: "ANY", path: Extended, text: "SELECT DISTINCT id FROM messages, generate_series(1, 12) WHERE content = ANY (ARRAY['Kestrel 4000', 'x'])"},
	{name: "ANY of an argument", path: Extended, text: "SELECT DISTINCT id FROM messages, generate_series(1, 12) WHERE content = ANY ($1)", args: []string{"{Kestrel 4000,x}"}},
	{name: "NOT", path: Extended, text: "SELECT DISTINCT id FROM messages, generate_series(1, 12) WHERE NOT content <> 'Kestrel 4000'"},
	{name: "IS NOT DISTINCT FROM", path: Extended, text: "SELECT DISTINCT id FROM messages, generate_series(1, 12) WHERE content IS NOT DISTINCT FROM 'Kestrel 4000'"},
	{name: "BETWEEN", path: Extended, text: "SELECT DISTINCT id FROM messages, generate_series(1, 12) WHERE created_at BETWEEN '2027-01-01' AND '2027-01-02'"},
	{name: "a constant expression", path: Extended, text: "SELECT DISTINCT id FROM messages, generate_series(1, 12) WHERE content = 'Kestrel ' || '4000'"},
	{name: "a cast", path: Extended, text: "SELECT DISTINCT id FROM messages, generate_series(1, 12) WHERE created_at = timestamptz '2027-01-01 12:30:00+00'"},
	{name: "a call", path: Extended, text: "SELECT DISTINCT id FROM messages, generate_series(1, 12) WHERE content = concat('Kestrel ', '4000')"},
	{name: "CASE", path: Extended, text: "SELECT DISTINCT id FROM messages, generate_series(1, 12) WHERE content = CASE WHEN true THEN 'Kestrel 4000' END"},
	{name: "a bool column", path: Extended, text: "SELECT DISTINCT handle FROM profiles, generate_series(1, 3) WHERE active"},
	{name: "OR", path: Extended, text: "SELECT DISTINCT id FROM messages, generate_series(1, 12) WHERE content = 'Kestrel 4000' OR content = 'x'"},
	{name: "GROUP BY", path: Extended, text: "SELECT id, count(*) FROM messages, generate_series(1, 12) WHERE content = 'Kestrel 4000' GROUP BY id"},
	{name: "HAVING", path: Extended, text: "SELECT id, count(*) FROM messages, generate_series(1, 12) GROUP BY id, content HAVING content = 'Kestrel 4000'"},
	{name: "UNION", path: Extended, text: "SELECT id FROM messages, generate_series(1, 12) WHERE content = 'Kestrel 4000' UNION SELECT 'x'"},
	{name: "INTERSECT", path: Extended, text: "SELECT id FROM messages WHERE content = 'Kestrel 4000' INTERSECT SELECT id FROM messages"},
	{name: "EXCEPT", path: Extended, text: "SELECT id FROM messages, generate_series(1, 12) WHERE content = 'Kestrel 4000' EXCEPT SELECT 'x'"},
	{name: "DISTINCT ON", path: Extended, text: "SELECT DISTINCT ON (m.role) m.id FROM messages m, conversations c WHERE m.content = 'Kestrel 4000'"},
	{name: "row_number", path: Extended, text: "SELECT id, row_number() OVER () FROM (SELECT DISTINCT id FROM messages, generate_series(1, 12) WHERE content = 'Kestrel 4000') s"},
	{name: "string_agg", path: Extended, text: "SELECT string_agg(id, ',') FROM (SELECT DISTINCT id FROM messages, generate_series(1, 12) WHERE content = 'Kestrel 4000') s"},
	{name: "EXISTS", path: Extended, text: "SELECT c.id FROM conversations c WHERE EXISTS (SELECT FROM messages m WHERE m.conversation_id = c.id AND m.content = 'Kestrel 4000') LIMIT 3"},
	{name: "INSERT SELECT", path: Extended, text: "INSERT INTO conversations (id, title) SELECT DISTINCT 'x' || id, 'x' FROM messages, generate_series(1, 12) WHERE content = 'Kestrel 4000' RETURNING id"},
	{name: "a constant beside an argument", path: Extended, text: "SELECT DISTINCT id FROM messages, generate_series(1, 12) WHERE content = concat(coalesce('Kestrel 4000', $1))", args: []string{"x"}},
	{name: "an argument that nobody reads", path: Named, text: "SELECT DISTINCT id FROM messages, generate_series(1, 12) WHERE content = coalesce('Kestrel 4000', $1::text) || ''", args: []string{"x"}},
	{name: "an argument that comes to NULL", path: Cursor, text: "SELECT array_agg(id) FROM (SELECT DISTINCT id FROM messages, generate_series(1, 12) WHERE content = concat('Kestrel 4000', NULL || $1::text)) s", args: []string{"x"}},
	{name: "a call that is a condition", path: Extended, text: "SELECT DISTINCT id FROM messages, generate_series(1, 12) WHERE starts_with(content, 'Kestrel 4000')", walls: All},
	{name: "such a call over REST", path: REST, text: "SELECT DISTINCT m.id FROM messages m, generate_series(1, 12) g WHERE m.server_id = ? AND textlike(m.content, 'Kestrel 4000%')", walls: All},
	{name: "such a call as a bool", path: Copy, text: "SELECT DISTINCT id FROM messages, generate_series(1, 12) WHERE nullif(textregexeq(content, '^Kestrel 4000')::bool, NULL)", walls: All},
	{name: "a bool column that is cast", path: Simple, text: "SELECT DISTINCT handle FROM profiles, generate_series(1, 3) WHERE active::bool"},
	{name: "true without a literal", path: Extended, text: "SELECT DISTINCT handle FROM profiles, generate_series(1, 3) WHERE active = (NULL IS NULL)"},
	{name: "unknown without a literal", path: Extended, text: "SELECT DISTINCT p.handle, q.handle FROM profiles q, generate_series(1, 2), profiles p WHERE p.active = (NULL IS UNKNOWN)"},
	{name: "unknown in a list", path: Extended, text: "SELECT DISTINCT p.handle, q.handle FROM profiles q, generate_series(1, 2), profiles p WHERE p.active IN (NULL IS UNKNOWN)"},
	{name: "a NULL of a sub-query", path: Extended, text: "SELECT DISTINCT p.handle, q.handle FROM profiles q, generate_series(1, 2), profiles p, (SELECT NULL AS x) s WHERE p.active = (s.x IS NULL)"},
	{name: "an unknown of a sub-query", path: Extended, text: "SELECT DISTINCT p.handle, q.handle FROM profiles q, generate_series(1, 2), profiles p, (SELECT NULL::bool AS x) s WHERE p.active = (s.x IS UNKNOWN)"},
	{name: "a function that is a constant", path: Extended, text: "SELECT DISTINCT p.handle, q.handle FROM profiles q, generate_series(1, 2), profiles p, pi() s WHERE p.active = (s IS NOT NULL)"},
	{name: "unknown by USING", path: Extended, text: "SELECT DISTINCT p.handle, q.handle FROM profiles q, generate_series(1, 2), profiles p JOIN (SELECT NULL IS UNKNOWN AS active) s USING (active) WHERE true"},
	{name: "WITH", path: Extended, text: "WITH s AS (SELECT DISTINCT id FROM messages, generate_series(1, 12) WHERE content = 'Kestrel 4000') SELECT * FROM s"},
}

// rowsHeld are what the server and the others hold beside the rows of mode order. The value
// and the year differ.
const rowsHeld = `
	INSERT INTO messages (id, server_id, conversation_id, content, created_at)
		SELECT 'own' || g, '7', c.id, 'Kestrel 4000', '2027-01-01 12:30:00+00' FROM generate_series(1, 60) g, (SELECT id FROM conversations WHERE server_id = '7' ORDER BY id LIMIT 1) c;
	INSERT INTO messages (id, server_id, conversation_id, content, created_at)
		SELECT 'mine' || g, '7', c.id, 'mine ' || g, '2019-01-01' FROM generate_series(1, 300) g, (SELECT id FROM conversations WHERE server_id = '7' ORDER BY id LIMIT 1) c;
	INSERT INTO conversations (id, server_id, title) SELECT 'mine' || g, '7', 'mine ' || g FROM generate_series(1, 300) g;
	INSERT INTO conversations (id, server_id, title) SELECT 'big' || g, '31', CASE WHEN g % 10 < 7 THEN 'VALUE' ELSE 'title ' || g END FROM generate_series(1, 4000) g;
	INSERT INTO messages (id, server_id, conversation_id, content, created_at)
		SELECT 'big' || g, '31', 'big' || g, CASE WHEN g % 10 < 7 THEN 'VALUE' ELSE 'content ' || g END, CASE WHEN g % 10 < 7 THEN 'YEAR-01-01 12:30:00+00'::timestamptz ELSE '2020-01-01' END
		FROM generate_series(1, 4000) g;
	ANALYZE;`

// Ensure each attack reads the value where the planner sees what is asked for, and does not
// where the planner sees it no more, though Postgres has statistics of all columns.
func TestOrderAttacks(t *testing.T) {
	w := build(t)
	for _, walls := range []Walls{Engine, All} {
		for _, custom := range []bool{true, false} {
			p, err := w.newProber(t.Context(), OrderConfig{Walls: walls, Custom: custom}, 0)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { p.close(context.WithoutCancel(t.Context())) })
			hold(t, p)
			for _, a := range orderAttacks {
				if reads := a.answer(t, p, 0) != a.answer(t, p, 1); reads != (custom && (a.walls == "" || a.walls == walls)) {
					t.Errorf("walls %s, custom plans %t, %s: it reads the value: %t", walls, custom, a.name, reads)
				}
			}
		}
	}
}

// hold fills both sides.
func hold(t *testing.T, p *prober) {
	t.Helper()
	for side, held := range []*strings.Replacer{strings.NewReplacer("VALUE", "Kestrel 4000", "YEAR", "2027"), strings.NewReplacer("VALUE", "Martlet 8000", "YEAR", "2031")} {
		for _, sql := range []string{"SET statement_timeout = 0", held.Replace(rowsHeld)} {
			if err := p.sides[side].admin.exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func (a orderAttack) answer(t *testing.T, p *prober, side int) string {
	t.Helper()
	q := asked{path: a.path, prepared: true, mode: policy.Require, plant: a.plant, text: a.text}
	for _, arg := range a.args {
		q.args = append(q.args, policy.Arg{Kind: policy.String, Text: arg})
	}
	answer, err := p.sides[side].ask(t.Context(), q, p.server)
	if err != nil || answer.code != "" || answer.state != "" {
		t.Fatalf("%s: %s %s %s, %v", a.name, answer.code, answer.state, answer.message, err)
	}
	return answer.sequence()
}
