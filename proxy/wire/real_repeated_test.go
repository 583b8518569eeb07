package wire

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// For Postgres two expressions are one if their trees are equal. It calls a function that returns a set once for all that repeat it,
// and a volatile one, and has NULL for the expression in the rows of totals.
var repeating = map[string]bool{ // whether a cursor is refused
	"SELECT * FROM (SELECT generate_series(1, 2) AS g, row_number() OVER (ORDER BY generate_series(1, 2)) FROM notes WHERE id = 1) s":                                                                               false,
	"SELECT * FROM (SELECT generate_series(1, 2) * 10 AS g, rank() OVER (PARTITION BY generate_series(1, 2)) FROM notes) s":                                                                                         false,
	"WITH s AS (SELECT unnest(ARRAY['a', 'b']) AS k, rank() OVER w FROM notes WINDOW w AS (ORDER BY unnest(ARRAY['a', 'b']))) SELECT * FROM s":                                                                      false,
	"SELECT * FROM (SELECT generate_series(date '2024-01-01', '2024-01-03', '1 day')::date AS a, rank() OVER (ORDER BY generate_series(date '2024-01-01', '2024-01-03', '1 day')::date) FROM notes WHERE id = 1) s": false,
	"SELECT bool_and(r >= p) FROM (SELECT r, lag(r) OVER (ORDER BY n) AS p FROM (SELECT random() * 9 AS r, row_number() OVER (ORDER BY random() * 9) AS n FROM notes, generate_series(1, 20)) s) t":                 false,
	"SELECT bool_and(b = a + 1) FROM (SELECT random() * 2 AS a, random() * 2 + 1 AS b, count(*) FROM notes GROUP BY random() * 2) s":                                                                                false,
	"SELECT count(*) FROM (SELECT random() * 2 AS k, (random() * 2)::text AS l FROM notes ORDER BY k) s WHERE k::text <> l":                                                                                         false,
	"SELECT count(*) FROM (SELECT random() * 2 AS k, (random() * 2)::text AS l FROM notes ORDER BY 1) s WHERE k::text <> l":                                                                                         false,
	"SELECT count(*) FROM (SELECT DISTINCT ON (k) random() * 2 AS k, (random() * 2)::text AS l FROM notes ORDER BY k) s WHERE k::text <> l":                                                                         false,
	"SELECT count(*) FROM (SELECT floor(random() * 1000) AS r, 'n' || floor(random() * 1000) AS l FROM notes ORDER BY r LIMIT 5) s WHERE 'n' || r <> l":                                                             false,
	"SELECT count(*) FROM (SELECT clock_timestamp() + '1 day' AS a, (clock_timestamp() + '1 day')::text::timestamptz AS l FROM notes ORDER BY a) s WHERE a <> l":                                                    false,
	"SELECT count(*) FROM (SELECT gen_random_uuid()::text || '-x' AS r, upper(gen_random_uuid()::text || '-x') AS l FROM notes ORDER BY r) s WHERE upper(r) <> l":                                                   false,
	"SELECT count(*) FROM (SELECT coalesce(random() * 2, 5) AS k, coalesce(random() * 2, 5)::text AS l FROM notes ORDER BY k) s WHERE k::text <> l":                                                                 true,
	"SELECT * FROM (SELECT generate_series(1, 3) AS k, rank() OVER (ORDER BY generate_series(1, 3::int)) FROM notes) s":                                                                                             false,
	"SELECT * FROM (SELECT generate_series(1, 3) AS k, generate_series(1, 3 + 0), count(*) FROM notes GROUP BY 1) s":                                                                                                false,
	"SELECT * FROM (SELECT unnest(ARRAY['a', 'b']) AS k, rank() OVER (ORDER BY unnest('{a,b}'::text[])) FROM notes) s":                                                                                              false,
	"SELECT count(*) FROM (SELECT generate_series(current_date, current_date + 1, '1 day') AS k, rank() OVER (ORDER BY generate_series(current_date, current_date + 1, interval '1 day')) FROM notes) s":            false,
	"SELECT count(*) FROM (SELECT random() > '0.5' AS a, random() > 0.5::float8 AS b FROM notes, generate_series(1, 20) ORDER BY a) s WHERE a <> b":                                                                 false,
	"SELECT * FROM (SELECT generate_series(1, 3) IS DISTINCT FROM id AS k, id FROM notes) s":                                                                                                                        false,

	"SELECT * FROM (SELECT current_date IS NULL AS k, to_char(current_date, 'YYYY') < '2000' AS y, body, count(*) FROM notes GROUP BY ROLLUP (current_date, body)) s":                                              false,
	"SELECT * FROM (SELECT date_trunc('month', now()) IS NULL AS m, to_char(date_trunc('month', now()), 'YYYY-MM') < '2000' AS l, body, count(*) FROM notes GROUP BY ROLLUP (date_trunc('month', now()), body)) s": false,
	"SELECT * FROM (SELECT coalesce(body, 'all') AS body, sum(id) FROM notes GROUP BY ROLLUP (body) HAVING body IS NOT NULL OR GROUPING (body) = 1) s":                                                             true,
	"SELECT * FROM (SELECT id, id > 1 AS big, id - 1 AS delta FROM notes GROUP BY server_id, id, ROLLUP (id > 1)) s":                                                                                               true,
	"SELECT * FROM (SELECT coalesce(lower(body), 'z') AS h, upper(coalesce(lower(body), 'z')) AS g, count(*) FROM notes GROUP BY 1 ORDER BY 1) s":                                                                  false,
	"SELECT * FROM (SELECT id, date '2024-01-01' + generate_series(0, 2) AS k FROM notes) s":                                                                                                                       false,
	"SELECT id FROM notes WHERE at < clock_timestamp() - interval '1 day' AND random() * interval '1 day' < '2 days'":                                                                                              false,
	"SELECT * FROM (SELECT body IN ('a', 'b'), body = 'c' FROM notes GROUP BY GROUPING SETS ((body), (body IN ('a', 'b')), ())) s":                                                                                 true,
	"SELECT * FROM (SELECT coalesce(body, 'x'), body || 'z' FROM notes GROUP BY server_id, id, ROLLUP (coalesce(body, 'x'))) s":                                                                                    true,
	"SELECT * FROM (SELECT ARRAY['01', '2']::int[] AS a, ARRAY['01', '2'] AS b, count(*) FROM notes GROUP BY ARRAY['01', '2']) s":                                                                                  false,

	"SELECT generate_series(1, (SELECT min(id) + 1 FROM notes)) AS g, count(*) FROM notes GROUP BY generate_series(1, (SELECT min(id) + 1 FROM notes))":                false,
	"SELECT unnest(ARRAY(SELECT id FROM notes WHERE id < 3)) AS g, rank() OVER (ORDER BY unnest(ARRAY(SELECT id FROM notes WHERE id < 3))) FROM notes WHERE id = 1":    false,
	"SELECT (SELECT count(*) FROM notes) AS total, body, count(*) FROM notes GROUP BY GROUPING SETS (((SELECT count(*) FROM notes), body), (body), ())":                false,
	"SELECT EXISTS (SELECT 1 FROM notes n JOIN notes m USING (id)) AS e, body FROM notes GROUP BY CUBE (EXISTS (SELECT 1 FROM notes n JOIN notes m USING (id)), body)": false,
	"SELECT id, (SELECT max(m.id) FROM notes m WHERE m.id > n.id) FROM notes n GROUP BY server_id, id, ROLLUP ((SELECT max(m.id) FROM notes m WHERE m.id > n.id))":     false,
	"SELECT sum(h) FROM (SELECT generate_series(1, 3) AS g, generate_series(1, 3) * 10 AS h, count(*) FROM notes GROUP BY 1) s":                                        false,
	"SELECT * FROM (SELECT unnest(ARRAY['a', 'b']) AS g, unnest(ARRAY['a', 'b']) || 'x' AS h, count(*) FROM notes GROUP BY unnest(ARRAY['a', 'b'])) s":                 false,
	"SELECT * FROM (SELECT DISTINCT ON (generate_series(1, 2)) generate_series(1, 2) * 10 AS h FROM notes ORDER BY generate_series(1, 2)) s":                           false,
	"SELECT * FROM (SELECT to_hex(-2147483648), 00003000000001 / 2, -2147483648 AS x, -9223372036854775808 AS y, 2147483648 AS z FROM notes WHERE id = 1) s":           false,
	"SELECT id FROM notes WHERE to_hex(-2147483648) = '80000000'":                                                                                                      false,

	// The left side of IN belongs to the level around the sub-query.
	"SELECT * FROM (SELECT body, concat(CASE WHEN count(*) IN (SELECT n.id FROM notes n WHERE n.id > 0) THEN 'y' ELSE 'n' END, '!') AS k FROM notes GROUP BY body) s":                                                               false,
	"SELECT * FROM (SELECT length(CASE WHEN count(*) IN (SELECT n.id FROM notes n WHERE n.id > 3) THEN 'yes' ELSE 'no' END) FROM notes) s":                                                                                          false,
	"SELECT * FROM (SELECT upper(CASE WHEN (count(*) OVER (), 1) IN (SELECT 2, 1) THEN 'yes' ELSE 'no' END) FROM notes) s":                                                                                                          false,
	"SELECT id FROM notes WHERE 'all' = (SELECT concat(CASE WHEN count(*) IN (SELECT 2) THEN 'all' ELSE 'part' END) FROM notes)":                                                                                                    false,
	"SELECT count(DISTINCT k) FROM (SELECT concat(CASE WHEN floor(random() * 2)::int IN (SELECT 1) THEN 'y' ELSE 'n' END) AS k FROM notes, generate_series(1, 60)) s":                                                               false,
	"SELECT lower(body) AS k, sum(id) FROM notes GROUP BY lower(body) HAVING left(CASE WHEN lower(body) = ANY (SELECT n.body FROM notes n) THEN 'yes' ELSE 'no' END, 1) = 'y'":                                                      false,
	"SELECT * FROM (SELECT concat(CASE WHEN EXISTS (SELECT 1 FROM notes n WHERE n.id > m.id) THEN 'y' ELSE 'n' END, '!') FROM notes m GROUP BY CASE WHEN EXISTS (SELECT 1 FROM notes n WHERE n.id > m.id) THEN 'y' ELSE 'n' END) s": false,
	"SELECT coalesce(body, 'x') IN (SELECT n.body FROM notes n) AS k, count(*) FROM notes GROUP BY coalesce(body, 'x')":                                                                                                             false,
	"SELECT * FROM (SELECT body, coalesce(body, 'x') IN (SELECT n.body FROM notes n) AS l, count(*) FROM notes GROUP BY body, ROLLUP (coalesce(body, 'x'))) s":                                                                      true,

	// A cast gives the literals of an array their type, and nothing else in it.
	"SELECT * FROM (SELECT ARRAY[coalesce(body, 'x')]::text[] AS k, count(*) FROM notes GROUP BY coalesce(body, 'x')) s":                                   false,
	"SELECT * FROM (SELECT ARRAY[ARRAY[CASE WHEN id > 1 THEN 1 ELSE 0 END]]::int[] AS k, CASE WHEN id > 1 THEN 1 ELSE 0 END AS b FROM notes GROUP BY 2) s": false,
	"SELECT * FROM (SELECT least(id, 5) AS a, greatest(id, 5) AS b, count(*) FROM notes GROUP BY id, ROLLUP (least(id, 5))) s":                             true,
	"SELECT * FROM (SELECT id > 1 AS a, id > 0 AS b, count(*) FROM notes GROUP BY id, ROLLUP (id > 1)) s":                                                  true,
}

// respelled are those in which a value is hidden in one of two spellings.
var respelled = []string{
	"SELECT * FROM (SELECT id, body = 'a'::text FROM notes GROUP BY server_id, id, ROLLUP (body = 'a')) s",
	"SELECT * FROM (SELECT id, body = 'a'::text, count(*) FROM notes GROUP BY server_id, id, ROLLUP (body = 'a')) s",
	"SELECT * FROM (SELECT body = 'a'::text, count(*) FROM notes GROUP BY server_id, id, ROLLUP (body = 'a')) s",
	"SELECT * FROM (SELECT body IN ('a', 'b'), count(*) FROM notes GROUP BY server_id, id, ROLLUP (body = ANY (ARRAY['a', 'b']))) s",
	"SELECT body = 'a', count(*) FROM notes GROUP BY body, CUBE (body = 'a'::text) HAVING body = 'a'",
	"SELECT * FROM (SELECT id > '01', count(*) FROM notes GROUP BY id, ROLLUP (id > 1)) s",
	"SELECT * FROM (SELECT at > '2024-01-02 00:00', count(*) FROM notes GROUP BY at, ROLLUP (at > '2024-01-02')) s",
	"SELECT * FROM (SELECT coalesce(body, 'x'::text) IN (SELECT n.body FROM notes n), count(*) FROM notes GROUP BY body, ROLLUP (coalesce(body, 'x'))) s",
}

var rowsOf = regexp.MustCompile(`row\([^)]*\)`)

// Ensure the answers are those of a database that has the server's rows alone, also from a cursor, unless one is refused.
func TestRealRepeated(t *testing.T) {
	w, admin := onPostgres(t)
	if _, err := admin.Exec(t.Context(), "DELETE FROM notes WHERE server_id = 'other'; ALTER TABLE notes ADD PRIMARY KEY (server_id, id); INSERT INTO notes (server_id, id, body) SELECT server_id, 2, 'b' FROM notes"); err != nil {
		t.Fatal(err)
	}
	rows := func(answer string) string {
		found := rowsOf.FindAllString(answer, -1)
		slices.Sort(found)
		return strings.Join(found, " ")
	}
	for query, refused := range repeating {
		results, err := admin.PgConn().Exec(t.Context(), query).ReadAll()
		if err != nil {
			t.Fatal(query, err)
		}
		var alone strings.Builder
		for _, row := range results[0].Rows {
			alone.WriteString("row(" + string(bytes.Join(row, []byte(","))) + ")")
		}
		if got := w.query(query); rows(got) != rows(alone.String()) {
			t.Errorf("%s\n%s\nalone %s", query, got, alone.String())
		}
		got := w.query("BEGIN; DECLARE c CURSOR FOR " + query + "; FETCH ALL c")
		w.query("ROLLBACK")
		if strings.Contains(got, "ERROR 0A000") != refused || !refused && rows(got) != rows(alone.String()) {
			t.Errorf("cursor for %s\n%s\nalone %s", query, got, alone.String())
		}
	}
	for _, query := range []string{
		"SELECT floor(random() * $1) AS a, floor(random() * $1) + 1 AS b FROM notes ORDER BY a", "SELECT floor(random() * $1) AS a, floor(random() * $1) + 1 AS b FROM notes ORDER BY 1",
		"SELECT floor(random() * $1) AS a, floor(random() * $1) + 1 AS b FROM notes ORDER BY floor(random() * $1)",
		"SELECT generate_series(1, $1) AS a, generate_series(1, $1) AS b, rank() OVER (PARTITION BY generate_series(1, $1)) FROM notes",
	} {
		w.query("BEGIN")
		w.is(w.pipe(step("DECLARE c CURSOR FOR SELECT * FROM ("+query+") s", "5")...), "parsed ERROR 0A000 E")
		w.query("ROLLBACK")
	}
	w.query("BEGIN")
	w.is(w.pipe(&pgproto3.Parse{Query: "DECLARE c CURSOR FOR SELECT id FROM notes WHERE id = $1[1]", ParameterOIDs: []uint32{1007}}, &pgproto3.Bind{Parameters: [][]byte{[]byte("{1}")}}, &pgproto3.Execute{}),
		"parsed bound <DECLARE CURSOR> T")
	w.is(w.query("FETCH c; ROLLBACK"), "columns(id:23) row(1) <FETCH 1> <ROLLBACK> I")
	for _, query := range respelled {
		if got := w.query(query); !strings.HasPrefix(got, "ERROR 42501@") {
			t.Errorf("%s\n%s", query, got)
		}
	}
}
