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
	{name: "a constant beside an argument", path: Extended, text: "SELECT DISTINCT id FROM messages, generate_series(1, 12) WHERE content = coalesce('Kestrel 4000', $1)", args: []string{"x"}},
	{name: "an argument that nobody reads", path: Named, text: "SELECT DISTINCT id FROM messages, generate_series(1, 12) WHERE content = coalesce('Kestrel 4000', $1::text) || ''", args: []string{"x"}},
	{name: "an argument that comes to NULL", path: Cursor, text: "SELECT array_agg(id) FROM (SELECT DISTINCT id FROM messages, generate_series(1, 12) WHERE content = coalesce(NULL || $1::text, 'Kestrel 4000')) s", args: []string{"x"}},
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
	{name: "IS DISTINCT FROM of a NULL of a sub-query", path: Extended, text: "SELECT DISTINCT p.handle, q.handle FROM profiles q, generate_series(1, 2), profiles p, (SELECT NULL::text AS x) s WHERE p.active = NOT (s.x IS DISTINCT FROM NULL)"},
	{name: "the same over REST", path: REST, text: "SELECT DISTINCT p.handle FROM generate_series(1, 3), profiles p, (SELECT NULL::text AS x) s WHERE p.server_id = ? AND p.active = NOT (s.x IS DISTINCT FROM s.x)"},
	{name: "the same by USING", path: Extended, text: "SELECT DISTINCT p.handle, q.handle FROM profiles q, generate_series(1, 2), profiles p JOIN (SELECT NOT (s.x IS DISTINCT FROM NULL) AS active FROM (SELECT NULL::text AS x) s) t USING (active) WHERE true"},
	{name: "WITH", path: Extended, text: "WITH s AS (SELECT DISTINCT id FROM messages, generate_series(1, 12) WHERE content = 'Kestrel 4000') SELECT * FROM s"},
}

// refusedAttacks read the value until one of the days that docs/isolation.md gives: mostly by what stands in FROM, which may be a
// constant to Postgres, and which USING compares with a column where nothing hides it.
var refusedAttacks = []orderAttack{
	{name: "a value by the name that ORDINALITY had", path: Simple, text: valueJoin + "(SELECT s.content FROM (SELECT v AS ordinality FROM coalesce('Kestrel 4000', 'z') AS v) t, LATERAL (SELECT ordinality AS content FROM ROWS FROM (lower('x'), lower('y')) WITH ORDINALITY AS g (a, b, o)) s) u USING (content)"},
	{name: "a cast in FROM", path: Extended, text: valueJoin + "CAST('Kestrel 4000' AS text) AS s(content) USING (content)"},
	{name: "the same in a Query message", path: Simple, text: valueJoin + "CAST('Kestrel 4000' AS text) AS s(content) USING (content)"},
	{name: "the same by COPY", path: Copy, text: valueJoin + "CAST('Kestrel 4000' AS text) AS s(content) USING (content)"},
	{name: "the same over REST", path: REST, text: valueJoin + "CAST('Kestrel 4000' AS text) AS s(content) USING (content) WHERE m.server_id = ?"},
	{name: "COALESCE by the item's name", path: Extended, text: valueJoin + "(SELECT v AS content FROM coalesce('Kestrel 4000', 'z') AS v) s USING (content)"},
	{name: "a cast by the item's name, and NATURAL", path: Extended, text: strings.Replace(valueJoin, "JOIN", "NATURAL JOIN", 1) + "(SELECT v AS content FROM CAST('Kestrel 4000' AS text) AS v) s"},
	{name: "GREATEST by the item's name, renamed", path: Extended, text: valueJoin + "(SELECT v FROM greatest('Kestrel 4000', 'A') AS v) s (content) USING (content)"},
	{name: "GREATEST by the item's name in WITH", path: Extended, text: "WITH s AS (SELECT v AS content FROM greatest('Kestrel 4000', 'A') AS v) " + valueJoin + "s USING (content)"},
	{name: "a call by the function's name, beside a column", path: Extended, text: valueJoin + "(SELECT initcap AS content FROM profiles c, initcap(coalesce('kestrel 4000', c.handle)) LIMIT 1) s USING (content)"},
	{name: "COALESCE by a *, renamed", path: Extended, text: valueJoin + "(SELECT * FROM coalesce('Kestrel 4000', 'z') AS v) s (content) USING (content)"},
	{name: "the same in a Query message and by the item", path: Simple, text: valueJoin + "(SELECT v.* FROM CAST('Kestrel 4000' AS text) AS v) s (content) USING (content)"},
	{name: "the same in WITH", path: Extended, text: "WITH s (content) AS (SELECT * FROM greatest('Kestrel 4000', 'A') AS v) " + valueJoin + "s USING (content)"},
	{name: "the same of a WITH query that is renamed", path: Extended, text: "WITH w AS (SELECT * FROM greatest('Kestrel 4000', 'A') AS v) " + valueJoin + "w s (content) USING (content)"},
	{name: "a column beside a *", path: Extended, text: valueJoin + "(SELECT * FROM ROWS FROM (coalesce('Kestrel 4000', 'z'), lower('x')) AS v, (SELECT content FROM messages LIMIT 1) k) s (c, d, e) ON m.content = s.c"},
	{name: "a union with a *", path: Extended, text: valueJoin + "(SELECT content, id FROM messages WHERE false UNION ALL SELECT * FROM ROWS FROM (coalesce('Kestrel 4000', 'z'), lower('x')) AS v) s USING (content)"},
	{name: "an id beside a *", path: Extended, text: "SELECT string_agg(id, ',') FROM (SELECT c.id FROM conversations c LEFT JOIN (SELECT m.conversation_id FROM messages m JOIN (SELECT * FROM coalesce('8', 'z') AS v, (SELECT server_id FROM conversations LIMIT 1) k) s (server_id, b) USING (server_id)) x ON x.conversation_id = c.id) q"},
	{name: "a scope column beside a *", path: Extended, text: "SELECT m.id FROM messages m JOIN (SELECT * FROM coalesce('x', 'z') v, (SELECT title, server_id FROM conversations) c) s (a, server_id, t) USING (server_id)"},
	{name: "a scope column in a union with a *", path: Extended, text: "SELECT m.id FROM messages m JOIN (SELECT title, server_id FROM conversations UNION ALL SELECT v.*, title FROM lower('X') v, conversations) s USING (server_id)"},
	{name: "a bool column that passes for an aggregate", path: Extended, text: "SELECT s.handle FROM (SELECT handle, active AS every FROM profiles) s, generate_series(1, 3) GROUP BY s.handle, s.every HAVING every(s)"},
	{name: "a text that passes for one, which fails on others' rows", path: REST, text: "SELECT s.sum FROM (SELECT content AS sum FROM messages WHERE server_id = ?) s GROUP BY s.sum HAVING sum(s) LIKE 'Kestrel 400\\'"},
	{name: "a column of an item that is not known, taken for one further out", path: Extended, text: "SELECT c.id, row_number() OVER () FROM conversations m RIGHT JOIN (SELECT s.server_id, s.id FROM messages x, LATERAL (SELECT server_id, x.id AS id FROM jsonb_populate_recordset(x, (SELECT jsonb_build_array(jsonb_build_object('server_id', x.content)))) v) s OFFSET 0) c USING (server_id)"},
	{name: "a cast to timestamptz", path: Extended, text: valueJoin + "CAST('2027-01-01 12:30:00+00' AS timestamptz) AS s(created_at) USING (created_at)"},
	{name: "COALESCE with an argument", path: Extended, text: valueJoin + "coalesce('Kestrel 4000', $1) AS s(content) USING (content)", args: []string{"x"}},
	{name: "GREATEST", path: Extended, text: valueJoin + "greatest('Kestrel 4000', 'A') AS s(content) USING (content)"},
	{name: "NULLIF", path: Extended, text: valueJoin + "nullif('Kestrel 4000', NULL) AS s(content) USING (content)"},
	{name: "ROWS FROM", path: Extended, text: valueJoin + "ROWS FROM (CAST('Kestrel 4000' AS text)) AS s(content) USING (content)"},
	{name: "a call beside an argument", path: Extended, text: valueJoin + "left('Kestrel 4000', coalesce(12, $1)) AS s(content) USING (content)", args: []string{"4"}},
	{name: "a call beside a column", path: Extended, text: valueJoin + "textcat('Kestrel ', coalesce('4000', m.id)) AS s(content) USING (content)"},
	{name: "a call without a literal", path: Extended, text: valueJoin + "textcat(chr(num_nulls(NULL, NULL)), chr(num_nulls(NULL))) AS s(content) USING (content)"},
	{name: "NATURAL", path: Extended, text: "SELECT DISTINCT m.id FROM generate_series(1, 12), messages m NATURAL JOIN lower('KESTREL 4000') content"},
	{name: "a cast in a sub-query's FROM", path: Extended, text: valueJoin + "(SELECT content FROM CAST('Kestrel 4000' AS text) s(content)) t USING (content)"},
	{name: "a cast in a WITH query's FROM", path: Extended, text: "WITH t AS (SELECT * FROM CAST('Kestrel 4000' AS text) s(content)) " + valueJoin + "t USING (content)"},
	{name: "RIGHT JOIN", path: Extended, text: "SELECT DISTINCT m.id FROM generate_series(1, 12), messages m RIGHT JOIN CAST('Kestrel 4000' AS text) AS s(content) USING (content)"},
	{name: "rows", path: Extended, text: "SELECT DISTINCT p.handle FROM profiles p, (SELECT NULL::text AS x, NULL::text AS y) s WHERE p.active = NOT ((s.x, s.y) IS DISTINCT FROM (s.y, s.x))"},
}

const valueJoin = "SELECT DISTINCT m.id FROM generate_series(1, 12), messages m JOIN "

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
			p := attacked(t, w, OrderConfig{Walls: walls, Custom: custom})
			hold(t, p)
			for _, a := range orderAttacks {
				if reads := a.answer(t, p, 0) != a.answer(t, p, 1); reads != (custom && (a.walls == "" || a.walls == walls)) {
					t.Errorf("walls %s, custom plans %t, %s: it reads the value: %t", walls, custom, a.name, reads)
				}
			}
		}
	}
}

// Ensure what can't be hidden is refused.
func TestOrderRefused(t *testing.T) {
	w := build(t)
	for _, walls := range []Walls{Engine, All} {
		p := attacked(t, w, OrderConfig{Walls: walls})
		for _, a := range refusedAttacks {
			if got, err := p.sides[0].ask(t.Context(), a.asked(), p.server); err != nil || got.code != policy.ConstructNotAllowed {
				t.Errorf("walls %s, %s: %q, %v", walls, a.name, got.code, err)
			}
		}
	}
}

// attacked gives both sides, open up to the end of the test.
func attacked(t *testing.T, w *World, cfg OrderConfig) *prober {
	t.Helper()
	p, err := w.newProber(t.Context(), cfg, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.close(context.WithoutCancel(t.Context())) })
	return p
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
	answer, err := p.sides[side].ask(t.Context(), a.asked(), p.server)
	if err != nil || answer.code != "" || answer.state != "" {
		t.Fatalf("%s: %s %s %s, %v", a.name, answer.code, answer.state, answer.message, err)
	}
	return answer.sequence()
}

func (a orderAttack) asked() asked {
	q := asked{path: a.path, prepared: true, mode: policy.Require, plant: a.plant, text: a.text}
	for _, arg := range a.args {
		q.args = append(q.args, policy.Arg{Kind: policy.String, Text: arg})
	}
	return q
}
