package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// refusal is a statement, its args, and what it is answered.
type refusal struct {
	sql    string
	args   []any
	status int
	code   string
}

// brokenTexts break the rules of statements, each once.
func brokenTexts() []refusal {
	long := "SELECT '" + strings.Repeat("x", 10_240-9) + "'"
	return []refusal{
		{"SELECT 1;", nil, 400, "multiple_statements"},
		{"SELECT 1; SELECT 2", nil, 400, "multiple_statements"},
		{"SELECT ';' AS a, $$;$$ AS b, /* ; */ 1 AS \";\" -- ;", nil, 200, ""},
		{long, nil, 200, ""},
		{long + " ", nil, 413, "query_too_long"},
		{strings.Repeat("é", 5121), nil, 413, "query_too_long"},
		{"", nil, 400, "empty_query"},
		{" -- nothing\n/* at all */", nil, 400, "empty_query"},
		{"SELECT ?, $1", []any{1, 1}, 400, "mixed_placeholders"},
		{"SELEC 1", nil, 400, "syntax_error"},
		{"SELECT 'open", nil, 400, "syntax_error"},
		{"SELECT 'a\x00b'", nil, 400, "syntax_error"},
		{"DROP TABLE messages", nil, 403, "statement_not_allowed"},
		{"EXPLAIN SELECT 1", nil, 403, "statement_not_allowed"},
		{"SELECT 1 FROM ONLY messages WHERE server_id = ?", nil, 403, "construct_not_allowed"},
		{"SELECT * FROM pg_class", nil, 403, "table_not_allowed"},
		{"SELECT * FROM tenantgate.servers", nil, 403, "table_not_allowed"},
		{"SELECT password_hash FROM end_users WHERE server_id = ?", nil, 403, "column_not_allowed"},
		{"SELECT id FROM end_users WHERE server_id = ? ORDER BY password_hash", nil, 403, "column_not_allowed"},
		{"UPDATE end_users SET name = '' WHERE server_id = ? RETURNING password_hash", nil, 403, "column_not_allowed"},
		{"SELECT pg_sleep(1)", nil, 403, "function_not_allowed"},
		{"SELECT 'x'::regclass", nil, 403, "type_not_allowed"},
		{"SELECT id FROM messages", nil, 403, "missing_server_scope"},
		{"SELECT id FROM messages WHERE server_id = ? OR true", nil, 403, "missing_server_scope"},
		{"UPDATE messages SET role = ''", nil, 403, "missing_server_scope"},
		{"DELETE FROM messages", nil, 403, "missing_server_scope"},
		{"INSERT INTO messages (id) VALUES (?)", []any{"x"}, 403, "missing_server_scope"},
		{"INSERT INTO messages (id, server_id, conversation_id) VALUES ('x', 'another', 'c-1')", nil, 403, "foreign_server_id"},
	}
}

// brokenArgs break the rules of args, and what only Postgres can tell.
func brokenArgs(server string) []refusal {
	return []refusal{
		{"SELECT ?", nil, 400, "argument_count"},
		{"SELECT id FROM messages WHERE server_id = ?", []any{server}, 400, "argument_count"},
		{"DELETE FROM messages WHERE server_id = ? AND id = ?", []any{server, "none"}, 400, "argument_count"},
		{"DELETE FROM messages WHERE server_id = ? AND id = ?", []any{"none", server}, 200, ""},
		{"DELETE FROM messages WHERE id = ? AND server_id = ?", []any{"none", "whatever"}, 200, ""},
		{"SELECT ?::int", []any{"abc"}, 400, "invalid_argument"},
		{"SELECT ?::int", []any{map[string]any{"a": 1}}, 400, "invalid_argument"},
		{"SELECT ?::int", []any{"1\x002"}, 400, "invalid_argument"},
		{"SELECT 1/0", nil, 422, "query_failed"},
		{"SELECT nope FROM messages WHERE server_id = ?", nil, 422, "query_failed"},
		{"SELECT m.nope FROM messages m WHERE server_id = ?", nil, 422, "query_failed"},
		{"SELECT c.id FROM conversations c JOIN messages m ON m.conversation_id = c.id WHERE server_id = ?", nil, 422, "query_failed"},
		{"INSERT INTO messages (id, server_id, conversation_id) VALUES ('m-1', ?, 'c-1')", []any{""}, 409, "constraint_violation"},
		{"INSERT INTO messages (id, server_id, conversation_id) VALUES ('new', ?, 'no such')", []any{""}, 409, "constraint_violation"},
		{"SELECT " + strings.Repeat("?,", 1000) + "?", many(1001), 400, "argument_count"},
	}
}

// TestRefusals goes through the rules of statements and args.
func TestRefusals(t *testing.T) {
	in := sharedInstance(t)
	for _, c := range append(brokenTexts(), brokenArgs(in.ServerID)...) {
		t.Run(c.code+"/"+c.sql[:min(40, len(c.sql))], func(t *testing.T) {
			r := in.query(t, c.sql, c.args...)
			if r.status != c.status || c.code != "" && errorOf(t, r).Code != c.code {
				t.Errorf("%s\nanswered %d %s, want %d %s", c.sql, r.status, r.body, c.status, c.code)
			}
			if c.code != "" && strings.Contains(r.body, "_tg") {
				t.Errorf("the rewritten text shows: %s", r.body)
			}
		})
	}
}

func many(n int) []any {
	args := make([]any, n)
	for i := range args {
		args[i] = "1"
	}
	return args
}

// TestErrorFields looks at what an error of a statement tells besides its code.
func TestErrorFields(t *testing.T) {
	in := sharedInstance(t)
	for _, c := range []struct {
		sql  string
		args []any
		want told
	}{
		{"SELECT é FROM WHERE", nil, told{SQLState: "42601", Position: 15}},
		{"SELECT 'é', nope, ? FROM messages m WHERE server_id = ?", []any{"a"}, told{SQLState: "42703", Position: 13}},
		{"SELECT id FROM messages WHERE server_id = ? AND lower(nope) = ?", []any{"a"}, told{SQLState: "42703", Position: 55}},
		{"SELECT 1/0", nil, told{SQLState: "22012"}},
		{"INSERT INTO messages (id, server_id, conversation_id) VALUES ('m-1', ?, 'c-1')", []any{""}, told{SQLState: "23505", Constraint: "messages_pkey"}},
	} {
		got := errorOf(t, in.query(t, c.sql, c.args...))
		if got.SQLState != c.want.SQLState || got.Position != c.want.Position || got.Constraint != c.want.Constraint || got.Message == "" || got.RequestID == "" {
			t.Errorf("%s\ntells %+v, want %+v", c.sql, got, c.want)
		}
	}
	got := errorOf(t, in.query(t, "SELECT ?::text, ?::int", "a", "b"))
	if got.Code != "invalid_argument" || !strings.Contains(got.Message, "args[1]") {
		t.Errorf("%+v", got)
	}
	got = errorOf(t, in.query(t, "SELECT id FROM messages WHERE server_id = ?", in.ServerID))
	if !strings.Contains(got.Hint, "must not contain server_id") {
		t.Errorf("%+v", got)
	}
}

// TestScopeIsReplaced gives another server's id wherever a value is given for it: the
// rows must be the caller's all the same.
func TestScopeIsReplaced(t *testing.T) {
	in := sharedInstance(t)
	const other = "somebody-else"
	for _, c := range []struct {
		sql  string
		args []any
	}{
		{"INSERT INTO conversations (id, server_id, title) VALUES (?, ?, 'x')", []any{"r-1", other}},
		{"INSERT INTO conversations (server_id, id) SELECT ?, 'r-2'", []any{other}},
		{"UPDATE conversations SET server_id = ? WHERE server_id = ? AND id = 'r-1'", []any{other}},
		{"UPDATE conversations SET (title, server_id) = (?, ?) WHERE id = 'r-1' AND server_id = ?", []any{"y", other, other}},
		{"INSERT INTO conversations (id, server_id) VALUES ('r-1', ?) ON CONFLICT (server_id, id) DO UPDATE SET server_id = EXCLUDED.server_id, title = 'z'", []any{other}},
	} {
		if r := in.query(t, c.sql, c.args...); r.status != 200 || !strings.Contains(r.body, `"rowsAffected":1`) {
			t.Errorf("%s: %d %s", c.sql, r.status, r.body)
		}
	}
	var count int
	if err := in.connect(t).QueryRow(t.Context(), "SELECT count(*) FROM public.conversations WHERE server_id = $1", other).Scan(&count); err != nil || count != 0 {
		t.Errorf("%d rows of another server were made: %v", count, err)
	}
	if r := in.query(t, "DELETE FROM conversations WHERE id IN ('r-1', 'r-2') AND server_id = ? RETURNING id"); !strings.Contains(r.body, `"rowsAffected":2`) {
		t.Errorf("%s", r.body)
	}
}

// TestQueryBodies sends bodies that are no query.
func TestQueryBodies(t *testing.T) {
	in := sharedInstance(t)
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	for _, c := range []struct {
		body, contentType string
		status            int
	}{
		{`{"query":"SELECT 1"}`, "application/json", 200},
		{`{"query":"SELECT 1","args":null}`, "application/json; charset=utf-8", 200},
		{`{"query":"SELECT 1","args":[]}`, "", 200},
		{`{"query":"SELECT 1"}`, "text/plain", 415},
		{`{"query":"SELECT 1"}`, "application/x-www-form-urlencoded", 415},
		{``, "application/json", 400}, {`{`, "application/json", 400}, {`"SELECT 1"`, "application/json", 400}, {`{}`, "application/json", 400},
		{`{"query":null}`, "application/json", 400}, {`{"query":5}`, "application/json", 400}, {`{"query":"SELECT 1","args":{}}`, "application/json", 400},
		{`{"query":"SELECT 1","args":"x"}`, "application/json", 400}, {`{"query":"SELECT 1","extra":1}`, "application/json", 400},
		{`{"Query":"SELECT 1"}`, "application/json", 400}, {`{"query":"SELECT 1","query":"SELECT 2"}`, "application/json", 400},
		{`{"query":"SELECT 1","args":[` + deep + `]}`, "application/json", 400},
		{`{"query":"SELECT 1"}{}`, "application/json", 400},
		{"{\"query\":\"SELECT '\xff'\"}", "application/json", 400},
		{`{"query":"` + strings.Repeat(" ", 1<<20) + `"}`, "application/json", 413},
	} {
		headers := []string{in.bearer()}
		if c.contentType != "" {
			headers = append(headers, "Content-Type: "+c.contentType)
		}
		if r := in.do(t, http.MethodPost, in.queryPath(in.ServerID), c.body, headers...); r.status != c.status {
			t.Errorf("%.60q as %q: %d %.200s, want %d", c.body, c.contentType, r.status, r.body, c.status)
		}
	}
}

// TestResult looks at the result's form.
func TestResult(t *testing.T) {
	in := sharedInstance(t)
	r := in.query(t, "SELECT 1 AS a, 2 AS a")
	if got := strings.Join(members(t, r.body), ","); got != "columns,rows,rowsAffected,executionTime,success" {
		t.Errorf("members %s", got)
	}
	var body struct {
		Columns       []string
		Rows          [][]int
		RowsAffected  int
		ExecutionTime json.Number
		Success       bool
	}
	if err := json.Unmarshal([]byte(r.body), &body); err != nil {
		t.Fatal(err)
	}
	if strings.Join(body.Columns, ",") != "a,a" || len(body.Rows) != 1 || !body.Success || body.RowsAffected != 0 || strings.Contains(body.ExecutionTime.String(), ".") {
		t.Errorf("%s", r.body)
	}
	r = in.query(t, "UPDATE messages SET role = role WHERE server_id = ?")
	if !strings.HasPrefix(r.body, `{"columns":[],"rows":[],"rowsAffected":`) || strings.Contains(r.body, `"rowsAffected":0`) {
		t.Errorf("%s", r.body)
	}
}
