package verify

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy/sql/analyze"
	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
	"github.com/tenantgate/tenantgate/policy/sql/treetest"
)

// TestHide shows what is hidden from the planner, in which form.
func TestHide(t *testing.T) {
	for text, want := range map[string]string{
		`SELECT id FROM notes WHERE id = 'a'`:                                                                               `id = $2`,
		`SELECT id FROM notes WHERE id >= 'a' AND id < 'b'`:                                                                 `id >= $2 AND id < $3`,
		`SELECT id FROM notes WHERE 'a' IN (id, body)`:                                                                      `$2 IN (id, body)`,
		`SELECT id FROM notes WHERE id IN ('a', NULL, 'b')`:                                                                 `id IN ($2, NULL, $3)`,
		`SELECT id FROM notes WHERE id = lower(reverse(CASE WHEN true THEN NULL ELSE NULL END))`:                            `id = lower(reverse(CASE WHEN true THEN NULL ELSE NULL END))`,
		`SELECT id FROM notes WHERE id = lower(reverse(CASE WHEN 1 = 1 THEN NULL ELSE 'a' END))`:                            `id = lower(reverse(CASE WHEN 1 = 1 THEN NULL ELSE $2 END))`,
		`SELECT id FROM notes WHERE id = ANY ('{a,b}')`:                                                                     `id = ANY ($2)`,
		`SELECT id FROM notes WHERE id = ANY (ARRAY['a', 'b'])`:                                                             `id = ANY (ARRAY[$2, $3])`,
		`SELECT id FROM notes WHERE id BETWEEN 'a' AND 'b'`:                                                                 `id BETWEEN $2 AND $3`,
		`SELECT id FROM notes WHERE (id, body) = ('a', 'b')`:                                                                `(id, body) = ($2, $3)`,
		`SELECT id FROM notes WHERE id = 'a' || 'b'`:                                                                        `id = $2 || $3`,
		`SELECT id FROM notes WHERE id = U&'d!0061t' UESCAPE '!'`:                                                           `id = $2`,
		`SELECT id FROM notes WHERE id = N'a'`:                                                                              `id = (SELECT N'a')`,
		`SELECT id FROM notes WHERE id = n'a''b'`:                                                                           `id = (SELECT n'a''b')`,
		`SELECT id FROM notes WHERE id IN (N'a', 'b')`:                                                                      `id IN ((SELECT N'a'), $2)`,
		`SELECT id FROM notes WHERE N'c'::text = id`:                                                                        `(SELECT N'c')::text = id`,
		`SELECT id FROM notes WHERE id = E'a\'b'`:                                                                           `id = $2`,
		`SELECT id FROM notes WHERE id = $$a$$`:                                                                             `id = $2`,
		"SELECT id FROM notes WHERE id = 'a'\n'b'":                                                                          `id = $2`,
		`SELECT id FROM notes WHERE id = -5`:                                                                                `id = $2`,
		`SELECT id FROM notes WHERE id = - 5.5`:                                                                             `(id = $2)`,
		`SELECT id FROM notes WHERE id = 'a'::text COLLATE "C"`:                                                             `id = $2::text COLLATE "C"`,
		`SELECT id FROM notes WHERE id = CAST('a' AS text)`:                                                                 `id = CAST($2 AS text)`,
		`SELECT id FROM notes WHERE id = - (5) AND - -6 = id`:                                                               `WHERE id = $2 AND $3 = id`,
		`SELECT id FROM notes WHERE id IN (date('2027-01-01'), pg_catalog.bytea('a'), int4(5))`:                             `IN ((SELECT date('2027-01-01')), (SELECT pg_catalog.bytea('a')), int4($2))`,
		`SELECT id FROM notes WHERE id = bit '101'`:                                                                         `id = (SELECT bit '101')`,
		`SELECT id FROM notes WHERE id = char 'abc'`:                                                                        `id = (SELECT char 'abc')`,
		`SELECT id FROM notes WHERE id = date '2027-01-01'`:                                                                 `id = $2::date`,
		`SELECT id FROM notes WHERE id = '1.23'::numeric(3,1)`:                                                              `id = (SELECT '1.23'::numeric(3,1))`,
		`SELECT id FROM notes WHERE id IN (CAST('1' AS numeric(3,1)))`:                                                      `id IN (COALESCE((SELECT CAST('1' AS numeric(3,1)))))`,
		`SELECT id FROM notes WHERE id = '1' :: timestamp (3) with time zone`:                                               `id = (SELECT '1' :: timestamp (3) with time zone)`,
		`SELECT id FROM notes WHERE id = interval '1' day`:                                                                  `id = (SELECT interval '1' day)`,
		`SELECT id FROM notes WHERE id = interval '1' day to second(3)`:                                                     `id = (SELECT interval '1' day to second(3))`,
		`SELECT id FROM notes WHERE id > now() - interval '7 days'`:                                                         `id > (SELECT now()) - $2::interval`,
		`SELECT id FROM notes WHERE id IN (now())`:                                                                          `id IN (COALESCE((SELECT now())))`,
		`SELECT x FROM (SELECT (lower('A') > id) IS TRUE AS x FROM notes) s`:                                                `(((SELECT lower('A')) > id) IS TRUE = $1)`,
		`SELECT x FROM (SELECT lower('A') = id IS NOT TRUE AS x FROM notes) s`:                                              `((SELECT lower('A')) = id IS NOT TRUE = $1)`,
		`SELECT x FROM (SELECT text 'a' IS DISTINCT FROM id AS x FROM notes) s`:                                             `(CASE WHEN $3 THEN NULL ELSE $2::text  END) IS DISTINCT FROM id`,
		`SELECT x FROM (SELECT (text 'a') IS DISTINCT FROM id AS x FROM notes) s`:                                           `IS DISTINCT FROM id`,
		`SELECT x FROM (SELECT bool 't' IS TRUE AS x FROM notes) s`:                                                         `IS TRUE`,
		`SELECT id FROM notes WHERE id = 'a'::national character varying(3)`:                                                `id = (SELECT 'a'::national character varying(3))`,
		`SELECT id FROM notes WHERE id = 'a'::national char`:                                                                `id = (SELECT 'a'::national char)`,
		`SELECT id FROM notes WHERE id = current_date`:                                                                      `id = (SELECT current_date)`,
		`SELECT id FROM notes WHERE id = current_timestamp(3)`:                                                              `id = (SELECT current_timestamp(3))`,
		`SELECT id FROM notes WHERE id = lower('A')`:                                                                        `id = (SELECT lower('A'))`,
		`SELECT id FROM notes WHERE id = lower(random()::text || 'A')`:                                                      `id = lower(random()::text || 'A')`,
		`SELECT id FROM notes WHERE id = coalesce('a', random()::text)`:                                                     `id = coalesce($2, random()::text)`,
		`SELECT id FROM notes WHERE id = (-random() * 5)::text`:                                                             `id = (-random() * 5)::text`,
		`SELECT x FROM (SELECT to_jsonb(1) WITHIN GROUP (ORDER BY 'a') AS x FROM notes) s`:                                  `to_jsonb(1) WITHIN GROUP (ORDER BY 'a')`, // which Postgres refuses
		`SELECT id FROM notes WHERE id > (clock_timestamp() - interval '1 day')::text`:                                      `id > (clock_timestamp() - $2::interval )::text`,
		`SELECT id FROM notes WHERE id = concat('a', setseed(NULL)::text)`:                                                  `concat($2, setseed(NULL)::text)`,
		`SELECT x FROM (SELECT date '2024-01-01' + generate_series(0, 2) AS x FROM notes) s`:                                `+ generate_series(0, 2)`,
		`SELECT x FROM (SELECT gen_random_uuid()::text || '-' || upper('x') AS x FROM notes) s`:                             `gen_random_uuid()::text || '-' || (SELECT upper('x'))`,
		`SELECT x FROM (SELECT random() * 5::int AS x FROM notes) s`:                                                        `notes`,
		`SELECT x FROM (SELECT clock_timestamp() AT TIME ZONE 'UTC' - interval '3 days' AS x FROM notes) s`:                 `notes`,
		`SELECT x FROM (SELECT clock_timestamp() - make_interval(days => 3) AS x FROM notes) s`:                             `notes`,
		`SELECT x FROM (SELECT unnest(ARRAY[1, 2]) + (2 + 3) AS x FROM notes) s`:                                            `notes`,
		`SELECT x FROM (SELECT current_date - generate_series(0, 2) AS x FROM notes) s`:                                     `notes`,
		`SELECT id FROM notes WHERE id IN (SELECT unnest(ARRAY['a', 'b']) || ''::text)`:                                     `notes`,
		`SELECT x FROM (SELECT abs(random() - 5::int) AS x FROM notes) s`:                                                   `notes`,
		`SELECT x FROM (SELECT random() > upper('x')::float8 AS x FROM notes) s`:                                            `notes`,
		`SELECT id FROM notes WHERE id = NULL || random()::text || 'a'`:                                                     `id = NULL || random()::text || $2`,
		`SELECT id FROM notes WHERE id = reverse('A')`:                                                                      `id = reverse($2)`,
		`SELECT id FROM notes WHERE date_part('day', id) = 5`:                                                               `date_part('day', id) = $2`,
		`SELECT id FROM notes WHERE extract(day FROM date '2027-01-01') = id`:                                               `extract(day FROM $2::date ) = id`,
		`SELECT id FROM notes WHERE id || 'a' = 'b'`:                                                                        `id || 'a' = $2`,
		`SELECT id FROM notes WHERE coalesce('a', id) = 'b'`:                                                                `coalesce($2, id) = $3`,
		`SELECT id FROM notes WHERE CASE WHEN true THEN id = 'a' END`:                                                       `WHERE CASE WHEN true THEN id = $2 END`,
		`SELECT id FROM notes WHERE id = CASE WHEN true THEN 'a' ELSE body END`:                                             `id = CASE WHEN true THEN $2 ELSE body END`,
		`SELECT id FROM notes WHERE nullif('a', id) = body`:                                                                 `nullif($2, id) = body`,
		`SELECT id FROM notes WHERE id = - (b'1')`:                                                                          `(id = - ($2)) END`,
		`SELECT id FROM notes WHERE id = - '5'`:                                                                             `(id = - $2) END`,
		`SELECT id FROM notes WHERE id = substring('abc' FOR 2)`:                                                            `id = substring($2 FOR $3)`,
		`SELECT id FROM notes, extract(year FROM date '2027-01-01') v`:                                                      `extract(year FROM $2::date ) v`,
		`SELECT 1 FROM notes, generate_series(1, 2) f WHERE NOT f`:                                                          `WHERE NOT (CASE WHEN $2 THEN NULL ELSE f END)`,
		`SELECT (SELECT 1 WHERE string_agg(notes.id, 'a')) FROM notes`:                                                      `string_agg(notes.id, 'a')`,
		`SELECT 1 FROM notes, unnest(ARRAY[$1::bool]) f WHERE f`:                                                            `WHERE (CASE WHEN $3 THEN NULL ELSE f END)`,
		`SELECT 1 FROM flags, LATERAL (SELECT 1 FROM notes done WHERE done) s`:                                              `THEN ((CASE WHEN $3 THEN NULL ELSE done END)) END`,
		`SELECT 1 FROM notes f, LATERAL (SELECT 1 FROM unnest(ARRAY[$1::bool]) f WHERE f) s`:                                `WHERE (CASE WHEN $4 THEN NULL ELSE f END)`,
		`SELECT id FROM notes WHERE (id = 'a') = true`:                                                                      `(id = $2) = $3`,
		`SELECT id FROM notes WHERE id IS DISTINCT FROM 'a'`:                                                                `id IS DISTINCT FROM $2`,
		`SELECT id FROM flags, (SELECT NULL AS x) s WHERE done = NOT (s.x IS DISTINCT FROM NULL)`:                           `NOT ((CASE WHEN $2 THEN NULL ELSE s.x END) IS DISTINCT FROM NULL)`,
		`SELECT id FROM flags, (SELECT NULL AS x) s WHERE done IN (NOT ((((s.x)) IS NOT DISTINCT FROM s.x)))`:               `(NOT (((CASE WHEN $2 THEN NULL ELSE ((s.x)) END) IS NOT DISTINCT FROM s.x)))`,
		`SELECT id FROM flags, (SELECT NULL AS x) s WHERE done = NOT (s.x || 'a' IS DISTINCT FROM s.x)`:                     `s.x || 'a' END) IS DISTINCT FROM s.x)`,
		`SELECT id FROM notes WHERE id::bool AND bool(id)`:                                                                  `(id::bool = $1) AND (bool(id) = $2)`,
		`SELECT id FROM flags, (SELECT true AS x) s WHERE done = ((s.x IS DISTINCT FROM done) IS NOT DISTINCT FROM done)`:   `((CASE WHEN $4 THEN NULL ELSE ((CASE WHEN $3 THEN NULL ELSE s.x END) IS DISTINCT FROM done) END) IS NOT DISTINCT FROM done)`,
		`SELECT id FROM flags, (SELECT true AS x) s WHERE done = (NULL IS DISTINCT FROM s.x)`:                               `(NULL IS DISTINCT FROM (SELECT s.x))`,
		`WITH c AS (SELECT (1, 'a') AS r) SELECT notes.id FROM notes, c`:                                                    `SELECT (1, 'a') AS r`,
		`SELECT 1 FROM (SELECT (id ILIKE 'a', 'b', (id = 'c', 'd')) FROM notes) c`:                                          `(id ILIKE $2, 'b', (id = $3, 'd'))`,
		`SELECT 1 FROM (SELECT (id = 'a', 1) FROM notes GROUP BY id = 'a') c`:                                               `SELECT (id = $2, 1) FROM`,
		`SELECT 1 FROM (SELECT ('a' COLLATE "C", lower('b'), 'c' || id) FROM notes) c`:                                      `('a' COLLATE "C", lower('b'), 'c' || id)`,
		`SELECT 1 FROM (SELECT ((NULL IS DISTINCT FROM (id || 'x')), (id, body) IS DISTINCT FROM (body, id)) FROM notes) c`: `(NULL IS DISTINCT FROM (id || 'x')), (id, body) IS DISTINCT FROM (body, id))`,
		`SELECT 1 FROM (SELECT (coalesce(id = 'a', true) IS TRUE, (id = 'b')::text, (ARRAY[id = 'c'])[1]) FROM notes) c`:    `(coalesce(id = $2, true) IS TRUE, (id = $3)::text, (ARRAY[id = $4])[1])`,
		`SELECT 1 FROM (SELECT (CASE id WHEN 'a' THEN 'b' ELSE 'c' END, CASE WHEN id = 'a' THEN 'd' END) FROM notes) c`:     `(CASE id WHEN $2 THEN 'b' ELSE 'c' END, CASE WHEN id = $3 THEN 'd' END)`,
		`SELECT 1 FROM (SELECT (ARRAY[1, 2])[CASE WHEN id = 'a' THEN 1 ELSE 2 END] FROM notes) c`:                           `(ARRAY[$2, $3])[CASE WHEN id = $4 THEN 1 ELSE 2 END]`,
		`SELECT x FROM notes, coalesce(id = 'a', true) x`:                                                                   `coalesce(id = $2, true) x`,
		`SELECT count(*) FROM flags, (SELECT count(*) FROM flags HAVING bool_or('t' OR done)) s`:                            `bool_or('t' OR done)`,
		`SELECT id FROM flags WHERE done = (id IS DISTINCT FROM 'a')`:                                                       `(id IS DISTINCT FROM $2)`,
		`SELECT id FROM notes, (VALUES ('a')) v (x) WHERE id = x`:                                                           `(VALUES ($2)) v (x)`,
		`SELECT id FROM notes, (SELECT 'a' AS x) v WHERE id = x`:                                                            `(SELECT $2 AS x) v`,
		`SELECT id FROM notes, lower('A') v WHERE id = v`:                                                                   `lower($2) v`,
		`SELECT id FROM notes, generate_series(1, 12) v`:                                                                    `generate_series(1, 12) v`,
		`SELECT id FROM notes WHERE id IN (SELECT 'a')`:                                                                     `IN (SELECT $2 AS "?column?")`,
		`SELECT id FROM notes WHERE EXISTS (SELECT 'a' FROM shared WHERE shared.id = 'b')`:                                  `EXISTS (SELECT 'a' FROM "public".shared WHERE shared.id = $2)`,
		`WITH w AS (SELECT 'a' AS x) SELECT id FROM notes, w WHERE id = x`:                                                  `(SELECT $2 AS x)`,
		`SELECT id = 'a', (SELECT 1 FROM shared WHERE id = 'b') FROM notes ORDER BY id = 'c' LIMIT 5 OFFSET 6`:              `SELECT id = 'a', (SELECT $2 AS "?column?" FROM "public".shared WHERE id = $3) FROM`,
		`UPDATE notes SET body = 'x' WHERE id = 'a' RETURNING 'b'`:                                                          `SET body = 'x' WHERE (id = $2) AND`,
		`DELETE FROM notes USING shared WHERE shared.id = 'a' RETURNING 'b'`:                                                `(shared.id = $2) AND`,
		`INSERT INTO notes (id) SELECT 'a' FROM shared WHERE id = 'b'`:                                                      `'a' FROM "public".shared WHERE id = $1`,
		`INSERT INTO notes (id) VALUES ('a') ON CONFLICT (id) WHERE id > 'b' DO UPDATE SET body = 'c' WHERE notes.id = 'd'`: `id > 'b' DO UPDATE SET body = 'c' WHERE (notes.id = 'd')`,
		`SELECT id FROM logs WHERE body LIKE 'x' AND id = 'a'`:                                                              `THEN (body LIKE $2) END AND id = $3`,
		`SELECT id FROM flags WHERE done AND NOT (done) OR done IS TRUE`:                                                    `(done = $1) AND NOT ((done = $2)) OR (done = $3) IS TRUE`,
		`SELECT id FROM flags f JOIN flags g ON f.done WHERE g.done = true`:                                                 `ON (f.done = $1) WHERE g.done = $3`,
		`SELECT id FROM notes WHERE id = concat(coalesce('a', $1))`:                                                         `id = (SELECT concat(coalesce('a', $1)))`,
		`SELECT id FROM notes WHERE id = coalesce('a', $1::text) || 'b'`:                                                    `id = coalesce($3, $1::text) || $4`,
		`SELECT id FROM notes WHERE id = concat('a', (SELECT 'b'))`:                                                         `id = concat('a', (SELECT $2 AS "?column?"))`,
		`SELECT id FROM notes WHERE id = concat('a', $1::text)`:                                                             `id = concat('a', $1::text)`,
		`SELECT id FROM notes WHERE starts_with(id, 'a')`:                                                                   `starts_with(id, $2)`,
		`SELECT id FROM notes WHERE NOT starts_with(id, lower('a'))`:                                                        `starts_with(id, (SELECT lower('a')))`,
		`SELECT id FROM notes WHERE starts_with(id, 'a')::bool`:                                                             `starts_with(id, $2)::bool`,
		`SELECT id FROM notes WHERE starts_with('a', 'b')`:                                                                  `starts_with('a', 'b')`,
		`SELECT id FROM notes WHERE starts_with(id, 'a') = true`:                                                            `starts_with(id, 'a') = $2`,
		`SELECT id FROM flags WHERE (done)::bool AND CAST (done AS bool) AND bool(done)`:                                    `((done)::bool = $1) AND (CAST (done AS bool) = $2) AND (bool(done) = $3)`,
		`SELECT id FROM flags WHERE done = (NULL IS NULL)`:                                                                  `done = ((NULL IS NULL = $1))`,
		`SELECT id FROM flags WHERE done = NOT ('a' IS NOT NULL)`:                                                           `done = NOT (('a' IS NOT NULL = $1))`,
		`SELECT id FROM flags WHERE done = (true AND CAST (NULL AS int) ISNULL)`:                                            `done = ($3 AND (CAST (NULL AS int) ISNULL = $1))`,
		`SELECT id FROM flags WHERE done = (id IS NULL) AND NULL IS NULL`:                                                   `done = ((id IS NULL = $1)) AND NULL IS NULL`,
		`SELECT id FROM flags WHERE done = (NULL IS UNKNOWN)`:                                                               `done = ((NULL IS UNKNOWN = $1))`,
		`SELECT id FROM flags WHERE done IN ((id IS NOT NULL) IS NOT TRUE)`:                                                 `done IN ((((id IS NOT NULL = $1)) IS NOT TRUE = $2))`,
		`SELECT id FROM flags WHERE done = ((SELECT true) IS NULL)`:                                                         `done = ((SELECT $2 AS "?column?") IS NULL)`,
		`SELECT id FROM flags WHERE nullif(done, NULL) AND nullif(starts_with(id, 'a'), false)`:                             `nullif((done = $1), NULL) AND nullif(starts_with(id, $3), $4)`,
		`SELECT 1 FROM shared WHERE id = 'a'`:                                                                               `id = 'a'`,
	} {
		verify, final := rewrittenWith(t, text, func(*facts.Facts) {})
		if !strings.Contains(final, want) {
			t.Errorf("%s\nbecame %s\nwithout %s", text, final, want)
		}
		if fault := verify(final); fault != nil {
			t.Errorf("%s\nis not proved: %+v", final, fault)
		}
	}
}

// TestHideLinks shows that expressions by which a query groups and sorts stay equal to those
// of its select list.
func TestHideLinks(t *testing.T) {
	for text, want := range map[string]string{
		`SELECT x FROM (SELECT CASE WHEN id > 'a' THEN 'b' ELSE 'c' END AS x FROM notes GROUP BY CASE WHEN id > 'a' THEN 'b' ELSE 'c' END) s`:          `CASE WHEN id > $2 THEN $3 ELSE $4 END AS x|GROUP BY CASE WHEN id > $2 THEN $3 ELSE $4 END`,
		`SELECT coalesce(id, 'a') FROM notes GROUP BY coalesce(id, 'a') HAVING coalesce(id, 'a') > 'b'`:                                                `SELECT coalesce(id, $2)|GROUP BY coalesce(id, $2)|THEN (coalesce(id, $2) > $3)`,
		`SELECT coalesce(id, 'a') FROM notes GROUP BY coalesce(id, 'a')`:                                                                               `SELECT coalesce(id, 'a')|GROUP BY coalesce(id, 'a')`,
		`SELECT 1 FROM flags, (SELECT NULL AS x) s GROUP BY done, (s.x || s.x) IS DISTINCT FROM s.x HAVING done = ((s.x || s.x) IS DISTINCT FROM s.x)`: `GROUP BY done, (CASE WHEN $2 THEN NULL ELSE (s.x || s.x) END) IS|THEN (done = ((CASE WHEN $2 THEN NULL ELSE (s.x || s.x) END) IS`,
		`SELECT coalesce(notes.id, 'a') FROM notes GROUP BY coalesce(id, 'a') HAVING coalesce(public.notes.id, 'a') > 'b'`:                             `SELECT coalesce(notes.id, $2)|GROUP BY coalesce(id, $2)|THEN (coalesce(public.notes.id, $2) > $3)`,
		`SELECT coalesce(id, 'a') FROM notes GROUP BY coalesce(notes.id, 'a') HAVING coalesce(id, 'a') > 'b'`:                                          `SELECT coalesce(id, $2)|GROUP BY coalesce(notes.id, $2)|THEN (coalesce(id, $2) > $3)`,
		`SELECT body, coalesce(id, 'a') FROM notes GROUP BY 1, 2 HAVING coalesce(id, 'a') > 'b'`:                                                       `SELECT body, coalesce(id, $2)|GROUP BY 1, 2|THEN (coalesce(id, $2) > $3)`,
		`SELECT coalesce(id, 'a') AS x FROM notes GROUP BY x, 9 HAVING coalesce(id, 'a') > 'b'`:                                                        `SELECT coalesce(id, $2) AS x|THEN (coalesce(id, $2) > $3)`,
		`SELECT coalesce(id, 'a') AS x FROM notes GROUP BY ROLLUP ((x, body)) HAVING coalesce(id, 'a') > 'b'`:                                          `SELECT coalesce(id, $2) AS x|THEN (coalesce(id, $2) > $3)`,
		`SELECT x FROM (SELECT (id = 'a', 2) = (true, 2) AS x FROM notes GROUP BY (id = 'a', 2)) s`:                                                    `SELECT (id = $2, $3) = ($4, $5) AS x|GROUP BY (id = $2, 2)`,
		`SELECT 1 FROM notes GROUP BY coalesce(id, 'a'), coalesce(body, 'a') HAVING coalesce(id, 'a') > 'b'`:                                           `GROUP BY coalesce(id, $2), coalesce(body, 'a')`,
		`SELECT coalesce(n.id, 'a') FROM notes n, notes m GROUP BY coalesce(n.id, 'a'), coalesce(m.id, 'a') HAVING coalesce(n.id, 'a') > 'b'`:          `SELECT coalesce(n.id, $2)|GROUP BY coalesce(n.id, $2), coalesce(m.id, 'a')`,
		`SELECT count(*) FROM notes GROUP BY (coalesce(id, 'a'), body) HAVING coalesce(id, 'a') > 'b'`:                                                 `GROUP BY (coalesce(id, $2), body)|THEN (coalesce(id, $2) > $3)`,
		`SELECT x FROM (SELECT id = 'a' AS x FROM notes GROUP BY GROUPING SETS ((id = 'a', body), ())) s`:                                              `SELECT id = $2 AS x|GROUPING SETS ((id = $2, body), ())`,
		`SELECT x FROM (SELECT notes.id = 'a' AS x, count(*) OVER w FROM notes GROUP BY id = 'a' WINDOW w AS (PARTITION BY notes.id = 'a')) s`:         `SELECT notes.id = $2 AS x|GROUP BY id = $2|PARTITION BY notes.id = $2`,
		`SELECT x FROM (SELECT (id = 'a', 1) AS x FROM notes GROUP BY ROW(id = 'a', 1)) s`:                                                             `SELECT (id = $2, 1) AS x|GROUP BY ROW(id = $2, 1)`,
		`SELECT x FROM (SELECT DISTINCT (notes.id = 'a', 1) AS x FROM notes ORDER BY (id = 'a', 1)) s`:                                                 `SELECT DISTINCT (notes.id = $2, 1) AS x|ORDER BY (id = $2, 1)`,
		`SELECT x FROM (SELECT id = 'a' AS x FROM notes GROUP BY id = 'a' HAVING (id = 'a') IS NOT NULL) s`:                                            `SELECT id = $2 AS x|GROUP BY id = $2 HAVING (id = $2) IS NOT NULL`,
		`SELECT x FROM (SELECT grouping(id = 'a') AS x FROM notes GROUP BY id = 'a') s`:                                                                `SELECT grouping(id = $2) AS x|GROUP BY id = $2`,
		`SELECT x FROM (SELECT concat('a', random()) AS x FROM notes GROUP BY concat('a', random())) s`:                                                `SELECT concat('a', random())|GROUP BY concat('a', random())`,
		`SELECT coalesce(id, 'a') FROM notes GROUP BY coalesce HAVING coalesce(id, 'a') > 'b'`:                                                         `SELECT coalesce(id, $2)|THEN (coalesce(id, $2) > $3)`,
		`SELECT CASE WHEN id = 'a' THEN 'b' END FROM notes GROUP BY "case" HAVING (CASE WHEN id = 'a' THEN 'b' END) > 'b'`:                             `SELECT CASE WHEN id = $2 THEN $3 END|THEN ((CASE WHEN id = $2 THEN $3 END) > $4)`,
		`SELECT s.*, coalesce(id, 'a') AS x FROM (SELECT 1 AS b, 2 AS c) s, notes GROUP BY s.b, s.c, 3 HAVING coalesce(id, 'a') > 'b'`:                 `, coalesce(id, $4) AS x|THEN (coalesce(id, $4) > $5)`,
		`SELECT x FROM (SELECT id > (lower('A')) AS x FROM notes GROUP BY id > lower('A')) s`:                                                          `SELECT id > ((CASE WHEN $2 THEN NULL ELSE lower('A') END)) AS x|GROUP BY id > (CASE WHEN $2 THEN NULL ELSE lower('A') END)`,
		`SELECT x FROM (SELECT coalesce(id > lower('A'), false) AS x FROM notes GROUP BY ROLLUP (id > lower('A'), lower('A'))) s`:                      `coalesce(id > (CASE WHEN $2 THEN NULL ELSE lower('A') END), $3)|ROLLUP (id > (CASE WHEN $2 THEN NULL ELSE lower('A') END), `,
		`SELECT x FROM (SELECT lower('A') AS x, (SELECT count(*) FROM notes m WHERE m.id = lower('A')) FROM notes GROUP BY lower('A')) s`:              `SELECT (CASE WHEN $2 THEN NULL ELSE lower('A') END) AS x|WHERE m.id = (SELECT lower('A'))|GROUP BY (CASE WHEN $2 THEN NULL ELSE lower('A') END)`,
		`SELECT x FROM (SELECT coalesce(id > lower('A'), false) AS x FROM notes GROUP BY ROLLUP (id)) s`:                                               `coalesce(id > (SELECT lower('A')), $2)`,
		`SELECT string_agg(DISTINCT 'a', ',' ORDER BY 'a') FROM notes HAVING max(id) > 'a'`:                                                            `(DISTINCT 'a', ',' ORDER BY 'a')|HAVING max(id) > $2`,
		`SELECT string_agg(DISTINCT (SELECT 'a'), ',' ORDER BY (SELECT 'a')) FROM notes`:                                                               `(DISTINCT (SELECT $2 AS "?column?"), ',' ORDER BY (SELECT $2 AS "?column?"))`,
		`SELECT DISTINCT ON ((SELECT 'a')) (SELECT 'a') FROM notes ORDER BY (SELECT 'a')`:                                                              `DISTINCT ON ((SELECT $2 AS "?column?")) (SELECT $2 AS "?column?") |ORDER BY (SELECT $2 AS "?column?")`,
		`SELECT date_part('day', id) FROM notes GROUP BY date_part('day', id) HAVING date_part('day', id) > 5`:                                         `GROUP BY date_part('day', id) HAVING date_part('day', id) > $2`,
		`SELECT x FROM (SELECT DISTINCT ON (id = date '2027-01-01') id = date '2027-01-01' AS x FROM notes ORDER BY id = date '2027-01-01') s`:         `DISTINCT ON (id = $2::date |id = $2::date  AS x|ORDER BY id = $2::date`,
	} {
		verify, final := rewrittenWith(t, text, func(*facts.Facts) {})
		for part := range strings.SplitSeq(want, "|") {
			if !strings.Contains(final, part) {
				t.Errorf("%s\nbecame %s\nwithout %s", text, final, part)
			}
		}
		if fault := verify(final); fault != nil {
			t.Errorf("%s\nis not proved: %+v", final, fault)
		}
	}
}

// TestVerifyHidden leaves in the final text what must be hidden, or hides something else.
func TestVerifyHidden(t *testing.T) {
	const flags = `SELECT id FROM flags WHERE done`
	for _, c := range []tampering{
		{"a literal is left", `SELECT id FROM notes WHERE id = 'a'`, "id = $2", "id = 'a'"},
		{"the server's id in its place", `SELECT id FROM notes WHERE id = 'a'`, "id = $2", "id = $1"},
		{"another literal's parameter", `SELECT id FROM notes WHERE id = 'a' AND body = 'b'`, "id = $2", "id = $3"},
		{"a parameter that is not there", `SELECT id FROM notes WHERE id = 'a'`, "id = $2", "id = $3"},
		{"a call is left", `SELECT id FROM notes WHERE id = now()`, "(SELECT now())", "now()"},
		{"another name", `SELECT s.text FROM (SELECT 'a'::varchar(3)::text FROM notes) s`, `AS "text"`, `AS "body"`},
		{"no name", `SELECT s.text FROM (SELECT 'a'::varchar(3)::text FROM notes) s`, ` AS "text"`, ""},
		{"another call", `SELECT id FROM notes WHERE id = now()`, "(SELECT now())", "(SELECT random())"},
		{"a sub-query that reads", `SELECT id FROM notes WHERE id = now()`, "(SELECT now())", `(SELECT now() FROM "public".notes)`},
		{"a sub-query of its rows", `SELECT id FROM notes WHERE id IN (now())`, "IN (COALESCE((SELECT now())))", `IN ((SELECT now()))`},
		{"a column is left", flags, "(done = $1)", "done"},
		{"a column is compared with something else", flags, "(done = $1)", "(done = $2)"},
		{"a column is compared otherwise", flags, "(done = $1)", "(done <> $1)"},
		{"another column is compared", flags, "(done = $1)", "(id = $1)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			verify, final := rewrittenWith(t, c.text, func(*facts.Facts) {})
			c.noticedBy(t, verify, final)
		})
	}
}

// TestVerifyBare takes from the facts what is to be hidden: the proof finds it by itself.
func TestVerifyBare(t *testing.T) {
	for _, text := range []string{
		`SELECT id FROM notes WHERE id = 'a'`,
		`SELECT id FROM notes WHERE 5 < id::int`,
		`SELECT id FROM notes WHERE id BETWEEN 'a' AND 'b'`,
		`SELECT id FROM notes WHERE (id, body) > ('a', 'b')`,
		`SELECT id FROM notes WHERE id IN ('a', 'b')`,
		`SELECT id FROM notes WHERE id = ANY (ARRAY['a', body])`,
		`SELECT id FROM notes WHERE id = current_date`,
		`SELECT 1 FROM (SELECT id = 'a' FROM notes) s`,
		`SELECT (SELECT id FROM notes WHERE id = 'a' LIMIT 1)`,
		`WITH w AS (SELECT id FROM notes WHERE id = 'a') SELECT 1 FROM w`,
		`SELECT id FROM shared JOIN notes USING (id) WHERE EXISTS (SELECT FROM notes n WHERE n.id = 'a')`,
		`SELECT id FROM notes GROUP BY id HAVING id = 'a'`,
		`SELECT 1 FROM notes a JOIN notes b ON a.id = 'a'`,
		`UPDATE notes SET body = id WHERE id = 'a'`,
		`DELETE FROM notes WHERE id = 'a'`,
		`INSERT INTO notes (id) SELECT id FROM shared WHERE id = 'a'`,
		`SELECT 1 FROM shared UNION ALL SELECT 2 FROM notes WHERE id = 'a'`,
		`SELECT length((SELECT id FROM notes WHERE id = 'a' LIMIT 1)) FROM shared`,
		`SELECT id FROM flags WHERE done = (NULL IS UNKNOWN)`,
		`SELECT id FROM flags WHERE done IN (id IS NULL)`,
		`SELECT id FROM flags, (SELECT NULL AS x) s WHERE (s.x IS NULL) = done`,
		`SELECT id FROM flags WHERE done = (id IS NULL AND NULL IS NULL)`,
		`SELECT id FROM flags WHERE done = CASE WHEN id IS NULL THEN true ELSE done END`,
		`SELECT id FROM flags WHERE done = greatest(done, true)`,
		`SELECT id FROM flags, (SELECT NULL AS x) s WHERE done = NOT (s.x IS DISTINCT FROM NULL)`,
		`SELECT notes.id FROM notes JOIN (SELECT 'a' AS id) v USING (id)`,
		`SELECT id FROM notes, (VALUES ('a')) v (x) WHERE id = x`,
		`SELECT id FROM notes WHERE id IN (SELECT 'a')`,
		`SELECT id FROM notes WHERE starts_with(id, 'a')`,
		`SELECT id FROM notes WHERE id = lower('A')`,
		`SELECT id FROM notes WHERE id = lower(CASE WHEN true THEN 'A' END)`,
		`SELECT id FROM notes WHERE id = lower(CASE 'a' WHEN 'b' THEN NULL END)`,
		`SELECT id FROM notes WHERE id = 'a' || 'b'`,
		`SELECT id FROM flags WHERE done`,
		`SELECT id FROM flags WHERE NOT done AND id IS NOT NULL`,
		`SELECT id FROM flags WHERE done IS TRUE`,
		`SELECT count(*) FROM flags GROUP BY done HAVING done`,
		`SELECT f.id FROM flags f JOIN shared ON f.done`,
		`SELECT id FROM flags WHERE CASE WHEN done THEN id = id END`,
		`SELECT id FROM flags WHERE CASE WHEN true THEN done END`,
		`SELECT id FROM flags WHERE CASE WHEN id = id THEN true ELSE done END`,
		`SELECT id FROM flags WHERE coalesce(NULL, done)`,
		`DELETE FROM flags WHERE done`,
		`SELECT id FROM flags WHERE done::bool`,
		`SELECT id FROM flags WHERE CAST (CAST (done AS bool) AS bool)`,
		`SELECT id FROM flags WHERE bool(done)`,
		`SELECT id FROM flags WHERE bool(done::bool)`,
		`SELECT id FROM flags WHERE nullif(done, NULL)`,
		`SELECT id FROM flags WHERE nullif(coalesce(done, NULL), NULL)::bool`,
		`SELECT id FROM notes WHERE id = text('a')`,
		`SELECT count(*) FROM notes GROUP BY id HAVING starts_with(id, 'a')`,
	} {
		verify, final := rewrittenWith(t, text, func(f *facts.Facts) { f.Hidden = nil })
		if fault := verify(final); fault == nil || !strings.Contains(fault.Message, "the planner sees") {
			t.Errorf("%s is proved: %+v", final, fault)
		}
	}
}

// TestRowOfText answers as Postgres does where a text should be a row.
func TestRowOfText(t *testing.T) {
	for text, state := range map[string]string{
		"SELECT 1 FROM notes WHERE (id, body) = 'a'": "0A000", "SELECT 1 FROM notes WHERE (id, body) IN (('a', 'b'), 'c')": "0A000", "SELECT 1 FROM notes WHERE 'a' < (id, body)": "0A000",
		"SELECT 1 FROM notes WHERE (id, body) LIKE 'a'": "", "SELECT 1 FROM notes WHERE (id, body) = ANY ('{a}')": "",
		"SELECT 1 FROM notes WHERE 'a' || (id, body) = 'b'": "", "SELECT 1 FROM notes WHERE (id, body) = ('a', 'b')": "",
	} {
		tr, _ := lex.Translate(text, lex.Guard{})
		stmt, _ := tree.Parse(tr.Text)
		if _, fault := analyze.Analyze(stmt, treetest.Catalog()); fault == nil && state != "" || fault != nil && fault.SQLState != state {
			t.Errorf("%s: %+v", text, fault)
		}
	}
}

// TestConditionIsBool answers as Postgres does where a column that is no bool is a condition.
func TestConditionIsBool(t *testing.T) {
	for _, text := range []string{"SELECT 1 FROM notes WHERE id", "SELECT 1 FROM notes WHERE NOT id", "SELECT 1 FROM notes WHERE id IS TRUE", "SELECT 1 FROM notes JOIN shared ON notes.id",
		"SELECT 1 FROM notes WHERE notes", "SELECT 1 FROM notes n WHERE NOT n"} {
		tr, _ := lex.Translate(text, lex.Guard{})
		stmt, _ := tree.Parse(tr.Text)
		if _, fault := analyze.Analyze(stmt, treetest.Catalog()); fault == nil || fault.SQLState != "42804" {
			t.Errorf("%s: %+v", text, fault)
		}
	}
}

// TestVerifyTree looks at final trees, some of which the analysis never lets come to be.
func TestVerifyTree(t *testing.T) {
	for text, want := range map[string]bool{
		"SELECT 1 FROM notes JOIN CAST('a' AS text) s (id) USING (id)":                                    true,
		"SELECT 1 FROM notes RIGHT JOIN lower('a') s (id) USING (id)":                                     true,
		"SELECT 1 FROM notes JOIN (SELECT id FROM coalesce('a', 'b') s (id)) t USING (id)":                true,
		"SELECT 1 FROM notes JOIN (SELECT v AS id FROM coalesce('a', 'b') v) t USING (id)":                true,
		"SELECT 1 FROM notes JOIN (SELECT v.v AS id FROM coalesce('a', 'b') v) t USING (id)":              true,
		"SELECT 1 FROM notes JOIN (SELECT lower AS id FROM lower('a')) t USING (id)":                      true,
		"SELECT 1 FROM notes JOIN (SELECT * FROM coalesce('a', 'b') v) t (id) USING (id)":                 true,
		"SELECT 1 FROM notes JOIN (SELECT * FROM coalesce('a', 'b') id) t USING (id)":                     true,
		"SELECT 1 FROM notes JOIN (SELECT v FROM coalesce('a', 'b') v) t (id) USING (id)":                 true,
		"SELECT 1 FROM notes JOIN (SELECT n.id, n.body FROM notes n, now() v) t (id, b) USING (id)":       false,
		"SELECT 1 FROM notes JOIN (SELECT v.* FROM coalesce('a', 'b') v (id)) t USING (id)":               true,
		"SELECT 1 FROM notes JOIN (SELECT v.* FROM notes n, coalesce('a', 'b') v) t (id) USING (id)":      true,
		"SELECT 1 FROM notes JOIN (SELECT n.* FROM notes n, now() v) t (id, b) USING (id)":                false,
		"SELECT 1 FROM notes JOIN (SELECT n.* FROM notes n, lower('a') id) t USING (id)":                  false,
		"SELECT 1 FROM notes JOIN (SELECT n.*, v FROM notes n, pi() v) t (x, y, id) USING (id)":           true,
		"SELECT 1 FROM notes JOIN (SELECT v AS id FROM unnest('{a}'::text[]) v) t USING (id)":             false,
		"SELECT 1 FROM notes JOIN (SELECT s.id AS x FROM shared JOIN pi() s (id) ON true) t USING (x)":    true,
		"SELECT 1 FROM notes JOIN (SELECT id FROM lower('a') s (id) OFFSET 0) t USING (id)":               false,
		"SELECT 1 FROM notes JOIN lower($1) s (id) USING (id)":                                            false,
		"SELECT 1 FROM notes JOIN unnest(ARRAY['a']) s (id) USING (id)":                                   false,
		"SELECT 1 FROM notes JOIN shared USING (id), lower('a') s (id)":                                   false,
		"SELECT 1 FROM notes JOIN (SELECT shared.id FROM shared, lower('a') s (x)) t USING (id)":          false,
		"SELECT 1 FROM notes JOIN json_to_record($1) AS s (id text) USING (id) WHERE notes.id = $2::text": false,
		"SELECT 1 FROM notes GROUP BY id HAVING shop.bool_or(id, 'a')":                                    true,
		"SELECT 1 FROM notes GROUP BY id HAVING bool_or(id = id, 'a')":                                    false,
		"SELECT 1 FROM notes GROUP BY id HAVING shop.has(DISTINCT id, 'a')":                               false,
		"SELECT 1 FROM notes WHERE id::shop.bool AND shop.bool(id)":                                       false,
		"SELECT 1 FROM notes WHERE id::pg_catalog.bool":                                                   true,
		"SELECT 1 FROM notes WHERE id = $1::text('x' ~ id)":                                               false,
		"SELECT 1 FROM notes WHERE id = CASE WHEN $1 THEN NULL ELSE 'a' END":                              false,
		"SELECT 1 FROM notes WHERE id = CASE WHEN $1 THEN 'a' END":                                        true,
		"SELECT 1 FROM notes WHERE id = CASE WHEN $1 THEN 'b' ELSE 'a' END":                               true,
		"SELECT 1 FROM notes WHERE id = CASE WHEN $1 THEN NULL WHEN $2 THEN NULL ELSE 'a' END":            true,
		"SELECT 1 FROM notes WHERE id = CASE $1 WHEN $2 THEN NULL ELSE 'a' END":                           true,
		"SELECT 1 FROM notes WHERE id = CASE WHEN true THEN NULL ELSE 'a' END":                            true,
		"SELECT 1 FROM notes WHERE id::bool[]":                                                            false,
	} {
		stmt, fault := tree.Parse(text)
		if fault != nil {
			t.Fatal(text, fault)
		}
		if got := bare(stmt.Stmt, true); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// Ensure a report may be grouped by many computed columns.
func TestHideManyGroups(t *testing.T) {
	grouped := func(n int) string {
		var list, by []string
		for i := range n {
			list, by = append(list, fmt.Sprintf("coalesce(id, 'a%d')", i)), append(by, strconv.Itoa(i+1))
		}
		return "SELECT " + strings.Join(list, ", ") + " FROM notes GROUP BY " + strings.Join(by, ", ")
	}
	for _, text := range []string{grouped(200), grouped(200) + " HAVING coalesce(id, 'a0') = 'b'", "SELECT count(*) FROM (" + grouped(200) + ") s"} {
		stmt, fault := tree.Parse(text)
		if fault != nil {
			t.Fatal(fault)
		}
		if _, fault := analyze.Analyze(stmt, treetest.Catalog()); fault != nil {
			t.Errorf("%.40s: %+v", text, fault)
		}
	}
}

// Ensure what is looked at stays as it is.
func TestKeepsUnsteadyKeepsTheTree(t *testing.T) {
	const text = "SELECT concat('a', random())"
	stmt, fault := tree.Parse(text)
	again, _ := tree.Parse(text)
	if fault != nil {
		t.Fatal(fault)
	}
	n := stmt.Stmt.GetSelectStmt().TargetList[0].GetResTarget().Val
	if !keepsUnsteady(n) || !tree.Equal(stmt.Stmt, again.Stmt) {
		t.Error("the call is not as it was")
	}
}

// Ensure aggregates, windows and volatile calls of the level are found, and those of a sub-query are not.
func TestIsOfRows(t *testing.T) {
	for text, want := range map[string]bool{
		"concat(CASE WHEN count(*) IN (SELECT 1) THEN 'a' END)": true, "concat(rank() OVER ())": true, "concat(sum(id))": true, "concat(GROUPING (id))": true, "concat(random())": true,
		"concat(generate_series(1, 2))": true, "concat(lower('a'), id)": false, "concat((SELECT count(*)))": false, "concat(1 IN (SELECT count(*) FROM notes))": false,
	} {
		stmt, fault := tree.Parse("SELECT " + text + " FROM notes")
		if fault != nil {
			t.Fatal(fault)
		}
		if got := isOfRows(tree.Unwrap(stmt.Stmt.GetSelectStmt().TargetList[0].GetResTarget().Val)); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
