package verify

import (
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy/sql/analyze"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
	"github.com/tenantgate/tenantgate/policy/sql/treetest"
)

// TestVerifyBarrier breaks the barrier of tables without row-level security as a faulty
// rewriter would.
func TestVerifyBarrier(t *testing.T) {
	const (
		scope  = `"logs"."tenant" = ` + server
		guard  = `CASE WHEN ` + scope + ` THEN (`
		always = `pg_catalog.now() IS NOT NULL`
		one    = "SELECT id FROM logs WHERE id = 'a' AND body ~ 'x'"
		joined = "SELECT l.id FROM notes n LEFT JOIN logs l ON l.id = n.id WHERE l.body ~ 'x'"
		sub    = "SELECT id FROM (SELECT id, body FROM logs) s WHERE s.body ~ 'x'"
		with   = "WITH w AS (SELECT body ~ 'x' AS y FROM logs) SELECT 1 FROM w WHERE y"
		late   = "SELECT id FROM logs WHERE id IS NULL OR EXISTS (SELECT id FROM notes)"
		delay  = `pg_catalog.now() = pg_catalog.now()`
		having = "SELECT body FROM logs GROUP BY body HAVING body ~ 'x'"
	)
	for _, c := range []tampering{
		{"no guard", one, guard + `body ~ 'x') END`, `body ~ 'x'`},
		{"a guard of nothing", one, guard, `CASE WHEN true THEN (`},
		{"a guard that names no table", one, guard, `CASE WHEN ` + always + ` THEN (`},
		{"a guard OR more", one, guard, `CASE WHEN ` + scope + ` OR true THEN (`},
		{"a guard AND more", one, guard, `CASE WHEN ` + scope + ` AND id = 'a' THEN (`},
		{"a guard by another column", one, guard, `CASE WHEN "logs"."id" = ` + server + ` THEN (`},
		{"an ELSE", one, `) END`, `) ELSE true END`},
		{"a second WHEN", one, `) END`, `) WHEN true THEN true END`},
		{"a CASE with an operand", one, `CASE WHEN ` + scope, `CASE true WHEN ` + scope},
		{"something else in it", one, `(body ~ 'x')`, `(id ~ 'x')`},
		{"a part outside", "DELETE FROM logs WHERE (id = 'a' AND body ~ 'x') AND id = 'b'", `(id = 'a' AND body ~ 'x')) END`, `(id = 'a')) END AND body ~ 'x'`},
		{"a part lost", one, `id = 'a' AND `, ``},
		{"the last part lost", "SELECT id FROM logs WHERE body ~ 'x' AND id = 'a'", ` AND id = 'a'`, ``},
		{"a part more", one, `id = 'a' AND `, `id = 'a' AND id = 'a' AND `},
		{"a guard where none is needed", "SELECT id FROM logs WHERE id = 'a'", `id = 'a'`, guard + `id = 'a') END`},
		{"no guard in ON", "SELECT 1 FROM logs JOIN notes ON logs.body ~ 'x'", `CASE WHEN ` + scope + ` THEN (logs.body ~ 'x') END`, `logs.body ~ 'x'`},
		{"no guard in UPDATE", "UPDATE logs SET id = 'a' WHERE body ~ 'x'", guard + `body ~ 'x') END`, `body ~ 'x'`},
		{"no guard in DELETE", "DELETE FROM logs WHERE body ~ 'x'", guard + `body ~ 'x') END`, `body ~ 'x'`},
		{"no guard in ON CONFLICT", "INSERT INTO logs (id) VALUES ('a') ON CONFLICT (id) DO UPDATE SET id = 'b' WHERE logs.body ~ 'x'", guard + `logs.body ~ 'x') END`, `logs.body ~ 'x'`},
		{"one table of two", "SELECT 1 FROM logs, logs l WHERE logs.body ~ l.body", ` AND "l"."tenant" = ` + server + ` THEN`, ` THEN`},
		{"the other table", "SELECT 1 FROM logs, logs l WHERE l.body ~ 'x'", `CASE WHEN "l".`, `CASE WHEN "logs".`},
		{"a row of NULLs kept out", joined, ` OR "l"."tenant" IS NULL`, ``},
		{"another row let in", joined, `"l"."tenant" IS NULL`, `"l"."tenant" IS NOT NULL`},
		{"rows let in by another column", joined, `"l"."tenant" IS NULL`, `"l"."body" IS NULL`},
		{"no OFFSET", sub, ` OFFSET 0`, ``},
		{"another OFFSET", sub, ` OFFSET 0`, ` OFFSET 1`},
		{"a LIMIT", sub, ` OFFSET 0`, ` LIMIT 0`},
		{"an OFFSET outside", sub, ` OFFSET 0) s WHERE CASE WHEN ` + always + ` THEN (s.body ~ 'x') END`, `) s WHERE CASE WHEN ` + always + ` THEN (s.body ~ 'x') END OFFSET 0`},
		{"no guard from the statistics", sub, `CASE WHEN ` + always + ` THEN (s.body ~ 'x') END`, `s.body ~ 'x'`},
		{"a guard that is folded", sub, always, `true IS NOT NULL`},
		{"another schema's now", sub, `pg_catalog.now`, `now`},
		{"no OFFSET in WITH", with, ` OFFSET 0`, ``},
		{"an OFFSET more", "SELECT id FROM logs", server + ")", server + ") OFFSET 0"},
		{"a sub-query that costs nothing", late, delay, `true`},
		{"a delay by another operator", late, delay, `pg_catalog.now() <> pg_catalog.now()`},
		{"a delay by another function", late, delay, `pg_catalog.now() = clock_timestamp()`},
		{"a delay with an ELSE", late, ` END)`, ` ELSE true END)`},
		{"a delay of something else", late, `EXISTS (`, `NOT EXISTS (`},
		{"a delay where none is needed", "SELECT id FROM logs WHERE id = 'a'", `id = `, `CASE WHEN ` + delay + ` THEN id END = `},
		{"HAVING as a WHERE", having, `CASE WHEN pg_catalog.count(*) IS NOT NULL THEN (body ~ 'x') END`, `body ~ 'x'`},
		{"HAVING with another guard", having, `pg_catalog.count(*)`, `pg_catalog.now()`},
		{"HAVING with another count", having, `count(*)`, `count(DISTINCT body)`},
	} {
		t.Run(c.name, c.isNoticed)
	}
}

// TestVirtual guards a column that is generated when it is read, which can fail, with
// row-level security and without.
func TestVirtual(t *testing.T) {
	for _, walled := range []bool{false, true} {
		text := tree.TypeName{Schema: "pg_catalog", Name: "text"}
		c := tree.NewCatalog([]*tree.Table{{Schema: "public", Name: "logs", Scope: "tenant", Walled: walled, ScopeType: text, Columns: []tree.Column{
			{Name: "id", Type: text}, {Name: "tenant"}, {Name: "ratio", Type: tree.TypeName{Schema: "pg_catalog", Name: "int4"}, NotNull: true, Virtual: true},
		}}}, nil, nil, []tree.OperatorName{{Name: "=", Left: "text", Right: "text"}, {Name: "=", Left: "int4", Right: "int4"}}, tree.Complexity{MaxNodes: 5000, MaxDepth: 100})
		for text, want := range map[string]bool{
			"SELECT id FROM logs WHERE ratio = 5":                        true,
			"SELECT id FROM logs WHERE ratio IS NULL":                    true,
			"SELECT 1 FROM (SELECT ratio FROM logs) s WHERE s.ratio = 5": true,
			"SELECT 1 FROM logs l WHERE ROW(l.*) IS NULL":                true,
			"SELECT ratio FROM logs WHERE id = 'x'":                      false,
		} {
			tr, _ := lex.Translate(text, lex.Guard{})
			stmt, _ := tree.Parse(tr.Text)
			facts, fault := analyze.Analyze(stmt, c)
			if fault != nil {
				t.Fatal(text, fault)
			}
			if got := len(facts.Clauses)+len(facts.Barriers) > 0; got != want {
				t.Errorf("%s: guarded %t, want %t (row-level security: %t)", text, got, want, walled)
			}
		}
		for text, want := range map[string]string{
			"SELECT 1 FROM logs a JOIN logs b USING (ratio)":                                        "computed where",
			"SELECT 1 FROM logs a NATURAL JOIN logs b":                                              "computed where",
			"SELECT 1 FROM logs a LEFT JOIN logs b ON true WHERE b.id ~ a.id OR (SELECT 1 / 0) > 0": "columns can all be NULL",
		} {
			tr, _ := lex.Translate(text, lex.Guard{})
			stmt, _ := tree.Parse(tr.Text)
			if _, fault := analyze.Analyze(stmt, c); fault == nil || !strings.Contains(fault.Message, want) {
				t.Errorf("%s: %+v (row-level security: %t)", text, fault, walled)
			}
		}
	}
}

// TestNoBarrier refuses what no barrier can be made for.
func TestNoBarrier(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT 1 FROM (logs JOIN notes USING (id)) j WHERE j.body ~ 'x'":                                         "a join with an alias",
		"SELECT 1 FROM notes LEFT JOIN events e ON e.id = 'a' WHERE e.body ~ 'x'":                                 "can all be NULL",
		"SELECT 1 FROM notes JOIN CAST('a' AS text) s (id) USING (id)":                                            "is of a function that may give one value",
		"SELECT 1 FROM notes RIGHT JOIN coalesce('a', $1) s (id) USING (id)":                                      "is of a function that may give one value",
		"SELECT 1 FROM notes JOIN mine.own_rows($1) s (id) USING (id)":                                            "is of a function that may give one value",
		"SELECT 1 FROM notes NATURAL JOIN chr(num_nulls(NULL)) s (id)":                                            "is of a function that may give one value",
		"SELECT 1 FROM notes NATURAL JOIN lower('a') id":                                                          "is of a function that may give one value",
		"SELECT 1 FROM notes JOIN lower('a') id USING (id)":                                                       "is of a function that may give one value",
		"SELECT 1 FROM notes NATURAL JOIN mine.own_rows(1)":                                                       "columns of this join are not known",
		"SELECT 1 FROM notes JOIN (SELECT * FROM lower('a') s (id)) t USING (id)":                                 "is of a function that may give one value",
		"WITH t AS (SELECT id FROM lower('a') s (id)) SELECT 1 FROM notes JOIN t USING (id)":                      "is of a function that may give one value",
		"SELECT 1 FROM notes JOIN LATERAL (SELECT s.id FROM lower('a') s (id) UNION ALL SELECT 'b') t USING (id)": "is of a function that may give one value",
		"SELECT 1 FROM notes JOIN events USING (body)":                                                            "differ in collation",
		"SELECT 1 FROM notes NATURAL JOIN events":                                                                 "differ in collation",
	} {
		tr, _ := lex.Translate(text, lex.Guard{})
		stmt, _ := tree.Parse(tr.Text)
		if _, fault := analyze.Analyze(stmt, treetest.Catalog()); fault == nil || fault.Code != refusal.ConstructNotAllowed || !strings.Contains(fault.Message, want) {
			t.Errorf("%s: %+v", text, fault)
		}
	}
}
