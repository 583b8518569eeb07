package smith_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/policy"
)

// TestConstantsInTheirPlaces runs statements in which a constant may be more than its value. As
// they are and without their constants they must do the same, with a plan for the values and
// with one for any: a listener that is in a transaction can't run the text once more.
func TestConstantsInTheirPlaces(t *testing.T) {
	conn, err := pgconn.Connect(t.Context(), pgtest.Cluster(t).AdminURL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	run(t, conn, places)
	for _, text := range inPlaces {
		want := outcome(t, conn, func() *pgconn.ResultReader { return conn.ExecParams(t.Context(), text, nil, nil, nil, nil) })
		p, ok := policy.Parametrize(text)
		if !ok {
			continue
		}
		values := make([][]byte, len(p.Args))
		for i, a := range p.Args {
			values[i] = []byte(a.Text)
		}
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			run(t, conn, "SET plan_cache_mode = "+mode)
			got := outcome(t, conn, func() *pgconn.ResultReader { return conn.ExecParams(t.Context(), p.Text, values, p.Types, nil, nil) })
			if got != want && (len(got) != 5 || len(want) != 5) {
				t.Errorf("%s\n as %s (%s)\n got %s\nwant %s", text, p.Text, mode, got, want)
			}
		}
	}
}

func run(t *testing.T, conn *pgconn.PgConn, text string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), text).ReadAll(); err != nil {
		t.Fatal(err)
	}
}

// places are the tables of inPlaces.
const places = `
	CREATE TEMP TABLE a (id int, title text, "limit" text, "offset" text, "for" text, "returning" text);
	CREATE UNIQUE INDEX ON a (id, title) WHERE length(title) = 2;
	CREATE UNIQUE INDEX ON a (mod(id, 100), title) WHERE length(title) <> 2;
	INSERT INTO a VALUES (1, 'a', '1', '1', '1', '1'), (2, 'c', '1', '1', '1', '1'), (3, 'b', '1', '1', '1', '1');
	CREATE TEMP TABLE b (id int, hours interval hour, seconds interval minute to second, three varchar(3), flag bit(3), fixed char(4), price numeric(5,2), at timestamp(0), doc json, docs jsonb, names text[], raw bytea, day date);
	INSERT INTO b VALUES (1, '1', '1:02', 'abc', '101', 'ab', 1.25, '2020-01-01 10:00:00.6', '{}', '{"a": 5}', '{x,y}', '\x01', '2020-01-01');
	CREATE DOMAIN pg_temp.short AS varchar(3);
	CREATE TEMP TABLE d (s pg_temp.short)`

var inPlaces = strings.Split(strings.TrimSpace(`
SELECT title like'a%', 5 FROM a
SELECT title ilike'A%', 5 FROM a
SELECT title not like'a%', title='a' FROM a
SELECT 1 FROM a WHERE title like'a%'and id=3
SELECT title FROM a ORDER BY a.limit, 1 DESC
SELECT title FROM a ORDER BY a.offset, 1 DESC
SELECT title FROM a ORDER BY a.for, 1 DESC
SELECT title FROM a ORDER BY a.returning, 1 DESC
SELECT title FROM a ORDER BY a . /* c */ LIMIT, 1 DESC
SELECT title FROM a ORDER BY a."limit", 1 DESC LIMIT 2
SELECT title, a.limit AS limit, a.order FROM (SELECT title, "limit", 1 AS order FROM a) a ORDER BY "limit", 1 LIMIT 2
SELECT title FROM a ORDER BY (SELECT 1 AS limit LIMIT 1), 1
SELECT id, random() * 5 FROM a, (SELECT setseed(0.5) IS NULL OFFSET 0) s ORDER BY random() * 5
SELECT random() * 5 AS k, random() * 5 + 1 FROM a, (SELECT setseed(0.5) IS NULL OFFSET 0) s ORDER BY k
INSERT INTO a VALUES (4, 'xx'), (4, 'xx') ON CONFLICT (id, title) WHERE length(title) = 2 DO NOTHING
INSERT INTO a VALUES (101, 'a') ON CONFLICT (mod(id, 100), title) WHERE length(title) <> 2 DO UPDATE SET id = 7, title = 'q' WHERE a.id = 1 RETURNING id, 5
INSERT INTO a VALUES (5, 'y') ON CONFLICT DO NOTHING RETURNING id + 1
SELECT id FROM b WHERE hours = '1' OR seconds < '1:02'
INSERT INTO b (three, flag, fixed, price, at) VALUES ('abc   ', '101', 'ab   ', '1.234', '2020-01-01 10:00:00.6') RETURNING *
UPDATE b SET three = 'abc   ', flag = '111', fixed = 'x', price = '1.239', at = '2020-01-01 10:00:00.6' RETURNING *
UPDATE b SET three = 'abcd'
UPDATE b SET flag = '1'
UPDATE b SET doc = '{"b":1}', docs = '{"b":1}', names = '{"q"}', raw = '\x02', day = '2021-01-01' RETURNING *
UPDATE b SET names[1] = 'q', docs['b'] = '7' RETURNING *
UPDATE b SET (id, three) = (7, 'abc') RETURNING *
UPDATE b SET id = DEFAULT, three = ('abc') WHERE id = 1 RETURNING *
INSERT INTO b (three, names[1]) VALUES ('abc', 'd') RETURNING *
INSERT INTO d VALUES ('abc  ') RETURNING s
INSERT INTO d VALUES ('abcd') RETURNING s
UPDATE d SET s = 'abcd'
INSERT INTO a (title, id) SELECT 'x', (5) RETURNING *
INSERT INTO b (three, day) SELECT 'x', ('2020-01-01') RETURNING three, day
INSERT INTO b (three, names) SELECT 'x', ('{a,b}') RETURNING three, names
INSERT INTO a (title) SELECT title FROM a WHERE (id, title) IN (SELECT 1, ('c')) AND ('a', 'b') IS NOT NULL RETURNING title
INSERT INTO a (title) SELECT v.x FROM (VALUES ('a'), ('b')) v (x) RETURNING title
INSERT INTO a (id, title) VALUES (1, 'x') RETURNING id, ('a', 'b'), ('c')
INSERT INTO a (title) SELECT to_json(('a', 'b'))
INSERT INTO a (title, "limit") SELECT 'p', to_json(r)::text FROM (SELECT 1 AS values, ('a', 'b')) r RETURNING *
SELECT a.title, b.title FROM a FULL JOIN (SELECT 'z' AS title) b ON 1 = 1 ORDER BY a.title
SELECT a.title, b.title FROM a FULL JOIN a b ON a.id = b.id AND 2 > 1 ORDER BY a.title
SELECT a.title, b.title FROM a FULL JOIN a b ON a.id = b.id AND a.title = 'a' ORDER BY a.title
SELECT a.title, b.title FROM a LEFT JOIN a b ON a.id = b.id AND a.title = 'a' AND 1 = 1 ORDER BY a.title
SELECT varbit(5) '101', id FROM a WHERE id = 1
SELECT pg_catalog.varbit(5) '101', pg_catalog.varchar(2) 'abc' FROM a WHERE id = 1
SELECT pg_catalog."varchar"(2) 'abc', char(2) 'abc', bpchar(2) 'abc' FROM a WHERE id = 1
SELECT CAST('10111' AS varbit(3)), '1011'::varbit(3), '101111'::pg_catalog.varbit(3) FROM a WHERE id = 1
SELECT interval '1' DAY, interval '1' SECOND(3), interval(3) '1.23456', interval '1 2' day to hour, time(0) '10:00:00.6' FROM a WHERE id = 1
SELECT t.a FROM json_to_record('{"a":"10111"}') AS t(a varbit(5), b varchar(3)) WHERE 1 = 1
SELECT t.a FROM json_to_record('{"a":"10111"}') t(a varbit(5), "b c" varchar(3), c numeric(5,2)) WHERE 1 = 1
SELECT t.a FROM ROWS FROM (json_to_record('{"a":"10111"}') AS (a varbit(5), b pg_catalog.varbit(3))) t WHERE 1 = 1
SELECT title FROM a WHERE title LIKE 'a!%' ESCAPE '!' OR title LIKE 'c'
SELECT title FROM a WHERE title LIKE ANY ('{a,b}') OR title LIKE ANY (ARRAY['c','d'])
SELECT title FROM a ORDER BY title OFFSET 1 ROWS
SELECT title FROM a ORDER BY title LIMIT (1 + 1) OFFSET 1
SELECT title FROM a WHERE title IS NOT DISTINCT FROM 'a'
SELECT CASE 'a' WHEN 'b' THEN 1 WHEN 'a' THEN 2 ELSE 3.5 END, CASE title WHEN 'a' THEN 'x' ELSE 'y' END FROM a ORDER BY 1
SELECT CASE WHEN title = 'a' THEN '1' ELSE 2 END FROM a ORDER BY 1
SELECT CASE id WHEN 1 THEN 'x' WHEN 2.5 THEN 'z' ELSE 'y' END FROM a ORDER BY 1
SELECT id FROM b WHERE docs->>'a' = '5' AND docs->'a' = '5' AND docs = '{"a":5}' AND (docs->'a')::int = 5
SELECT id FROM b WHERE doc IN ('a')
SELECT id FROM b WHERE docs IN ('{"a":5}', '1') AND names IN ('{x,y}') AND names = '{x,y}' AND names[1] = 'x' AND raw IN ('\x01')
SELECT id FROM b WHERE day IN ('2020-01-01') AND day >= '2020-01-01' AND day BETWEEN '2020-01-01' AND '2020-01-02'
SELECT id FROM b WHERE day + 1 = '2020-01-02' AND day - 1 < at AND day - '2019-12-31' = 1
SELECT id FROM b WHERE (id, three) IN ((1, 'abc')) AND (id, three) = (1, 'abc') AND (three, id) IN (SELECT 'abc', 1)
SELECT id FROM b WHERE three IN (SELECT 'abc') AND (id, three, id) IN (SELECT 1, 'abc', 1)
SELECT 'a' IN ('a', 'b'), 'a' = 'a', NULL = 'a', coalesce(NULL, 'a') = 'a', position('b' in ('abc')) FROM a
SELECT id IN (1, 2.5), title IN ('1', title) FROM a ORDER BY id
SELECT id FROM a WHERE id = ALL (ARRAY[1, 1]) OR id = ANY ('{2}')
SELECT v.x FROM (VALUES (1), (2.5)) v (x) WHERE v.x > 1
SELECT v.x FROM (VALUES ('a'), ('b')) v (x) WHERE v.x = 'a'
SELECT '5' = 5, 5 = '5', 5 + '3', -5 ^ 2, - 5 % 3, 5 / 2, 5.0 / 2, +5, 007, 1.50, 5::numeric(5,2), 5::bit(4), 1.5::int FROM a WHERE id = 1
SELECT substring('abcdef' FROM 2 FOR 3), overlay('abc' PLACING 'x' FROM 2), trim(both 'x' FROM 'xax') = 'a', extract(year FROM day) = 2020 FROM b
SELECT concat(1, 2.50), format('%s', 5), jsonb_build_array(1, 2.50), array_fill(0, ARRAY[3]), coalesce(id, 5), greatest(1, 2.5), nullif(5, 5), array_agg(id ORDER BY 1) FROM a WHERE id = 1 AND id IN (SELECT 1) OR id = 9 AND title = '' AND id = 1 AND false AND true
SELECT count(*), string_agg(title, ',' ORDER BY title), count(*) FILTER (WHERE id > 1), sum(1), 5 FROM a WHERE id < 3
SELECT generate_series(1, 3), (ARRAY[5, 6])[1], (ARRAY[5, 6])[(1)], ARRAY(SELECT id FROM a WHERE id < 3 ORDER BY 1)
SELECT x.n FROM generate_series(1, 3) WITH ORDINALITY x (n, o) WHERE n > 1
SELECT g FROM generate_series(1, 10, 3) g WHERE g > 1 ORDER BY 1 LIMIT 1.5
SELECT id, 5 AS five FROM a ORDER BY five, id
SELECT title FROM a WHERE title = 'a' COLLATE "C" OR title < 'b'
SELECT title FROM a ORDER BY title USING <, 1
SELECT id FROM a WHERE (title = 'a') IS TRUE OR title = 'b' IS TRUE
SELECT row(1, 'a') = row(1, 'a'), (1, 'a') < (2, 'b') FROM a
DELETE FROM a WHERE id = 1 AND title IN ('c', 'd') RETURNING id, title, 5
`), "\n")
