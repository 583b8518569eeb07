package policy_test

import (
	"fmt"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

// A refusal calls a statement what people call it, and says what to do, in both dialects.
func TestRefusalsOfStatements(t *testing.T) {
	p := compile(t, "default", readSchema(t))
	for text, want := range map[string]string{
		"CREATE TEMP TABLE a (b int)":                 "CREATE TABLE",
		"CREATE TABLE a AS SELECT 1":                  "CREATE TABLE AS",
		"CREATE MATERIALIZED VIEW a AS SELECT 1":      "CREATE MATERIALIZED VIEW AS",
		"CREATE AGGREGATE a (b)(c = d)":               "CREATE AGGREGATE",
		"ALTER TABLE messages ADD a int":              "ALTER TABLE",
		"ALTER INDEX a SET (fillfactor = 70)":         "ALTER INDEX",
		"ALTER TABLE messages RENAME TO a":            "ALTER … RENAME",
		"ALTER VIEW a OWNER TO b":                     "ALTER VIEW",
		"DROP FOREIGN TABLE a":                        "DROP FOREIGN TABLE",
		"DROP MATERIALIZED VIEW a":                    "DROP MATERIALIZED VIEW",
		"DROP TEXT SEARCH DICTIONARY a":               "DROP TEXT SEARCH DICTIONARY",
		"DROP OPERATOR CLASS a USING b":               "DROP OPERATOR CLASS",
		"DROP SERVER a":                               "DROP SERVER",
		"DROP FOREIGN DATA WRAPPER a":                 "DROP FOREIGN DATA WRAPPER",
		"REVOKE ALL ON messages FROM a":               "GRANT or REVOKE",
		"TRUNCATE messages":                           "TRUNCATE",
		"EXPLAIN SELECT 1":                            "EXPLAIN",
		"ANALYZE":                                     "VACUUM or ANALYZE",
		"CREATE ACCESS METHOD a TYPE INDEX HANDLER b": "this kind of statement",
		"WITH a AS (SELECT 1) MERGE INTO b USING a ON true WHEN MATCHED THEN DELETE": "MERGE",
	} {
		for _, d := range []policy.Dialect{policy.REST, policy.Postgres} {
			r := p.Decide(text, d).Refusal
			if r.Code != policy.StatementNotAllowed || r.Message != want+" is not allowed" || r.Hint == "" {
				t.Errorf("%s: %+v, want %s", text, r, want)
			}
		}
	}
}

// So do refusals of parts of a statement: none says what the parser calls it.
func TestRefusalsOfConstructs(t *testing.T) {
	p := compile(t, "inject", readSchema(t))
	for text, want := range map[string]string{
		"SELECT id INTO TEMP a FROM messages":                                             "SELECT INTO is not supported at 21",
		"UPDATE messages SET content = 'a' WHERE CURRENT OF c":                            "WHERE CURRENT OF is not supported at 1",
		"SELECT id FROM messages TABLESAMPLE SYSTEM (10)":                                 "TABLESAMPLE is not supported at 37",
		"SELECT * FROM JSON_TABLE('{}', '$' COLUMNS (a int))":                             "JSON_TABLE is not supported at 15",
		"SELECT JSON_VALUE('{}', '$')":                                                    "JSON_EXISTS, JSON_QUERY or JSON_VALUE is not supported at 8",
		"SELECT JSON_OBJECT('a': 1), JSON_SCALAR(1)":                                      "JSON_OBJECT is not supported at 8",
		"SELECT JSON_ARRAY(SELECT 1)":                                                     "JSON_ARRAY is not supported at 8",
		"SELECT JSON_ARRAY(1)":                                                            "JSON_ARRAY is not supported at 8",
		"SELECT JSON_OBJECTAGG('a': 1)":                                                   "JSON_OBJECTAGG is not supported at 8",
		"SELECT JSON_ARRAYAGG(1)":                                                         "JSON_ARRAYAGG is not supported at 8",
		"SELECT JSON('{}')":                                                               "JSON() is not supported at 8",
		"SELECT JSON_SERIALIZE('{}')":                                                     "JSON_SERIALIZE is not supported at 8",
		"SELECT '{}' IS JSON":                                                             "IS JSON is not supported at 8",
		"SELECT XMLSERIALIZE(CONTENT 'a' AS text)":                                        "XMLSERIALIZE is not supported at 8",
		"SELECT merge_action()":                                                           "MERGE_ACTION() is not supported at 8",
		"INSERT INTO files (id) VALUES ('a') ON CONFLICT (id DESC) DO NOTHING":            "ASC or DESC in ON CONFLICT is not supported at 49",
		"INSERT INTO files (id) VALUES ('a') ON CONFLICT (id NULLS FIRST) DO NOTHING":     "NULLS FIRST or LAST in ON CONFLICT is not supported at 49",
		"WITH RECURSIVE r(a) AS (SELECT 1) CYCLE a SET b USING c SELECT a FROM r":         "CYCLE is not supported at 16",
		"WITH RECURSIVE r(a) AS (SELECT 1) SEARCH DEPTH FIRST BY a SET b SELECT a FROM r": "SEARCH is not supported at 16",
	} {
		r := p.Decide(text, policy.Postgres).Refusal
		if got := fmt.Sprintf("%s at %d", r.Message, r.Position); r.Code != policy.ConstructNotAllowed || got != want {
			t.Errorf("%s: %+v, want %s", text, r, want)
		}
	}
}

// TestHintsOfScope asks what to do where the scope column stands in the way.
func TestHintsOfScope(t *testing.T) {
	const leave, unnamed = "parameters are $1, $2 and so on here, and ? is an operator; the condition on server_id can be left out, because it is added", "name the columns and leave server_id out, because it is added"
	marks := "parameters are $1, $2 and so on here; ? is an operator"
	for _, c := range []struct{ policy, text, hint string }{
		{"inject", "INSERT INTO files VALUES ('a', 9)", unnamed},
		{"inject", "INSERT INTO files SELECT * FROM files", unnamed},
		{"inject", "INSERT INTO files TABLE files", unnamed},
		{"inject", "INSERT INTO files (id, server_id) VALUES ('a', 9)", "give server_id a plain $n"},
		{"inject", "SELECT id FROM files WHERE server_id = ?", leave},
		{"inject", "SELECT id FROM files f WHERE f.Server_ID=? AND id = ?", leave},
		{"inject", `SELECT id FROM files f WHERE id = ? AND "server_id" = ?`, leave},
		{"inject", "SELECT id FROM files WHERE id = ?", marks},
		{"inject", `SELECT id FROM files WHERE "SERVER_ID" = ?`, marks},
		{"inject", "SELECT id FROM files WHERE server_id <> ?", marks},
		{"inject", "SELECT = ?", marks},
		{"inject", "? SELECT", marks},
		{"default", "SELECT id FROM files WHERE server_id = ?", marks},
	} {
		if r := compile(t, c.policy, readSchema(t)).Decide(c.text, policy.Postgres).Refusal; r.Hint != c.hint {
			t.Errorf("%s of %s: %+v, want %s", c.text, c.policy, r, c.hint)
		}
	}
}

// TestOverridingIdentity refuses to have a sequence's number take the server's place.
func TestOverridingIdentity(t *testing.T) {
	schema := readSchema(t)
	for i := range schema.Tables {
		for k := range schema.Tables[i].Columns {
			c := &schema.Tables[i].Columns[k]
			if c.Name == "server_id" {
				c.TypeName, c.Identity = "int8", true
			}
		}
	}
	for text, allowed := range map[string]bool{
		"INSERT INTO files (id) OVERRIDING USER VALUE VALUES ('a')":                      false,
		"INSERT INTO files (id, server_id) OVERRIDING USER VALUE SELECT 'a', $1":         false,
		"INSERT INTO files OVERRIDING USER VALUE VALUES ('a')":                           false,
		"WITH w AS (INSERT INTO files (id) OVERRIDING USER VALUE VALUES ('a')) SELECT 1": false,
		"INSERT INTO files (id) OVERRIDING SYSTEM VALUE VALUES ('a')":                    true,
		"INSERT INTO files (id) VALUES ('a')":                                            true,
	} {
		d := compile(t, "inject", schema).Decide(text, policy.Postgres)
		if want := map[bool]policy.Code{false: policy.ConstructNotAllowed}[allowed]; d.Refusal.Code != want {
			t.Errorf("%s: %+v", text, d.Refusal)
		}
	}
}

// Ensure a * that is spelled out is refused, and no defect of the engine, where a column of a FULL JOIN has the name of a relation.
func TestStarOfAPosingName(t *testing.T) {
	p := compile(t, "inject", readSchema(t))
	for text, want := range map[string]policy.Code{
		"SELECT * FROM end_users FULL JOIN end_users server_id USING (server_id)":                                                                                   policy.ColumnNotAllowed,
		"SELECT (SELECT count(*) FROM (SELECT * FROM end_users u FULL JOIN end_users v USING (server_id)) s WHERE s.server_id = server_id.id) FROM files server_id": policy.ColumnNotAllowed,
		"SELECT (SELECT q.username FROM (SELECT * FROM end_users u FULL JOIN end_users v USING (id, username)) q LIMIT 1) FROM files id":                            policy.ColumnNotAllowed,
		"SELECT * FROM files id, LATERAL (SELECT * FROM end_users u FULL JOIN end_users v USING (server_id, id)) s":                                                 policy.ColumnNotAllowed,
		"SELECT * FROM end_users u FULL JOIN end_users v USING (server_id)":                                                                                         "",
	} {
		if r := p.Decide(text, policy.Postgres).Refusal; r.Code != want {
			t.Errorf("%s: %+v, want %q", text, r, want)
		}
	}
}
