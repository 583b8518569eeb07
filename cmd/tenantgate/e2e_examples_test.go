package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// example is an error as the OpenAPI document shows it.
type example struct {
	Value struct {
		Error map[string]any `json:"error"`
	} `json:"value"`
}

// unprovoked are the examples that no request to a healthy service brings about.
var unprovoked = []string{
	"Conflict/serialization_failure", "Internal/internal", "RateLimited/rate_limited", "TooManyConnections/rate_limited",
	"Unavailable/upstream_unavailable", "Unavailable/overloaded", "Unavailable/shutting_down",
}

// TestExamples holds the document's examples of errors against what the service answers:
// a reader takes their words for the service's own.
func TestExamples(t *testing.T) {
	in := sharedInstance(t)
	answers := in.provoke(t)
	for name, shown := range in.examples(t) {
		answer, provoked := answers[name]
		delete(answers, name)
		if slices.Contains(unprovoked, name) {
			continue
		}
		if !provoked {
			t.Errorf("%s is never provoked", name)
			continue
		}
		var got struct {
			Error map[string]any `json:"error"`
		}
		if err := json.Unmarshal([]byte(answer.body), &got); err != nil {
			t.Fatalf("%s: %v in %s", name, err, answer.body)
		}
		got.Error["requestId"] = shown.Value.Error["requestId"]
		if fmt.Sprint(got.Error) != fmt.Sprint(shown.Value.Error) {
			t.Errorf("%s\n shows   %v\n answers %v", name, shown.Value.Error, got.Error)
		}
	}
	for name := range answers {
		t.Errorf("the document has no example %s", name)
	}
}

// examples are those of the document's error responses, by response and code.
func (in *instance) examples(t *testing.T) map[string]example {
	var document struct {
		Components struct {
			Responses map[string]struct {
				Content map[string]struct {
					Examples map[string]example `json:"examples"`
				} `json:"content"`
			} `json:"responses"`
		} `json:"components"`
	}
	if err := json.Unmarshal([]byte(in.do(t, http.MethodGet, "/openapi.json", "").body), &document); err != nil {
		t.Fatal(err)
	}
	all := map[string]example{}
	for response, r := range document.Components.Responses {
		for code, e := range r.Content["application/json"].Examples {
			all[response+"/"+code] = e
		}
	}
	if len(all) < 40 {
		t.Fatalf("the document has only %d examples", len(all))
	}
	return all
}

// provoke asks for every error that can be had, by response and code.
func (in *instance) provoke(t *testing.T) map[string]reply {
	answers := map[string]reply{}
	in.provokeStatements(t, answers)
	in.provokeRequests(t, answers)
	in.provokeRefusals(t, answers)
	return answers
}

func (in *instance) provokeStatements(t *testing.T, answers map[string]reply) {
	in.query(t, "DELETE FROM end_users WHERE server_id = ? AND id = 'twice'")
	for name, q := range map[string][]any{
		"BadStatement/syntax_error":                {"SELECT * FORM messages"},
		"BadStatement/empty_query":                 {"-- nothing to do"},
		"BadStatement/multiple_statements":         {"SELECT 1; SELECT 2"},
		"BadStatement/mixed_placeholders":          {"SELECT ?, $1", 1, 2},
		"BadStatement/argument_count":              {"SELECT id FROM messages WHERE server_id = ?", in.ServerID},
		"BadStatement/invalid_argument":            {"SELECT id FROM files WHERE server_id = ? AND name = ? AND size_bytes > ?", "a", "large"},
		"StatementForbidden/missing_server_scope":  {"SELECT id FROM end_users"},
		"StatementForbidden/statement_not_allowed": {"TRUNCATE messages"},
		"StatementForbidden/table_not_allowed":     {"SELECT * FROM pg_authid"},
		"StatementForbidden/column_not_allowed":    {"SELECT password_hash FROM end_users WHERE server_id = ?"},
		"StatementForbidden/function_not_allowed":  {"SELECT pg_sleep(10)"},
		"StatementForbidden/type_not_allowed":      {"SELECT 'messages'::regclass"},
		"StatementForbidden/construct_not_allowed": {"SELECT id FROM messages TABLESAMPLE SYSTEM (10) WHERE server_id = ?"},
		"Conflict/constraint_violation":            {"INSERT INTO end_users (id, server_id, email) VALUES ('twice', ?, 'ada@example.com')", ""},
		"StatementTooLarge/query_too_long":         {"SELECT '" + strings.Repeat("x", 10240) + "'"},
		"StatementFailed/query_failed":             {"SELECT nam FROM end_users WHERE server_id = ?"},
		"StatementFailed/result_too_large":         {"SELECT n FROM generate_series(1, 10001) n"},
		"StatementTimeout/statement_timeout":       {slow(3000)},
	} {
		answers[name] = in.query(t, q[0].(string), q[1:]...)
	}
	rejecting := fresh(t, "--policy", editedPolicy(t, "foreignServerId: replace", "foreignServerId: reject"), "--max-servers-per-project=3")
	for range 3 {
		answers["ServerNotCreated/limit_reached"] = rejecting.do(t, http.MethodPost, rejecting.serversPath(), `{"name":"one more"}`, rejecting.bearer())
	}
	answers["StatementForbidden/foreign_server_id"] = rejecting.query(t, "INSERT INTO files (server_id, name) VALUES (?, 'x')", "srv_other")
}

func (in *instance) provokeRequests(t *testing.T, answers map[string]reply) {
	query, tooLarge := in.queryPath(in.ServerID), `{"query":"`+strings.Repeat("x", 1<<20)+`"}`
	answers["BadRequest/invalid_json"] = in.do(t, http.MethodPost, in.serversPath(), `{"name":"shop",}`, in.bearer())
	answers["BadRequest/invalid_request"] = in.do(t, http.MethodPost, in.serversPath(), `{"name":""}`, in.bearer())
	answers["BadStatement/invalid_json"] = in.do(t, http.MethodPost, query, `{"query":"x",}`, in.bearer())
	answers["BadStatement/invalid_request"] = in.do(t, http.MethodPost, query, `{"query":"SELECT 1","args":"x"}`, in.bearer())
	answers["ServerNotCreated/constraint_violation"] = in.do(t, http.MethodPost, in.serversPath(), `{"id":"`+in.ServerID+`","name":"one more"}`, in.bearer())
	answers["UnauthorizedBearer/unauthorized"] = in.do(t, http.MethodGet, in.serversPath(), "")
	answers["UnauthorizedKey/unauthorized"] = in.lookup(t, "ada@example.com")
	answers["NotFound/not_found"] = in.do(t, http.MethodGet, in.serversPath()+"/none", "", in.bearer())
	answers["UserNotFound/user_not_found"] = in.lookup(t, "nobody@example.com", in.application()...)
	answers["UserTooLarge/result_too_large"] = in.lookupLong(t)
	answers["MethodNotAllowed/method_not_allowed"] = in.do(t, http.MethodDelete, in.serversPath(), "", in.bearer())
	answers["NotAcceptable/not_acceptable"] = in.do(t, http.MethodGet, in.serversPath(), "", in.bearer(), "Accept: text/html")
	answers["BodyTooLarge/body_too_large"] = in.do(t, http.MethodPost, in.serversPath(), tooLarge, in.bearer())
	answers["StatementTooLarge/body_too_large"] = in.do(t, http.MethodPost, query, tooLarge, in.bearer())
	answers["UnsupportedMediaType/unsupported_media_type"] = in.do(t, http.MethodPost, query, `{}`, in.bearer(), "Content-Type: text/plain")
}

// lookupLong asks for a user with long values, who is there only meanwhile: other tests share the server.
func (in *instance) lookupLong(t *testing.T) reply {
	defer in.query(t, "DELETE FROM end_users WHERE server_id = ? AND id = 'long'", "")
	made := in.query(t, "INSERT INTO end_users (id, server_id, email, username) VALUES ('long', ?, 'long@example.com', repeat('x', 70000))", "")
	if made.status != http.StatusOK {
		t.Errorf("%d %s", made.status, made.body)
	}
	return in.lookup(t, "long@example.com", in.application()...)
}

func (in *instance) provokeRefusals(t *testing.T, answers map[string]reply) {
	var token struct{ Token string }
	if err := json.Unmarshal([]byte(in.cli(t, "token", "create", "--project", in.ProjectID, "--scope", "read", "--json")), &token); err != nil {
		t.Fatal(err)
	}
	reader := "Authorization: Bearer " + token.Token
	answers["NeedsManage/insufficient_scope"] = in.do(t, http.MethodGet, in.serversPath(), "", reader)
	answers["StatementForbidden/insufficient_scope"] = in.do(t, http.MethodPost, in.queryPath(in.ServerID), `{"query":"DELETE FROM files WHERE server_id = ? AND id = 'none'"}`, reader)
	_, server := serverOf(t, in.do(t, http.MethodPost, in.serversPath(), `{"name":"asleep"}`, in.bearer()))
	id, key := server["id"].(string), server["apiKey"].(string)
	in.cli(t, "server", "deactivate", id)
	answers["ServerInactive/server_inactive"] = within(t, 403, func() reply { return in.lookup(t, "a@b.c", "X-Server-ID: "+id, "X-API-Key: "+key) })
	answers["StatementForbidden/server_inactive"] = within(t, 403, func() reply { return in.queryAs(t, id, "SELECT 1") })
}

// editedPolicy writes the default policy with one line changed.
func editedPolicy(t *testing.T, old, changed string) string {
	t.Helper()
	src, err := os.ReadFile("../../policies/default.yaml")
	if err != nil || !strings.Contains(string(src), old) {
		t.Fatalf("no %q in the default policy: %v", old, err)
	}
	path := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(path, []byte(strings.Replace(string(src), old, changed, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
