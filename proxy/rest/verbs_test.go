package rest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantgate/tenantgate/proxy/rest"
)

// TestVerbs has each path answer the methods that it has, and the others with 405 where it exists and 404 where it does not.
func TestVerbs(t *testing.T) {
	w := newWorld(t, nil)
	c := asked{w: w}
	c.ask("GET " + serverPath) // with valid credentials the connection goes on after a refusal
	others := []string{"PATCH", "DELETE", "TRACE", "CONNECT", "QUERY", "get", "Get", "*", "M-SEARCH", "HEADS", "OPTION"}
	for path, allow := range map[string]string{
		emailPath: ofDocs, serversPath: ofServers, serverPath: ofServer, queryPath: ofQuery, "/openapi.json": ofDocs, "/docs": ofDocs, "/": ofDocs,
		serversPath + "/a%2Fb": ofServer, serversPath + "/..": ofServer, "/%64ocs?x": ofDocs, "/api/developer/projects/nobody/servers": ofServers,
	} {
		verbs := slices.Clone(others)
		for _, verb := range []string{"GET", "HEAD", "POST", "PUT"} {
			if !slices.Contains(strings.Split(allow, ", "), verb) {
				verbs = append(verbs, verb)
			}
		}
		for _, verb := range verbs {
			want := "405 | " + allow + refused
			if got := c.ask(verb+" "+path) + " "; !strings.HasPrefix(got, want) && (verb != "HEAD" || got != "405 | "+allow+" ") {
				t.Errorf("%s %s: %s, want %s", verb, path, got, want)
			}
		}
		options, body := w.do("OPTIONS", path, "")
		if options.StatusCode != 204 || options.Header.Get("Allow") != allow || body != "" || options.Header.Get("Content-Type") != "" || options.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("OPTIONS %s: %d %v", path, options.StatusCode, options.Header)
		}
	}
	for _, path := range []string{"/nowhere", "/docs/", serversPath + "/", "/api/developer/projects//servers", "/api/developer/projects//servers/s1", serversPath + "//database/query", "/" + serverPath} {
		for _, verb := range append(others, "GET", "POST", "PUT", "OPTIONS") {
			if got := c.ask(verb + " " + path); got != noPath {
				t.Errorf("%s %s: %s", verb, path, got)
			}
		}
	}
	for line, want := range map[string]string{
		"OPTIONS *": "204 | GET, HEAD, POST, PUT, OPTIONS", "OPTIONS /*": noPath, "CONNECT x:80": noPath, "options *": noPath, "GET *": noPath, "HEAD *": "404", "OPTIONS *?x": noHTTP, "OPTIONS **": noHTTP,
	} {
		if got := c.ask(line); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// TestLabels has logs and metrics know each endpoint by its name, and as other what reaches none.
func TestLabels(t *testing.T) {
	w := newWorld(t, nil)
	c := asked{w: w}
	var want []string
	for _, test := range []struct{ line, label string }{
		{"GET " + serverPath, "get_server ok"}, {"HEAD " + serverPath, "get_server ok"}, {"OPTIONS " + serverPath, "other ok"}, {"DELETE " + serverPath, "other method_not_allowed"},
		{"PUT " + serverPath, "update_server invalid_json"}, {"GET " + serversPath, "list_servers ok"}, {"POST " + serversPath, "create_server invalid_json"},
		{"POST " + queryPath, "query invalid_json"}, {"GET " + emailPath, "user_by_email unauthorized"}, {"GET /openapi.json", "openapi ok"}, {"HEAD /docs", "docs ok"}, {"GET /", "root ok"},
		{"GET /nowhere", "other not_found"}, {"GET /%", "other invalid_request"}, {"OPTIONS *", "other ok"}, {"GET " + serversPath + "/nobody", "get_server not_found"},
	} {
		c.ask(test.line)
		want = append(want, test.label)
	}
	w.shutDown()
	if diff := cmp.Diff(want, w.counts.all()); diff != "" {
		t.Error(diff)
	}
}

// TestFaultyHeads has the path and the method come before what is wrong in the head, for OPTIONS too.
func TestFaultyHeads(t *testing.T) {
	w := newWorld(t, func(_ *world, c *rest.Config) { c.MaxBodyBytes = 10 })
	c := asked{w: w}
	for _, test := range []struct{ line, headers, want string }{
		{"OPTIONS /docs", authorized + authorized, "400 | header Authorization must not be"},
		{"OPTIONS /nowhere", authorized + authorized, noPath},
		{"OPTIONS *", authorized + authorized, "204 | GET, HEAD, POST, PUT, OPTIONS"},
		{"DELETE /docs", authorized + authorized, "405 | " + ofDocs + refused + "GET, HEAD,"},
		{"GET /%", authorized + authorized, malformed},
		{"GET /docs", authorized + authorized, "400 | header Authorization must not be"},
		{"OPTIONS /docs", "Content-Length: 11\r\n", "413 | the body is larger than"},
		{"PUT /docs", "Content-Length: 11\r\n", "405 | " + ofDocs + refused + "GET, HEAD,"},
		{"PUT /nowhere", "Content-Length: 11\r\n", noPath},
		{"PUT " + serverPath, "Content-Length: 11\r\n", "413 | the body is larger than"},
	} {
		if got := c.ask(test.line, test.headers); got != test.want {
			t.Errorf("%s %q: %s, want %s", test.line, test.headers, got, test.want)
		}
	}
}
