package barrier

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/policy"
)

// own are the rows of server a, on which the predicates below do not fail, and others those of
// another server, on which they do. Statistics are of all columns, as in a database where nobody has
// taken the doctor's advice.
const (
	own = `
	DO $$ DECLARE c record; BEGIN
		FOR c IN SELECT attrelid::regclass AS of, attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
			WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 AND attstattarget = 0 LOOP
			EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS -1', c.of, c.attname);
		END LOOP;
	END $$;
	INSERT INTO conversations (server_id, id, title) SELECT 'a', 'c' || i, i::text FROM generate_series(1, 3) AS i;
	INSERT INTO messages (server_id, id, conversation_id, role, content) SELECT 'a', 'm' || i, 'c' || i, 'user', 'ok' FROM generate_series(1, 3) AS i;
	INSERT INTO files (server_id, id, name) SELECT 'a', 'f' || i, 'ok' FROM generate_series(1, 3) AS i;
	ANALYZE;`
	others = `
	INSERT INTO conversations (server_id, id, title) SELECT 'b', 'c' || i, '(' FROM generate_series(1, 400) AS i;
	INSERT INTO end_users (server_id, id, name) SELECT 'b', 'u' || i, '(' FROM generate_series(1, 400) AS i;
	INSERT INTO messages (server_id, id, conversation_id, role, content) SELECT 'b', 'm' || i, 'c' || i, 'zzz', '(' FROM generate_series(1, 400) AS i;` + own
)

// planners are what the planner may do, since whether a predicate runs before the
// restriction is its choice.
var planners = []string{
	"SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off",
	"SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off; SET plan_cache_mode = force_generic_plan",
	"SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off; SET cpu_operator_cost = 0",
	"SET enable_seqscan = off",
	"SET enable_hashjoin = off; SET enable_mergejoin = off",
	"SET enable_nestloop = off; SET enable_hashjoin = off",
}

// leaking are statements whose predicates fail on a row of server b, and with no barrier do:
// the error tells server a of it. Each needs another part of the barrier.
var leaking = map[string]string{
	"WHERE":                       "SELECT id FROM messages WHERE 'x' ~ content",
	"statistics":                  "SELECT id FROM messages WHERE role LIKE '%zz\\'",
	"OR":                          "SELECT id FROM messages WHERE id = 'a' OR 'x' ~ content",
	"no column":                   "SELECT id FROM end_users WHERE 1 / (random() * 0)::int > 0",
	"UPDATE":                      "UPDATE messages SET role = 'x' WHERE 'x' ~ content",
	"DELETE":                      "DELETE FROM messages WHERE 'x' ~ content",
	"UPDATE FROM":                 "UPDATE files SET name = 'x' FROM messages m WHERE 'x' ~ m.content",
	"JOIN ON":                     "SELECT 1 FROM files JOIN messages m ON 'x' ~ m.content",
	"LEFT JOIN ON":                "SELECT 1 FROM files LEFT JOIN messages m ON 'x' ~ m.content",
	"outer join, reduced":         "SELECT 1 FROM files f LEFT JOIN messages m ON true WHERE 'x' ~ m.content AND m.role = 'user'",
	"sub-query's column":          "SELECT 1 FROM (SELECT content FROM messages) s WHERE 'x' ~ s.content",
	"sub-query's entry":           "SELECT 1 FROM (SELECT 'x' ~ content AS y FROM messages) s WHERE s.y",
	"sub-query's statistics":      "SELECT 1 FROM (SELECT role FROM messages) s WHERE s.role LIKE '%zz\\'",
	"WITH":                        "WITH w AS (SELECT content FROM messages) SELECT 1 FROM w WHERE 'x' ~ w.content",
	"WITH's entry":                "WITH w AS (SELECT 'x' ~ content AS y FROM messages) SELECT 1 FROM w WHERE w.y",
	"set operation":               "SELECT 1 FROM (SELECT content FROM messages UNION ALL SELECT name FROM files) s WHERE 'x' ~ s.content",
	"EXISTS":                      "SELECT 1 FROM messages m WHERE EXISTS (SELECT FROM files WHERE 'x' ~ m.content)",
	"HAVING":                      "SELECT content FROM messages GROUP BY content HAVING 'x' ~ content",
	"a star of the row around":    "SELECT 1 FROM messages m, LATERAL (SELECT m.*) s WHERE 'x' ~ s.content",
	"lazily, EXISTS":              "SELECT id FROM messages WHERE content = 'ok' OR EXISTS (SELECT FROM generate_series(1, 1) AS g (i) WHERE 1 / (i - 1) > 0)",
	"lazily, IN":                  "SELECT id FROM messages WHERE content = 'ok' OR id IN (SELECT f.id FROM files f WHERE 1 / (f.size_bytes * 0) > 0)",
	"lazily, OFFSET":              "SELECT id FROM messages WHERE content = 'ok' OR id = (SELECT id FROM files LIMIT 1 OFFSET -1)",
	"lazily, LIMIT":               "SELECT id FROM messages WHERE content = 'ok' OR 0 = (SELECT count(*) FROM (SELECT id FROM files LIMIT -1) s)",
	"lazily, a moment":            "SELECT id FROM messages WHERE content = 'ok' OR (current_date + 2147483647) IS NULL",
	"lazily, money":               "SELECT 1 FROM messages WHERE content = 'ok' OR 9223372036854775807::money IS NULL",
	"arrays of arrays":            "SELECT 1 FROM messages m WHERE content = 'ok' OR ARRAY[ARRAY[id], ARRAY[id, role]] IS NULL",
	"collations that meet":        "SELECT 1 FROM (SELECT content, content COLLATE \"C\" AS c, content COLLATE \"POSIX\" AS p FROM messages) s WHERE s.content = 'ok' OR s.c < s.p",
	"an aggregate from around":    "SELECT (SELECT 1 FROM messages m2 GROUP BY m2.content HAVING 'x' ~ m2.content OR max(f.id) IS NULL LIMIT 1) FROM files f",
	"such an aggregate in WITH":   "SELECT (WITH w AS (SELECT 'x' ~ content OR max(f.id) IS NULL AS y FROM messages) SELECT 1 FROM w WHERE w.y LIMIT 1) FROM files f",
	"a constant sub-query":        "SELECT id FROM messages m, (SELECT 1 / (extract(year from now()) * 0)::int AS y) s WHERE m.content = 'ok' OR s.y IS NULL",
	"constant VALUES":             "SELECT id FROM messages m, (VALUES (1 / (extract(year from now()) * 0)::int)) v (y) WHERE m.content = 'ok' OR v.y IS NULL",
	"a constant WITH":             "WITH s AS (SELECT 1 / (extract(year from now()) * 0)::int AS y) SELECT id FROM messages m, s WHERE m.content = 'ok' OR s.y IS NULL",
	"a literal of a sub-query":    "SELECT id FROM messages WHERE content = 'ok' OR (SELECT 'abc' LIMIT 1)::int IS NULL",
	"DISTINCT rows":               "SELECT id FROM messages WHERE content = 'ok' OR (SELECT count(DISTINCT ROW('1'::json)) FROM files) = 1",
	"ORDER BY a row":              "SELECT id FROM messages WHERE content = 'ok' OR (SELECT id FROM files ORDER BY ROW('1'::json, id) LIMIT 1) = 'x'",
	"WITH, read lazily":           "WITH s AS (SELECT 1 / (i - 1) AS y FROM generate_series(1, 1) g (i)) SELECT id FROM messages m WHERE content = 'ok' OR (SELECT y FROM s LIMIT 1) IS NULL",
	"WITH and LIMIT, lazily":      "WITH s AS (SELECT id FROM files f LIMIT -1) SELECT id FROM messages m WHERE content = 'ok' OR (SELECT count(*) FROM s) = 7",
	"IN a WITH, lazily":           "WITH s AS MATERIALIZED (SELECT id FROM files f WHERE 1 / (f.size_bytes * 0) > 0) SELECT id FROM messages m WHERE content = 'ok' OR id IN (SELECT id FROM s)",
	"a constant with a sub-query": "SELECT id FROM messages m, (SELECT (SELECT 1 / (extract(year from now()) * 0)::int) AS y) s WHERE m.content = 'ok' OR s.y IS NULL",
}

// quiet are statements of the same kind for which no plan was found that tells.
var quiet = map[string]string{
	"rows in rows":            "SELECT id FROM messages WHERE content = 'ok' OR ((created_at, id), role) = (('2020-01-01', 'x'), 'y')",
	"a star, beside more":     "SELECT 1 FROM messages m, files f, LATERAL (SELECT m.*) s WHERE f.name ~ s.content",
	"a sub-query of around":   "SELECT (SELECT 1 FROM messages m WHERE m.content = 'ok' OR (SELECT f.size_bytes / f.size_bytes IS NULL) LIMIT 1) FROM files f",
	"volatile, from around":   "SELECT (SELECT 1 FROM messages m WHERE m.role > 'user' AND ARRAY[ARRAY[f.created_at, f.created_at], ARRAY[clock_timestamp()]] IS NULL LIMIT 1) FROM files f",
	"GREATEST":                "SELECT 1 FROM conversations WHERE end_user_id IS NULL OR GREATEST(created_at, '5000000-01-01'::date) IS NULL",
	"WITH, in UPDATE":         "WITH s AS (SELECT 1 / (i - 1) AS y FROM generate_series(1, 1) g (i)) UPDATE conversations SET title = 'x' WHERE end_user_id IS NULL OR (SELECT y FROM s) IS NULL",
	"a parameter from around": "SELECT (SELECT 1 FROM messages m WHERE m.content = 'zzz' AND 1 / (f.size_bytes * 0 + (random() * 0)::int) > 0 LIMIT 1) FROM files f",
	"LATERAL":                 "SELECT 1 FROM messages m, LATERAL (SELECT 1 FROM files f WHERE 'x' ~ m.content) s",
	"LATERAL's column":        "SELECT 1 FROM messages m, LATERAL (SELECT m.content AS c) s WHERE 'x' ~ s.c",
	"LATERAL's VALUES":        "SELECT 1 FROM messages m, LATERAL (VALUES ('x' ~ m.content)) v (y) WHERE y",
	"EXISTS, sub-query":       "SELECT 1 FROM messages m WHERE EXISTS (SELECT FROM (SELECT m.content AS c) s WHERE 'x' ~ s.c)",
	"EXISTS, function":        "SELECT 1 FROM messages m WHERE EXISTS (SELECT FROM unnest(ARRAY[m.content]) AS u (c) WHERE 'x' ~ u.c)",
	"EXISTS, WITH":            "SELECT 1 FROM messages m WHERE EXISTS (WITH w AS (SELECT m.content AS c) SELECT FROM w WHERE 'x' ~ w.c)",
	"two rows":                "SELECT 1 FROM messages m WHERE (SELECT id FROM files f WHERE m.role = 'zzz') = 'f1'",
	"derived equality":        "SELECT 1 FROM files f JOIN (SELECT ('x' ~ content)::text AS y FROM messages) s ON s.y = f.name WHERE f.name = 'true'",
	"converted":               "SELECT 1 FROM (SELECT created_at AS y FROM conversations UNION ALL SELECT current_date) s WHERE s.y = '2020-01-01'",
}

func TestLeaks(t *testing.T) {
	shared, alone := database(t, others), database(t, own)
	p := compiled(t, false)
	for name, text := range leaking {
		t.Run(name, func(t *testing.T) {
			if fails(t, shared, p, text, open) == fails(t, alone, p, text, open) {
				t.Errorf("%s\ntells nothing even without a barrier", text)
			}
			if state, apart := fails(t, shared, p, text, asItIs), fails(t, alone, p, text, asItIs); state != apart {
				t.Errorf("%s\ntells of another server's row: SQLSTATE %q, and alone %q", text, state, apart)
			}
		})
	}
	for name, text := range quiet {
		if state, apart := fails(t, shared, p, text, asItIs), fails(t, alone, p, text, asItIs); state != apart {
			t.Errorf("%s: %s\ntells of another server's row: SQLSTATE %q, and alone %q", name, text, state, apart)
		}
	}
}

// TestLeaksWithWall asks the same of row-level security, which overlooks some of them.
func TestLeaksWithWall(t *testing.T) {
	shared, alone := walled(t, others), walled(t, own)
	p := compiled(t, true)
	overlooked := 0
	for _, list := range []map[string]string{leaking, quiet} {
		for name, text := range list {
			if state, apart := fails(t, shared, p, text, asItIs), fails(t, alone, p, text, asItIs); state != apart {
				t.Errorf("%s: %s\ntells of another server's row: SQLSTATE %q, and alone %q", name, text, state, apart)
			}
			if fails(t, shared, p, text, open) != fails(t, alone, p, text, open) {
				overlooked++
			}
		}
	}
	if overlooked == 0 {
		t.Error("row-level security overlooks nothing any more")
	}
	t.Logf("without the barrier row-level security would tell in %d cases", overlooked)
}

// TestUpsertLeavesOthers has a unique key that several servers share: that an INSERT meets
// another server's row can't be hidden, but the row must stay as it is.
func TestUpsertLeavesOthers(t *testing.T) {
	conn := database(t, "CREATE UNIQUE INDEX shared_name ON files (name); INSERT INTO files (server_id, id, name, content_type) VALUES ('b', 'f1', 'x', 'theirs')")
	sql, params := statement(t, compiled(t, false), "INSERT INTO files (id, name) VALUES ('f2', 'x') ON CONFLICT (name) DO UPDATE SET content_type = 'ours'")
	if _, err := conn.Exec(t.Context(), sql, params...); err != nil {
		t.Fatal(err)
	}
	if rows, err := lines(conn.Query(t.Context(), "SELECT server_id || ' ' || content_type FROM files")); err != nil || rows != "b theirs" {
		t.Errorf("%s %v", rows, err)
	}
}

func asItIs(sql string) string { return sql }

var guards = regexp.MustCompile(`CASE WHEN .*? THEN \(`)

// open takes the barrier away.
func open(sql string) string {
	sql = guards.ReplaceAllString(sql, "((")
	return strings.NewReplacer(") END", "))", " OFFSET 0)", ")").Replace(sql)
}

// fails runs a statement as each planner would and gives the SQLSTATEs, one for each.
func fails(t *testing.T, conn *pgx.Conn, p *policy.Policy, text string, change func(sql string) string) (state string) {
	t.Helper()
	sql, params := statement(t, p, text)
	for _, settings := range planners {
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		execute(t, conn, settings+"; SET jit = off")                                                             // what is off costs 10^10, for which Postgres compiles for 300 ms
		_, err = conn.Exec(t.Context(), change(sql), append([]any{pgx.QueryExecModeDescribeExec}, params...)...) // with no plan of another planner's
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		var pg *pgconn.PgError
		if err != nil && !errors.As(err, &pg) {
			t.Fatal(err)
		}
		if err != nil {
			state += pg.Code
		}
		state += " "
	}
	return state
}
