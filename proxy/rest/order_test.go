package rest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/proxy/rest"
)

// Each request has every fault from its row's on: the first one is told. The rows go
// in the order of the interface.
func TestOrderOfChecks(t *testing.T) {
	w := newWorld(t, func(_ *world, c *rest.Config) { c.MaxBodyBytes = 100 })
	const typo = `{"qurey":`
	for _, test := range []struct {
		fault, method, path, body string
		headers                   []string
		want                      int
		code                      string
	}{
		{"path", "PATCH", "/api/developer/projects/p1/server", strings.Repeat("x", 101), []string{"X-API-Key: a", "X-API-Key: b"}, 404, "not_found"},
		{"method", "PATCH", queryPath, strings.Repeat("x", 101), []string{"X-API-Key: a", "X-API-Key: b"}, 405, "method_not_allowed"},
		{"header", "POST", queryPath, strings.Repeat("x", 101), []string{"X-API-Key: a", "X-API-Key: b"}, 400, "invalid_request"},
		{"body size", "POST", queryPath, strings.Repeat("x", 101), nil, 413, "body_too_large"},
		{"credentials", "POST", "/api/developer/projects/p2/servers/s9/database/query", typo, []string{"Content-Type: text/plain"}, 401, "unauthorized"},
		{"credentials", "POST", queryPath, typo, []string{as("wrong"), "Content-Type: text/plain"}, 401, "unauthorized"},
		{"reach of the project", "POST", "/api/developer/projects/p2/servers/s1/database/query", typo, []string{as("nothing"), "Content-Type: text/plain"}, 404, "not_found"},
		{"reach of the server", "POST", serversPath + "/s9/database/query", typo, []string{as("nothing"), "Content-Type: text/plain"}, 404, "not_found"},
		{"a missing project", "POST", "/api/developer/projects/gone/servers", typo, []string{as("nothing"), "Content-Type: text/plain"}, 404, "not_found"},
		{"scope", "POST", serversPath + "/off/database/query", typo, []string{as("manage"), "Content-Type: text/plain"}, 403, "insufficient_scope"},
		{"activity", "POST", serversPath + "/off/database/query", typo, []string{as("read"), "Content-Type: text/plain"}, 403, "server_inactive"},
		{"accept", "POST", queryPath, typo, []string{as("read"), "Accept: text/html", "Content-Type: text/plain"}, 406, "not_acceptable"},
		{"content type", "POST", queryPath, typo, []string{as("read"), "Content-Type: text/plain"}, 415, "unsupported_media_type"},
		{"body is JSON", "POST", queryPath, typo, []string{as("read")}, 400, "invalid_json"},
		{"body's shape", "POST", queryPath, `{"qurey":"DROP TABLE x"}`, []string{as("read")}, 400, "invalid_request"},
		{"statement", "POST", queryPath, `{"query":"DROP TABLE x","args":[1]}`, []string{as("read")}, 403, "statement_not_allowed"},
		{"scope of the statement", "POST", queryPath, `{"query":"DELETE FROM files WHERE server_id=?","args":[1,2,3]}`, []string{as("read")}, 403, "insufficient_scope"},
		{"args", "POST", queryPath, `{"query":"SELECT 1","args":[1]}`, []string{as("read")}, 400, "argument_count"},

		{"scope", "GET", serverPath, "", []string{as("read"), "Accept: text/html"}, 403, "insufficient_scope"},
		{"accept", "GET", serverPath + "?x=1", "", []string{as(token), "Accept: text/html"}, 406, "not_acceptable"},
		{"scope", "POST", serversPath, "x", []string{as("write"), "Content-Type: text/plain"}, 403, "insufficient_scope"},
		{"activity", "GET", emailPath, "", []string{"X-Server-ID: off", "X-API-Key: " + apiKey, "Accept: text/html"}, 403, "server_inactive"},
		{"accept", "GET", emailPath, "", []string{"X-Server-ID: s1", "X-API-Key: " + apiKey, "Accept: text/html"}, 406, "not_acceptable"},
		{"accept", "GET", "/openapi.json", "", []string{"Accept: text/html"}, 406, "not_acceptable"},
	} {
		status, body := w.call(test.method, test.path, test.body, test.headers...)
		if code, _ := errorOf(t, body); status != test.want || code != test.code {
			t.Errorf("%s: %s %s gave %d %s, want %d %s", test.fault, test.method, test.path, status, body, test.want, test.code)
		}
	}
}

// Ensure whoever sends an API key where a token is needed learns what it is for.
func TestKeyForToken(t *testing.T) {
	w := newWorld(t, nil)
	const instead = "an API key looks end users up"
	if _, body := w.call("POST", queryPath, `{"query":"SELECT 1"}`, "X-Server-ID: s1", "X-API-Key: "+apiKey); !strings.Contains(body, instead) {
		t.Errorf("with a key: %s", body)
	}
	if _, body := w.call("POST", queryPath, `{"query":"SELECT 1"}`); strings.Contains(body, instead) {
		t.Errorf("with nothing: %s", body)
	}
}

// Nothing is looked up before the head is known to be right, nor for what can be no id.
func TestNoLookUpBeforeItsTurn(t *testing.T) {
	w := newWorld(t, nil)
	w.call("GET", serverPath, "", as(token), as(token))
	w.call("GET", serverPath, "")
	w.call("GET", serverPath, "", "Authorization: Basic abc")
	w.call("GET", emailPath+"?email=a@b", "", "X-Server-ID: s1")
	if calls := w.store.called(); len(calls) != 0 {
		t.Errorf("looked up: %v", calls)
	}
	for _, id := range []string{"%00", "a%0ab", "%ff", "..%2f%00", strings.Repeat("a", 201), "%7f"} {
		status, _ := w.call("GET", serversPath+"/"+id, "", as(token))
		if status != http.StatusNotFound {
			t.Errorf("id %q: %d", id, status)
		}
	}
	if calls := w.store.called(); slices.Contains(calls, "Server") {
		t.Errorf("looked up: %v", calls)
	}
}

// A token's scopes: servers need manage, statements read for the rows that they answer
// and write for those that they change or lock, whatever kind they are of.
func TestScopes(t *testing.T) {
	w := newWorld(t, nil)
	const (
		selects   = `{"query":"SELECT id FROM files WHERE server_id = ?"}`
		locks     = `{"query":"SELECT id FROM files WHERE server_id = ? FOR UPDATE"}`
		deletes   = `{"query":"DELETE FROM files WHERE server_id = ?"}`
		inserts   = `{"query":"INSERT INTO files (server_id) VALUES (?)","args":["s1"]}`
		updates   = `{"query":"UPDATE files SET name = 'a' WHERE server_id = ?"}`
		returns   = `{"query":"UPDATE files SET name = 'a' WHERE server_id = ? RETURNING storage_key"}`
		inserted  = `{"query":"INSERT INTO files (server_id) VALUES (?) RETURNING id","args":["s1"]}`
		withWrite = `{"query":"WITH x AS (DELETE FROM files WHERE server_id = ? RETURNING id) SELECT * FROM x"}`
		withRead  = `{"query":"WITH x AS (SELECT id FROM files WHERE server_id = ?) DELETE FROM files f USING x WHERE f.server_id = ? AND f.id = x.id"}`
	)
	for _, test := range []struct {
		token, method, path, body string
		missing                   string // as the challenge names it; "" where it is allowed
	}{
		{"manage", "GET", serversPath, "", ""},
		{"read", "GET", serversPath, "", "manage"},
		{"write", "POST", serversPath, `{"name":"n"}`, "manage"},
		{"nothing", "PUT", serverPath, `{}`, "manage"},
		{"manage", "POST", queryPath, selects, "read write"},

		{"read", "POST", queryPath, selects, ""}, {"write", "POST", queryPath, selects, "read"},
		{"read", "POST", queryPath, deletes, "write"}, {"write", "POST", queryPath, deletes, ""},
		{"read", "POST", queryPath, inserts, "write"}, {"write", "POST", queryPath, inserts, ""},
		{"read", "POST", queryPath, updates, "write"}, {"write", "POST", queryPath, updates, ""},
		{"read", "POST", queryPath, withRead, "write"}, {"write", "POST", queryPath, withRead, ""},
		{"read", "POST", queryPath, locks, "write"}, {"write", "POST", queryPath, locks, "read"}, {"both", "POST", queryPath, locks, ""},
		{"read", "POST", queryPath, returns, "write"}, {"write", "POST", queryPath, returns, "read"}, {"both", "POST", queryPath, returns, ""},
		{"read", "POST", queryPath, inserted, "write"}, {"write", "POST", queryPath, inserted, "read"}, {"both", "POST", queryPath, inserted, ""},
		{"read", "POST", queryPath, withWrite, "write"}, {"write", "POST", queryPath, withWrite, "read"}, {"both", "POST", queryPath, withWrite, ""},
	} {
		response, body := w.do(test.method, test.path, test.body, as(test.token))
		if (test.missing == "") != (response.StatusCode == 200) {
			t.Errorf("%s: %s %s %s: %s", test.token, test.method, test.path, test.body, body)
		}
		if want := `scope="` + test.missing + `"`; test.missing != "" && !strings.Contains(response.Header.Get("WWW-Authenticate"), want) {
			t.Errorf("%s %s: WWW-Authenticate is %s, want %s", test.token, test.body, response.Header.Get("WWW-Authenticate"), want)
		}
	}
}
