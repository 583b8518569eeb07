package wire

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Ensure what is hidden from the planner has the name and the type that it had.
func TestRealNamesOfHidden(t *testing.T) {
	w, _ := onPostgres(t)
	for query, columns := range map[string]string{
		"SELECT * FROM (SELECT (now()) FROM notes) s":                                                                                    "now:1184",
		"SELECT * FROM (SELECT (now())::date FROM notes) s":                                                                              "now:1082",
		"SELECT * FROM (SELECT now(), count(*) FROM notes GROUP BY now()) s":                                                             "now:1184,count:20",
		"SELECT * FROM (SELECT ((current_date)), count(*) FROM notes GROUP BY current_date) s":                                           "current_date:1082,count:20",
		"SELECT * FROM (SELECT date_trunc('month', now()), id FROM notes GROUP BY date_trunc('month', now()), id) s":                     "date_trunc:1184,id:23",
		"SELECT * FROM (SELECT (interval '1' day) FROM notes) s":                                                                         "interval:1186",
		"WITH s AS (SELECT (current_date), id FROM notes) SELECT s.current_date FROM s":                                                  "current_date:1082",
		"SELECT now(), count(*) FROM notes GROUP BY now() HAVING now() IS NOT NULL":                                                      "now:1184,count:20",
		"SELECT * FROM (SELECT 'abcd'::varchar(3)::text, '5'::numeric(3,1)::int, (N'ab'::varchar(3)) FROM notes) s":                      "text:25,int4:23,varchar:1043",
		"SELECT * FROM (SELECT CASE WHEN percentile_disc(0.5) WITHIN GROUP (ORDER BY id) > 1 THEN 'b' ELSE 'c' END, ('a') FROM notes) s": "case:25,?column?:25",
		"SELECT N'ab', count(*) FROM notes GROUP BY N'ab' HAVING N'ab' IS NOT NULL":                                                      "bpchar:1042,count:20",
		"SELECT s.numeric, s.bpchar FROM (SELECT ('5')::numeric(3,1), N'ab', count(*) FROM notes GROUP BY ('5')::numeric(3,1), N'ab') s": "numeric:1700,bpchar:1042",
		"SELECT * FROM (SELECT CASE WHEN id IS DISTINCT FROM 1 THEN 'a' ELSE 'b' END FROM notes UNION SELECT 'c') s":                     "case:25",
		"SELECT * FROM (SELECT CASE WHEN id > 1 THEN interval '2' day ELSE interval '1' day END FROM notes) s":                           "case:1186",
		"SELECT s.text FROM (SELECT ('abcd'::varchar(3) COLLATE \"C\")::text, ('{1}'::int[])[1], 'x' FROM notes) s":                      "text:25",
		`SELECT * FROM (SELECT body COLLATE "C" AS z FROM notes UNION SELECT 'TI' COLLATE "C") s`:                                        "z:25",
	} {
		w.is(w.pipe(&pgproto3.Parse{Query: query}, &pgproto3.Describe{ObjectType: 'S'}), "parsed params[] columns("+columns+") I")
	}
}

// Ensure a constant of a sub-query has the name that Postgres makes of it, also in a cursor.
func TestRealNamesOfConstants(t *testing.T) {
	w, _ := onPostgres(t)
	const query = "SELECT * FROM (SELECT 'x', 1, 'a'::text, $$1$$::text::int, CASE WHEN id > 1 THEN 'y' ELSE 'z' END, upper('u'), 'abcd'::varchar(3)::text FROM notes) s"
	const columns = "columns(?column?:25,?column?:23,text:25,int4:23,case:25,upper:25,text:25) row(x,1,a,1,z,U,abc)"
	w.is(w.query(query), columns+" <SELECT 1> I")
	w.is(w.query("BEGIN; DECLARE c CURSOR FOR "+query+"; FETCH ALL c; ROLLBACK"), "<BEGIN> <DECLARE CURSOR> "+columns+" <FETCH 1> <ROLLBACK> I")
	for _, twice := range []string{
		"CASE WHEN id > 1 THEN body ELSE 'x' END", "('{a,b}'::text[])[id]", "'abcd'::varchar(3)", "('abcd')::varchar(3)", "((-1))::numeric(3,1)", "N'ab'",
	} {
		for _, q := range []string{
			"SELECT * FROM (SELECT %, count(*) FROM notes GROUP BY %) s", "SELECT %, count(*) FROM notes GROUP BY % HAVING % IS NOT NULL", "SELECT * FROM (SELECT DISTINCT id, % FROM notes ORDER BY id, %) s",
			"SELECT s.* FROM (SELECT id, % FROM notes WHERE id < 9 ORDER BY % LIMIT 1) s",
		} {
			q = strings.ReplaceAll(q, "%", twice)
			plain := w.query(q)
			rows, _, ok := strings.Cut(plain, " <SELECT")
			if got := w.query("BEGIN; DECLARE c CURSOR FOR " + q + "; FETCH ALL c; ROLLBACK"); !ok || !strings.Contains(got, rows+" <FETCH") {
				t.Errorf("%s\n%s\n%s", q, plain, got)
			}
		}
	}
	w.is(w.query("BEGIN; DECLARE c CURSOR FOR SELECT N'ab', CASE WHEN id > 1 THEN 'x' ELSE 'y' END FROM notes GROUP BY N'ab', 2 HAVING CASE WHEN id > 1 THEN 'x' ELSE 'y' END > ''; FETCH ALL c; ROLLBACK"),
		"<BEGIN> <DECLARE CURSOR> columns(bpchar:1042,case:25) row(ab,y) <FETCH 1> <ROLLBACK> I")
	w.is(w.query("BEGIN; DECLARE c CURSOR FOR WITH s AS (SELECT 'x', id FROM notes) SELECT row_to_json(s) FROM s; FETCH ALL c; ROLLBACK"),
		`<BEGIN> <DECLARE CURSOR> columns(row_to_json:114) row({"?column?":"x","id":1}) <FETCH 1> <ROLLBACK> I`)
}

// Ensure what stands around a hidden expression and begins with it is put around it.
func TestRealNestedHidden(t *testing.T) {
	w, _ := onPostgres(t)
	for _, expression := range []string{
		"(now() > at) IS TRUE", "upper('zed') = body IS TRUE", "current_date = at::date IS NOT TRUE", "coalesce(now() > at, false) IS TRUE", "'x'::varchar(3) = body IS TRUE",
		"date '2020-01-01' < at::date IS NOT FALSE", "bool 't' IS TRUE", "date '2020-01-01' IS DISTINCT FROM at::date", "(date '2020-01-01') IS DISTINCT FROM at::date",
		"text 'x' IS DISTINCT FROM body", "now() + interval '1 day' IS DISTINCT FROM at", "('x'::national character varying(3)) = 'x'",
	} {
		got := w.query("SELECT x IS NULL FROM (SELECT " + expression + " AS x FROM notes) s")
		w.is(got, "columns(?column?:16) row(f) <SELECT 1> I")
	}
	w.is(w.query("SELECT x FROM (SELECT now() IS TRUE AS x FROM notes) s"), "ERROR 42804 I")
}

// Ensure a cursor and COPY group as a SELECT does, or refuse to.
func TestRealGroupsOfCommands(t *testing.T) {
	w, _ := onPostgres(t)
	for _, query := range []string{
		"SELECT * FROM (SELECT coalesce(body, 'n') AS k, coalesce(body, 'n') || 'z' FROM notes GROUP BY ROLLUP (coalesce(body, 'n'))) s",
		"SELECT body = 'a', body FROM notes GROUP BY ROLLUP (body = 'a', body) HAVING body = 'a'",
		"SELECT coalesce(body, 'n') FROM notes GROUP BY CUBE (coalesce(body, 'n')) HAVING coalesce(body, 'n') = 'q' OR coalesce(body, 'n') IS NULL",
	} {
		w.is(w.query("COPY ("+query+") TO STDOUT"), "ERROR 0A000 I")
		w.query("BEGIN")
		w.is(w.query("DECLARE c CURSOR FOR "+query), "ERROR 0A000 E")
		w.query("ROLLBACK")
	}
	w.is(w.query("BEGIN; DECLARE c CURSOR FOR SELECT k, k || 'z', count(*) FROM (SELECT coalesce(body, 'n') AS k FROM notes) s GROUP BY ROLLUP (k); FETCH ALL c; ROLLBACK"),
		"<BEGIN> <DECLARE CURSOR> columns(k:25,?column?:25,count:20) row(,,1) row(a,az,1) <FETCH 2> <ROLLBACK> I") // the hint's advice
	w.is(w.query("BEGIN; DECLARE c CURSOR FOR SELECT body = 'a', count(*) FROM notes GROUP BY body = 'a' HAVING body = 'a'; FETCH c; ROLLBACK"),
		"<BEGIN> <DECLARE CURSOR> columns(?column?:16,count:20) row(t,1) <FETCH 1> <ROLLBACK> I")
	for _, by := range []string{"1", "coalesce"} {
		w.is(w.query("BEGIN; DECLARE c CURSOR FOR SELECT coalesce(body, 'n'), count(*) FROM notes GROUP BY "+by+" HAVING coalesce(body, 'n') > ''; FETCH c; ROLLBACK"),
			"<BEGIN> <DECLARE CURSOR> columns(coalesce:25,count:20) row(a,1) <FETCH 1> <ROLLBACK> I")
	}
	w.query("BEGIN")
	w.is(w.pipe(step("DECLARE c CURSOR FOR SELECT body || $1 FROM notes GROUP BY body || $1 HAVING body || $1 > ''", "x")...), "parsed bound <DECLARE CURSOR> T")
	w.is(w.query("FETCH c; ROLLBACK"), "columns(?column?:25) row(ax) <FETCH 1> <ROLLBACK> I")
	w.is(w.query("BEGIN; DECLARE c CURSOR FOR SELECT coalesce(body, 'n'), count(*) FROM notes GROUP BY ROLLUP (coalesce(body, 'n')); FETCH ALL c; ROLLBACK"),
		"<BEGIN> <DECLARE CURSOR> columns(coalesce:25,count:20) row(,1) row(a,1) <FETCH 2> <ROLLBACK> I")
}
