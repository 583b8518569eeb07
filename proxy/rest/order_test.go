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

// A token's scopes: servers need manage, statements what they do.
func TestScopes(t *testing.T) {
	w := newWorld(t, nil)
	const (
		read  = `{"query":"SELECT 1"}`
		write = `{"query":"DELETE FROM files WHERE server_id = ?"}`
		lock  = `{"query":"SELECT id FROM files WHERE server_id = ? FOR UPDATE"}`
	)
	for _, test := range []struct {
		token, method, path, body string
		allowed                   bool
		scope                     string // the missing one, as the challenge names it
	}{
		{"manage", "GET", serversPath, "", true, ""},
		{"read", "GET", serversPath, "", false, "manage"},
		{"write", "POST", serversPath, `{"name":"n"}`, false, "manage"},
		{"nothing", "PUT", serverPath, `{}`, false, "manage"},
		{"manage", "POST", queryPath, read, false, "read write"},
		{"read", "POST", queryPath, read, true, ""},
		{"read", "POST", queryPath, write, false, "write"},
		{"write", "POST", queryPath, write, true, ""},
		{"write", "POST", queryPath, read, false, "read"},
		{"write", "POST", queryPath, lock, true, ""},
		{"read", "POST", queryPath, lock, false, "write"},
	} {
		response, body := w.do(test.method, test.path, test.body, as(test.token))
		if test.allowed != (response.StatusCode == 200) {
			t.Errorf("%s: %s %s %s: %s", test.token, test.method, test.path, test.body, body)
		}
		if want := `scope="` + test.scope + `"`; !test.allowed && !strings.Contains(response.Header.Get("WWW-Authenticate"), want) {
			t.Errorf("%s: WWW-Authenticate is %s, want %s", test.token, response.Header.Get("WWW-Authenticate"), want)
		}
	}
}
