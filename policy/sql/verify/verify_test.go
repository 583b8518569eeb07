package verify

import (
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy/sql/analyze"
	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/rewrite"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
	"github.com/tenantgate/tenantgate/policy/sql/treetest"
)

// rewritten takes a text through everything but the proof, and leaves its literals.
func rewritten(t *testing.T, text string) (verify func(final string) *refusal.Refusal, final string) {
	t.Helper()
	return rewrittenWith(t, text, (*facts.Facts).ShowConstants)
}

// rewrittenWith is rewritten with something else done to the facts.
func rewrittenWith(t *testing.T, text string, change func(*facts.Facts)) (verify func(final string) *refusal.Refusal, final string) {
	t.Helper()
	tr, fault := lex.Translate(text, lex.Guard{})
	if fault != nil {
		t.Fatal(text, fault)
	}
	stmt, fault := tree.Parse(tr.Text)
	if fault != nil {
		t.Fatal(text, fault)
	}
	c := treetest.Catalog()
	facts, fault := analyze.Analyze(stmt, c)
	if fault != nil {
		t.Fatal(text, fault)
	}
	change(facts)
	r, fault := rewrite.Rewrite(tr, facts, c, true)
	if fault != nil {
		t.Fatal(text, fault)
	}
	return func(final string) *refusal.Refusal {
		tampered := *r
		tampered.Text = final
		return Verify(stmt, &tampered, c, facts.Demands())
	}, r.Text
}

const server = `$1::"pg_catalog"."text"`

// tampering breaks the rewrite of a text as a faulty rewriter would.
type tampering struct{ name, text, old, now string }

func (c tampering) isNoticed(t *testing.T) {
	verify, final := rewritten(t, c.text)
	c.noticedBy(t, verify, final)
}

func (c tampering) noticedBy(t *testing.T, verify func(final string) *refusal.Refusal, final string) {
	if fault := verify(final); fault != nil && !strings.Contains(c.name, "shifts") { // which the rules refuse before
		t.Fatalf("%s\nis not proved: %+v", final, fault)
	}
	tampered := strings.Replace(final, c.old, c.now, 1)
	if tampered == final {
		t.Fatalf("%s\ndoes not hold %s", final, c.old)
	}
	if fault := verify(tampered); fault == nil {
		t.Errorf("%s\nwas proved though it was tampered with", tampered)
	}
}

// TestVerifyTampered breaks rewrites as a faulty rewriter would. The proof of the
// untouched text must hold, and that of the tampered one must not.
func TestVerifyTampered(t *testing.T) {
	join := ` JOIN (SELECT) AS "_tg1" ON "notes"."tenant" = ` + server
	for _, c := range []tampering{
		{"no restriction", "SELECT * FROM notes", `("public".notes` + join + `)`, `"public".notes`},
		{"no schema", "SELECT * FROM notes", `"public".notes`, `notes`},
		{"another schema", "SELECT * FROM notes", `"public".notes`, `pg_catalog.notes`},
		{"another table", "SELECT * FROM notes", `"public".notes JOIN`, `"public".shared JOIN`},
		{"left join", "SELECT * FROM notes", ` JOIN (`, ` LEFT JOIN (`},
		{"sub-select that reads", "SELECT * FROM notes", `(SELECT)`, `(SELECT 1)`},
		{"sub-select with FROM", "SELECT * FROM notes", `(SELECT)`, `(SELECT FROM public.shared)`},
		{"wrong column", "SELECT * FROM notes", `"notes"."tenant" =`, `"notes"."id" =`},
		{"wrong alias", "SELECT * FROM notes", `"notes"."tenant" =`, `"other"."tenant" =`},
		{"unequal", "SELECT * FROM notes", `"tenant" =`, `"tenant" <>`},
		{"OR true", "SELECT * FROM notes", server, server + ` OR true`},
		{"itself", "SELECT * FROM notes", server, `"notes"."tenant"`},
		{"another cast", "SELECT * FROM notes", server, `$1::"pg_catalog"."varchar"`},
		{"a cast that cuts", "SELECT * FROM notes", server, `$1::"pg_catalog"."text"[]`},
		{"a caller's parameter", "SELECT * FROM notes WHERE id = ?", `$2::"pg_catalog"."text"`, `$1::"pg_catalog"."text"`},
		{"parameters swapped", "SELECT * FROM notes WHERE id = ? AND body = ?", `id =  $1  AND body =  $2`, `id =  $2  AND body =  $1`},
		{"unbracketed AND", "DELETE FROM notes WHERE id = 'a' OR id = 'b'", `(id = 'a' OR id = 'b')`, `id = 'a' OR id = 'b'`},
		{"no WHERE on DELETE", "DELETE FROM notes", ` WHERE "notes"."tenant" = ` + server, ``},
		{"OR for AND", "DELETE FROM notes WHERE id = 'a'", `) AND "notes"`, `) OR "notes"`},
		{"no WHERE on UPDATE", "UPDATE notes SET body = ''", ` WHERE "notes"."tenant" = ` + server, ``},
		{"USING left open", "DELETE FROM shared USING notes", `("public".notes` + join + `)`, `"public".notes`},
		{"upsert left open", "INSERT INTO notes (tenant, id) VALUES ('a', 'b') ON CONFLICT (tenant, id) DO UPDATE SET body = ''", ` WHERE "notes"."tenant" = ` + server, ``},
		{"insert for another", "INSERT INTO notes (tenant, id) VALUES ('a', 'b')", server, `'a'`},
		{"second row for another", "INSERT INTO notes (tenant, id) VALUES ('a', 'b'), ('c', 'd')", `(` + server + `, 'd')`, `('c', 'd')`},
		{"insert without the column", "INSERT INTO notes (id) VALUES ('b')", `("tenant", id) VALUES (` + server + `, 'b')`, `(id) VALUES ('b')`},
		{"insert that overrides other values", "INSERT INTO notes (id) OVERRIDING SYSTEM VALUE VALUES ('b')", "SYSTEM", "USER"},
		{"insert into another column", "INSERT INTO notes (id, body) VALUES ('a', 'b')", `("tenant", id, body)`, `("tenant", body, id)`},
		{"the id into another column", "INSERT INTO notes (id) VALUES ('b')", `("tenant", id)`, `("body", id)`},
		{"select arm for another", "INSERT INTO notes (tenant) SELECT 'a' UNION SELECT 'b'", `UNION SELECT ` + server, `UNION SELECT 'b'`},
		{"SET for another", "UPDATE notes SET tenant = 'b'", `tenant = ` + server + ` `, `tenant = 'b' `},
		{"multi-SET for another", "UPDATE notes SET (body, tenant) = ('a', 'b')", `('a', ` + server + `)`, `('a', 'b')`},
		{"CTE that is none", "WITH x AS (SELECT 1) SELECT * FROM x", `FROM x`, `FROM pg_class`},
		{"CTE's body", "WITH x AS (SELECT * FROM notes) SELECT * FROM x", `("public".notes` + join + `)`, `"public".notes`},
		{"CTE beyond its scope", "SELECT (WITH notes AS (SELECT 1 AS id) SELECT id FROM notes), id FROM notes", `, id FROM ("public".notes` + join + `)`, `, id FROM notes`},
		{"sub-query's table", "SELECT 1 WHERE EXISTS (SELECT FROM notes)", `("public".notes` + join + `)`, `"public".notes`},
		{"hidden column in *", "SELECT * FROM users", `"users"."name"`, `"users"."secret"`},
		{"expression in *", "SELECT * FROM users", `"users"."name"`, `lower("users"."name")`},
		{"* left alone", "SELECT * FROM users", `"users"."id", "users"."tenant", "users"."name"`, `*`},
		{"one more entry", "SELECT id FROM notes", `SELECT id FROM`, `SELECT id, body FROM`},
		{"another constant", "SELECT 1", `1`, `2`},
		{"another function", "SELECT lower('a')", `lower`, `upper`},
		{"another operator", "SELECT 1 < 2", `<`, `>`},
		{"no LIMIT", "SELECT id FROM notes LIMIT 1", ` LIMIT 1`, ``},
		{"a LIMIT more", "SELECT id FROM shared", `"public".shared`, `"public".shared LIMIT 1`},
		{"a WHERE more", "SELECT id FROM shared", `"public".shared`, `"public".shared WHERE false`},
		{"DISTINCT", "SELECT id FROM shared", `SELECT`, `SELECT DISTINCT`},
		{"an alias", "SELECT id FROM shared", `"public".shared`, `"public".shared s`},
		{"RETURNING more", "DELETE FROM notes", server, server + ` RETURNING id`},
		{"no FOR UPDATE", "SELECT id FROM notes FOR UPDATE", ` FOR UPDATE`, ``},
		{"another kind", "DELETE FROM notes", `DELETE FROM "public".notes`, `UPDATE "public".notes SET body = ''`},
		{"two statements", "SELECT 1", `1`, `1; SELECT 2`},
		{"AND something else", "DELETE FROM notes WHERE id = 'a'", `AND "notes"."tenant" = ` + server, `AND true`},
		{"a row more of defaults", "INSERT INTO notes DEFAULT VALUES", `(` + server + `)`, `(` + server + `), (` + server + `)`},
		{"a limit on defaults", "INSERT INTO notes DEFAULT VALUES", `(` + server + `)`, `(` + server + `) LIMIT 1`},
		{"another conflict target", "INSERT INTO users (id) VALUES ('a') ON CONFLICT (id) DO NOTHING", `("tenant", id) DO`, `("name", id) DO`},
		{"a cast that shifts the id", "INSERT INTO notes (tenant, id) SELECT ?::varchar(5), u.id FROM users u", ` $1 `, `$2::"pg_catalog"."text"`},
		{"a lateral join", "SELECT * FROM notes", ` (SELECT)`, ` LATERAL (SELECT)`},
		{"a renamed join", "SELECT * FROM notes", `"_tg1" ON`, `"_tg1"(a) ON`},
		{"another comparison", "SELECT * FROM notes", `"tenant" =`, `"tenant" IS NOT DISTINCT FROM`},
		{"another schema's table", "SELECT * FROM notes", `"public".notes`, `"other".notes`},
		{"another table's type", "SELECT 1 FROM notes, things", `$2::"pg_catalog"."uuid"`, server},
		{"a WITH name as a scoped table", "WITH notes AS (SELECT 1 AS id) SELECT 1 FROM notes, users", `FROM notes,`, `FROM ("public".notes` + join + `),`},
		{"a WITH name as a table", "WITH shared AS (SELECT 1 AS id) SELECT 1 FROM shared", `FROM shared`, `FROM "public".shared`},
		{"an entry's alias", "SELECT id FROM notes", `SELECT id FROM`, `SELECT id AS x FROM`},
		{"an alias in *", "SELECT * FROM users", `"users"."name"`, `"users"."name" AS x`},
		{"a * with a hidden column in *", "SELECT * FROM users", `"users"."name"`, `"users".*`},
		{"a join's * in *", "SELECT * FROM (users JOIN (SELECT 1 AS x) s ON true) AS j", `"j"."name"`, `"j".*`},
		{"a join's hidden column in *", "SELECT * FROM (users JOIN (SELECT 1 AS x) s ON true) AS j", `"j"."name"`, `"j"."secret"`},
		{"a call in *", "SELECT * FROM users", `"users"."name"`, `"users"."to_jsonb"`},
		{"a whole row in *", "SELECT * FROM users", `"users"."name"`, `"users"`},
		{"a renamed join's column in *", "SELECT users.* FROM users, (users u JOIN (SELECT 1 AS x) s ON true) AS j(a, b, c, d, e)", `"users"."name"`, `"j"."c"`},
		{"a bare hidden column in *", "SELECT * FROM users FULL JOIN shared USING (id)", `"id"`, `"secret"`},
		{"a place that a * shifts", "INSERT INTO notes (id, tenant) SELECT s.*, ? FROM shared s, users u", ` $1 `, `$2::"pg_catalog"."text"`},
		{"an added column for another", "INSERT INTO notes (id) VALUES ('b')", `(` + server + `, 'b')`, `('a', 'b')`},
		{"a part of a column", "INSERT INTO shared (id) VALUES (1)", `(id)`, `(id[1])`},
		{"columns left to the table", "INSERT INTO notes VALUES ('a', 'b')", ` ("id", "tenant")`, ``},
		{"columns in another order", "INSERT INTO notes VALUES ('a', 'b')", ` ("id", "tenant")`, ` ("tenant", "id")`},
		{"no statement", "SELECT 1", `SELECT 1`, ``},
	} {
		t.Run(c.name, c.isNoticed)
	}
}

// TestEveryMessageIsVisited inserts a table wherever the grammar takes a sub-query and
// asks that the analysis sees it.
func TestEveryMessageIsVisited(t *testing.T) {
	for _, frame := range []string{
		"SELECT (%s)", "SELECT 1 WHERE (%s) IS NULL", "SELECT 1 FROM (%s) x", "SELECT 1 FROM shared JOIN shared s ON (%s) = ''", "SELECT 1 GROUP BY (%s)", "SELECT 1 HAVING (%s) = ''",
		"SELECT 1 ORDER BY (%s)", "SELECT 1 LIMIT (%s)::int", "SELECT 1 OFFSET (%s)::int", "SELECT DISTINCT ON ((%s)) 1", "SELECT count(*) FILTER (WHERE (%s) = '')", "SELECT sum(1) OVER (PARTITION BY (%s))",
		"SELECT sum(1) OVER (ORDER BY (%s))", "SELECT string_agg('a', 'b' ORDER BY (%s))", "SELECT CASE WHEN (%s) = '' THEN 1 END", "SELECT CASE (%s) WHEN '' THEN 1 END", "SELECT CASE WHEN true THEN (%s) ELSE '' END",
		"SELECT COALESCE((%s))", "SELECT GREATEST((%s))", "SELECT ARRAY[(%s)]", "SELECT ARRAY(%s)", "SELECT ROW((%s))", "SELECT (%s)::text", "SELECT (%s) COLLATE \"C\"", "SELECT 1 IN (%s)", "SELECT 'a' = ANY (%s)",
		"SELECT EXISTS (%s)", "SELECT ('{1}'::int[])[(%s)::int]", "SELECT (%s) BETWEEN 'a' AND 'b'", "SELECT f(a => (%s))", "SELECT 1 FROM f((%s))", "SELECT 1 FROM LATERAL (%s) x", "SELECT 1 UNION (%s)", "(%s) EXCEPT SELECT 1",
		"WITH x AS (%s) SELECT 1", "VALUES ((%s))", "SELECT 1 WINDOW w AS (PARTITION BY (%s))", "SELECT sum(1) OVER (ROWS (%s)::int PRECEDING)",
		"INSERT INTO shared (%s)", "INSERT INTO shared VALUES ((%s))", "INSERT INTO shared VALUES (1) RETURNING (%s)", "INSERT INTO shared VALUES (1) ON CONFLICT (id) DO UPDATE SET id = (%s)",
		"INSERT INTO shared VALUES (1) ON CONFLICT (id) DO UPDATE SET id = 1 WHERE (%s) = ''", "WITH x AS (%s) INSERT INTO shared VALUES (1)",
		"UPDATE shared SET id = (%s)", "UPDATE shared SET (id) = (%s)", "UPDATE shared SET id[(%s)::int] = 1", "UPDATE shared SET id = 1 FROM (%s) x", "UPDATE shared SET id = 1 WHERE (%s) = ''", "UPDATE shared SET id = 1 RETURNING (%s)",
		"DELETE FROM shared USING (%s) x", "DELETE FROM shared WHERE (%s) = ''", "DELETE FROM shared RETURNING (%s)", "WITH x AS (%s) DELETE FROM shared",
	} {
		text := strings.Replace(frame, "%s", "SELECT id FROM notes", 1)
		verify, final := rewritten(t, text)
		if !strings.Contains(final, `("public".notes JOIN`) {
			t.Errorf("%s\nbecame\n%s", text, final)
		} else if fault := verify(final); fault != nil {
			t.Errorf("%s\nis not proved: %s", final, fault.Message)
		}
	}
}
