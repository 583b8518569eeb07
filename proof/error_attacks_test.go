package proof

import (
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

// errorAttacks told by an error whether others have a name between 'zzK' and 'zzL', until the days that docs/isolation.md gives.
var errorAttacks = []orderAttack{
	{name: "an equation of two functions", path: Extended, text: equationOf("g.phone_number = (SELECT (1/0)::text)")},
	{name: "the same in a Query message", path: Simple, text: equationOf("g.phone_number = (SELECT (1/0)::text)")},
	{name: "NOT of an inequation", path: Extended, text: equationOf("NOT (g.phone_number <> (SELECT n FROM unnest(ARRAY['a', 'b']) AS n))")},
	{name: "an inequation of a bool", path: Extended, text: equationOf("(g.phone_number = (SELECT (1/0)::text)) <> starts_with(coalesce('a', z), 'b')")},
	{name: "an equation of rows", path: Extended, text: equationOf("(g.phone_number, 1) = ((SELECT (1/0)::text), 1)")},
	{name: "an equation with an array", path: Extended, text: equationOf("g.phone_number = (ARRAY['{1}'::text[], '{1,2}'::text[]])[1][1]")},
	{name: "EXISTS", path: Extended, text: equationOf("EXISTS (SELECT FROM generate_series(1, 2) k WHERE g.phone_number = (SELECT (1/0)::text))")},
	{name: "IN", path: Extended, text: equationOf("g.phone_number IN (SELECT (SELECT (1/0)::text) FROM generate_series(1, 2) k)")},
	{name: "a sub-query that reads a table, too", path: Extended, text: `SELECT m.id FROM (SELECT g.phone_number FROM string_to_table('zzz,yyy', ',') AS g (phone_number)
		JOIN string_to_table('zzz,yyy', ',') z ON g.phone_number = (SELECT (1/0)::text) LEFT JOIN conversations c ON c.title = z) s JOIN end_users m USING (phone_number) WHERE m.name > 'zzK' AND m.name < 'zzL'`},
	{name: "a column that a query inside has as a parameter", path: Extended, text: correlatedWith("SELECT (SELECT (1 / length(left(j.id, 0)))::text FROM conversations j WHERE j.id = c.id) AS x FROM conversations c")},
	{name: "the same through one more query", path: Extended, text: correlatedWith("SELECT x FROM (SELECT (SELECT (1 / length(left(j.id, 0)))::text FROM conversations j WHERE j.id = c.id) AS x FROM conversations c) q")},
	{name: "such a column alone, in a LATERAL query", path: Extended, text: `SELECT count(*) FROM (SELECT NOT (c.id LIKE '%\') AS x FROM conversations c) s,
		LATERAL (SELECT m.id FROM end_users m WHERE m.name > 'zzK' AND m.name < 'zzL' AND (m.username IS NULL OR s.x IS NULL) LIMIT 1) t`},
	{name: "such a column of a WITH query", path: Extended, text: `WITH s AS (SELECT CASE WHEN c.id LIKE '%\' THEN c.id END AS x FROM conversations c)
		SELECT EXISTS (SELECT FROM end_users m WHERE m.name > 'zzK' AND m.name < 'zzL' AND (m.username IS NULL OR s.x IS NULL)) FROM s`},
	{name: "such a column of a join", path: Extended, text: `SELECT EXISTS (SELECT FROM end_users m WHERE m.name > 'zzK' AND m.name < 'zzL' AND (m.username IS NULL OR x IS NULL))
		FROM ((SELECT CASE WHEN c.id LIKE '%\' THEN c.id END AS x FROM conversations c) s JOIN (SELECT 1) AS one (n) ON true) AS j`},
	{name: "a row that has such a column", path: Extended, text: `SELECT EXISTS (SELECT FROM end_users m WHERE m.name > 'zzK' AND m.name < 'zzL' AND (m.username IS NULL OR (s.*) IS NULL))
		FROM (SELECT CASE WHEN c.id LIKE '%\' THEN c.id END AS x FROM conversations c) s`},
	{name: "a literal that a call converts, and a dear condition on the scope column", path: Extended, text: `SELECT id FROM events m WHERE m.kind = 'Kestrel 4039' AND float8lt(m.weight, 1e400) AND m.server_id = '' || '7'`},
	{name: "a sub-query that takes longer than a statement may", path: Extended, text: slowIn("(m.phone_number IS NOT NULL OR (SELECT count(*) FROM " + slow + ") = 0)")},
	{name: "such a sub-query, compared", path: Extended, text: slowIn("m.phone_number <= (SELECT max(a.content) FROM " + slow + ")")},
	{name: "such a sub-query in a list", path: Extended, text: slowIn("(m.phone_number IS NULL OR m.id NOT IN (SELECT max(a.content) FROM " + slow + "))")},
	{name: "such a sub-query as a column", path: Simple, text: "SELECT id FROM (SELECT id, name, created_at, (SELECT max(a.created_at) FROM " + slow + ") AS late FROM end_users) m WHERE m.name > 'zzK' AND m.name < 'zzL' AND late >= m.created_at"},
	{name: "an array that gets too large", path: Extended, text: slowIn("(m.phone_number IS NOT NULL OR ARRAY[$1::text" + strings.Repeat(", $1::text", 109) + "] IS NULL)"), args: []string{large}},
	{name: "a row in a row that gets too large", path: Extended, text: slowIn("(m.phone_number IS NOT NULL OR ROW(ROW($1::text" + strings.Repeat(", $1::text", 109) + ")) IS NULL)"), args: []string{large}},
	{name: "a trim that takes long", path: Extended, text: slowIn("(m.phone_number IS NOT NULL OR btrim($1::text, $2::text) IS NULL)"), args: []string{strings.Repeat("a", 40_000), strings.Repeat("b", 40_000) + "a"}},
	{name: "a sub-query that seems to look at the row", path: Extended, text: slowIn("(m.phone_number IS NOT NULL OR EXISTS (SELECT m.id FROM " + slow + " WHERE a.content < b.content AND b.content < c.content AND c.content < a.content))")},
	{name: "the same in a condition that Postgres drops", path: Extended, text: slowIn("(m.phone_number IS NOT NULL OR (SELECT count(*) FROM " + slow + " WHERE m.id IS NULL OR true) = 0)")},
	{name: "a column of a join with a name", path: Extended, text: "SELECT j.id FROM ((SELECT id, name, phone_number, (SELECT max(a.created_at) FROM " + slow + ") AS late FROM end_users) m JOIN (SELECT 1) AS one (n) ON true) AS j WHERE j.name > 'zzK' AND j.name < 'zzL' AND (j.phone_number IS NOT NULL OR j.late IS NULL)"},
	{name: "a sub-query in the list of IN", path: Extended, text: lateJoin("JOIN unnest('{zzz,yyy}'::text[]) AS z ON g.phone_number IN (SELECT (SELECT max(a.content) FROM " + slow + ") FROM countries k)")},
	{name: "a sub-query that USING compares", path: Extended, text: lateJoin("JOIN (SELECT (SELECT max(a.content) FROM " + slow + ") AS phone_number) s USING (phone_number)")},
	{name: "a sub-query in what ANY compares", path: Extended, text: slowIn("(CASE WHEN m.phone_number IS NULL THEN (SELECT max(a.content) FROM " + slow + ") ELSE m.phone_number END) < ANY (SELECT 'a')")},
	{name: "a column that IN compares", path: Extended, text: `SELECT s.late FROM (SELECT (SELECT max(a.name) FROM countries a, countries b, countries c, countries d, countries e, countries f, countries g, countries h, countries i, countries j, countries k, countries l) AS late) s
		WHERE s.late IN (SELECT g.content FROM (messages g JOIN messages z ON g.content = z.content) JOIN end_users m ON m.phone_number = g.content WHERE m.name > 'zzK' AND m.name < 'zzL')`},
	{name: "bits that get longer", path: Extended, text: slowIn("(m.phone_number IS NOT NULL OR m.username > concat('1'::bit(83886080)" + strings.Repeat(", '1'::bit(83886080)", 13) + "))")},
	{name: "a call that the engine hides", path: Extended, text: slowIn("m.email > " + deep), args: []string{long}},
	{name: "a name that ORDINALITY had", path: Extended, text: `SELECT m.id FROM (SELECT name AS ordinality, id FROM end_users) m, LATERAL (SELECT ordinality AS c FROM lower('x') WITH ORDINALITY AS g (a, o)) v,
		generate_series(1, 2) k WHERE (v.c IS NULL OR (SELECT 1/0 > 0) OR (k = 1 AND false)) AND m.ordinality > 'zzK' AND m.ordinality < 'zzL'`},
	{name: "a whole row", path: Extended, text: rowsOf("LEFT JOIN", "USING (r)")},
	{name: "a whole row in a Query message", path: Simple, text: rowsOf("LEFT JOIN", "USING (r)")},
	{name: "whole rows and NATURAL", path: Extended, text: rowsOf("NATURAL LEFT JOIN", "")},
}

func equationOf(condition string) string {
	return "SELECT m.id FROM (string_to_table('zzz,yyy', ',') AS g (phone_number) JOIN string_to_table('zzz,yyy', ',') z ON " + condition + ") JOIN end_users m USING (phone_number) WHERE m.name > 'zzK' AND m.name < 'zzL'"
}

// slow joins more rows than can be joined in the time limit.
const slow = "messages a, messages b, messages c, messages d, messages e, messages f, messages g, messages h, messages i, messages j"

func slowIn(condition string) string {
	return "SELECT m.id FROM end_users m WHERE m.name > 'zzK' AND m.name < 'zzL' AND " + condition
}

// large makes 1.1 GB, named 110 times.
var large = strings.Repeat("x", 10_000_000)

// deep takes longer than a statement may of long; upper('a') is why the engine puts it into a sub-query.
var (
	deep = strings.Repeat("lower(upper(", 40) + "upper('a') || $1::text" + strings.Repeat("))", 40)
	long = strings.Repeat("x", 8_000_000)
)

func lateJoin(join string) string {
	return "SELECT m.id FROM (unnest('{" + strings.Repeat("z,", 1500) + "z}'::text[]) AS g (phone_number) " + join + ") JOIN end_users m USING (phone_number) WHERE m.name > 'zzK' AND m.name < 'zzL'"
}

func correlatedWith(query string) string {
	many := strings.Repeat("z,", 1500) + "z" // so that the scan of end_users is the outer side of the join
	return "SELECT EXISTS (SELECT FROM (unnest('{" + many + "}'::text[]) AS g (phone_number) JOIN unnest('{zzz,yyy}'::text[]) AS z ON g.phone_number = s.x) " +
		"JOIN end_users m USING (phone_number) WHERE m.name > 'zzK' AND m.name < 'zzL') FROM (" + query + ") s"
}

func rowsOf(join, by string) string {
	return "SELECT count(*) FROM (SELECT s AS r FROM (SELECT 1 AS a) s) y " + join + " (SELECT q AS r FROM (SELECT name AS a FROM end_users WHERE name > 'zzK' AND name < 'zzL') q) x " + by
}

// namesHeld are what another server has on one side alone.
const namesHeld = "INSERT INTO end_users (id, server_id, name) SELECT 'sec' || g, '31', 'zzVALUEqq' FROM generate_series(1, 3) g; ANALYZE end_users;"

// Ensure no error tells of others' rows.
func TestErrorAttacks(t *testing.T) {
	w := build(t)
	for _, walls := range []Walls{Engine, All} {
		p := attacked(t, w, OrderConfig{Walls: walls})
		for side, value := range []string{"Kestrel", "Martlet"} {
			if err := p.sides[side].admin.exec(t.Context(), strings.ReplaceAll(namesHeld, "VALUE", value)); err != nil {
				t.Fatal(err)
			}
		}
		for _, a := range errorAttacks {
			kestrel, err := p.sides[0].ask(t.Context(), a.asked(), p.server)
			if err != nil {
				t.Fatal(err)
			}
			martlet, err := p.sides[1].ask(t.Context(), a.asked(), p.server)
			if err != nil || kestrel.code == policy.ConstructNotAllowed {
				t.Fatalf("walls %s, %s: %s, %v", walls, a.name, kestrel.message, err)
			}
			if kestrel.sequence() != martlet.sequence() {
				t.Errorf("walls %s, %s: %s %s, and else %s %s", walls, a.name, kestrel.state, kestrel.message, martlet.state, martlet.message)
			}
		}
	}
}
