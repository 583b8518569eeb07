package rest_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/rest"
)

// asked is a connection on which request lines are sent as they are, and another one when it is closed.
type asked struct {
	w *world
	c *rawConn
}

// ask gives status, Allow and what tellBody says of the answer. Headers are lines; without any, valid credentials are sent.
func (a *asked) ask(line string, headers ...string) string {
	a.w.t.Helper()
	if a.c == nil {
		a.c = a.w.dial()
	}
	if len(headers) == 0 {
		headers = []string{authorized}
	}
	verb, target, _ := strings.Cut(line, " ")
	a.c.send(line + " HTTP/1.1\r\nHost: x\r\n" + strings.Join(headers, "") + "\r\n")
	response, body := a.c.answer(verb, target)
	if response.Close {
		_ = a.c.Close()
		a.c = nil
	}
	told := []string{strconv.Itoa(response.StatusCode), response.Header.Get("Allow"), tellBody([]byte(body))}
	return strings.Join(slices.DeleteFunc(told, func(part string) bool { return part == "" }), " | ")
}

// tellBody names the server, how many there are in a list, the document or where it is, or the words by which an error begins.
func tellBody(body []byte) string {
	var answer struct {
		Server  *struct{ ID string }
		Servers []struct{ ID string }
		OpenAPI string
		Docs    string
		Error   *struct{ Message string }
	}
	if json.Unmarshal(body, &answer) != nil {
		return ""
	}
	switch {
	case answer.Server != nil:
		return "server " + answer.Server.ID
	case answer.Docs != "":
		return "see " + answer.Docs
	case answer.OpenAPI != "":
		return "the document"
	case answer.Servers != nil:
		return strconv.Itoa(len(answer.Servers)) + " servers"
	case answer.Error != nil:
		return strings.Join(strings.Fields(answer.Error.Message)[:5], " ") // no message is shorter
	}
	return ""
}

const (
	noHTTP    = "400 | the request is not well-formed"
	noPath    = "404 | there is no such path;"
	noServer  = "404 | there is no such project"
	malformed = "400 | the path holds a malformed"
	ofServer  = "GET, HEAD, PUT, OPTIONS"
	ofServers = "GET, HEAD, POST, OPTIONS"
	ofQuery   = "POST, OPTIONS"
	ofDocs    = "GET, HEAD, OPTIONS"
	refused   = " | this path answers "
)

// strange are ids that only a test has, which show how a path is read.
var strange = []string{"a/b", "a%2Fb", "a%2fb", "a b", "a+b", "..", ".", "é", "{server}", "*", "a?b", "a#b", "a%", "docs", "servers", "s1/database/query", "p1"}

// TestPaths has each path find what it names: each part is decoded once, and nothing is redirected or cleaned. Requests
// share connections, so that an id left from the one before would show.
func TestPaths(t *testing.T) {
	const s, p = serversPath, "/api/developer/projects"
	w := newWorld(t, func(w *world, _ *rest.Config) {
		for _, id := range strange {
			w.store.servers = append(w.store.servers, proxy.Server{ID: id, ProjectID: projectID, CreatedAt: moment, UpdatedAt: moment, Active: true})
		}
	})
	c, all := asked{w: w}, strconv.Itoa(2+len(strange))+" servers"
	for _, test := range []struct{ line, want string }{
		{"GET " + serverPath, "200 | server s1"},
		{"GET " + s, "200 | " + all},
		{"GET " + s + "?", "200 | " + all},
		{"GET /%61pi/developer/projects/%70%31/server%73/s%31", "200 | server s1"},
		{"GET /openapi%2Ejson", "200 | the document"}, {"GET /openapi%2ejson", "200 | the document"}, {"GET /%64%6f%63%73", "200"},
		{"GET /", "302 | see /docs"}, {"GET /?x", "302 | see /docs"}, {"GET /docs?x=%zz", "200"}, {"GET /docs?/../x", "200"}, {"GET /docs?", "200"},

		{"GET " + s + "/a%2Fb", "200 | server a/b"}, {"GET " + s + "/a%2fb", "200 | server a/b"}, {"GET " + s + "/%61%2F%62", "200 | server a/b"},
		{"GET " + s + "/a%252Fb", "200 | server a%2Fb"}, {"GET " + s + "/a%252fb", "200 | server a%2fb"}, {"GET " + s + "/a%25", "200 | server a%"},
		{"GET " + s + "/s1%2Fdatabase%2Fquery", "200 | server s1/database/query"}, {"GET " + s + "%2Fs1", noPath}, {"GET " + s + "%2fs1", noPath},
		{"GET " + s + "/a%20b", "200 | server a b"}, {"GET " + s + "/a+b", "200 | server a+b"}, {"GET " + s + "/a%2Bb", "200 | server a+b"},
		{"GET " + s + "/..", "200 | server .."}, {"GET " + s + "/%2e%2E", "200 | server .."}, {"GET " + s + "/.", "200 | server ."},
		{"GET " + s + "/%C3%A9", "200 | server é"}, {"GET " + s + "/é", "200 | server é"}, {"GET " + s + "/a#b", "200 | server a#b"}, {"GET " + s + "/a%23b", "200 | server a#b"},
		{"GET " + s + "/*", "200 | server *"}, {"GET " + s + "/{server}", "200 | server {server}"}, {"GET " + s + "/%7Bserver%7D", "200 | server {server}"},
		{"GET " + s + "/a%3Fb", "200 | server a?b"}, {"GET " + s + "/docs", "200 | server docs"}, {"GET " + s + "/servers", "200 | server servers"}, {"GET " + s + "/p1", "200 | server p1"},
		{"GET " + s + "/S1", noServer}, {"GET " + s + "/s1%00", noServer}, {"GET " + s + "/s1%20", noServer}, {"GET " + s + "/%2F", noServer}, {"GET " + s + "/s1;v=1", noServer},
		{"GET " + p + "/{project}/servers", noServer}, {"GET " + p + "/../servers", noServer}, {"GET " + p + "/%2F/servers/s1", noServer}, {"GET " + p + "/p1%2Fservers/servers", noServer},

		{"GET //", noPath}, {"GET ///", noPath}, {"GET /.", noPath}, {"GET /..", noPath}, {"GET /%2F", noPath}, {"GET /%00", noPath}, {"GET /x", noPath}, {"GET /*", noPath}, {"GET *", noPath}, {"GET docs", noHTTP}, {"GET %2Fdocs", noHTTP}, {"GET x%zz", noHTTP},
		{"GET /docs/", noPath}, {"GET /docs//", noPath}, {"GET //docs", noPath}, {"GET /./docs", noPath}, {"GET /x/../docs", noPath}, {"GET /docs/.", noPath}, {"GET /docs/..", noPath},
		{"GET /DOCS", noPath}, {"GET /Docs", noPath}, {"GET /docs%2F", noPath}, {"GET /docs%00", noPath}, {"GET /docs.", noPath}, {"GET /docs%20", noPath}, {"GET /docsx", noPath}, {"GET /doc", noPath},
		{"GET /metrics", noPath}, {"GET /healthz", noPath}, {"GET /readyz", noPath}, {"GET /x/docs", noPath}, {"GET /openapi", noPath}, {"GET /openapi.json/", noPath}, {"GET /openapi.jso%6e%6e", noPath},
		{"GET /api", noPath}, {"GET /api/", noPath}, {"GET " + p, noPath}, {"GET " + p + "/", noPath}, {"GET " + p + "/p1", noPath}, {"GET " + p + "/p1/", noPath}, {"GET " + p + "/p1/server", noPath},
		{"GET " + p + "//servers", noPath}, {"GET " + p + "//servers/s1", noPath}, {"GET " + p + "///", noPath}, {"GET " + p + "/p1//servers", noPath}, {"GET /" + serverPath, noPath},
		{"GET " + s + "/", noPath}, {"GET " + s + "//", noPath}, {"GET " + s + "//s1", noPath}, {"GET " + serverPath + "/", noPath}, {"GET " + serverPath + "//", noPath}, {"GET " + serverPath + "/database", noPath},
		{"POST " + s + "//database/query", noPath}, {"POST " + s + "/s1//database/query", noPath}, {"POST " + p + "//servers/s1/database/query", noPath}, {"POST " + p + "//servers//database/query", noPath},
		{"POST " + queryPath + "/", noPath}, {"POST " + queryPath + "/x", noPath}, {"POST " + queryPath + strings.Repeat("/x", 500), noPath}, {"GET " + strings.Repeat("/", 3000), noPath}, {"GET /" + strings.Repeat("%2F", 3000), noPath},
		{"GET /api/auth/user", noPath}, {"GET /api/auth/user/by-email/", noPath}, {"GET /api/auth/user/by%2Demail", "401 | send the server's id as"}, {"GET /api/auth/user/by-email%2F", noPath},

		{"GET " + s + "/%zz", malformed}, {"GET " + s + "/a%", malformed}, {"GET " + s + "/a%2", malformed}, {"GET " + s + "/%2/F", malformed}, {"GET /docs/%", malformed}, {"GET /%g0", malformed},
		{"GET " + p + "//%zz", malformed}, {"GET " + queryPath + strings.Repeat("/x", 500) + "/%", malformed}, {"GET /%%30", malformed}, {"DELETE /docs%", malformed}, {"OPTIONS /docs%", malformed}, {"QUERY /%", malformed},

		{"GET http://other" + serverPath, "200 | server s1"}, {"GET HTTPS://other:1/docs", "200"}, {"GET a://b/docs", "200"}, {"GET http://other//docs", noPath}, {"GET http://other", "302 | see /docs"},
		{"GET http://other/%64ocs?x=http://y/", "200"}, {"GET http://other?x=/docs", "302 | see /docs"}, {"GET http://other//", noPath}, {"GET /http://other/docs", noPath}, {"GET http:/docs", noHTTP}, {"GET other/docs", noHTTP},
	} {
		if got := c.ask(test.line); got != test.want {
			t.Errorf("%.200s: %s, want %s", test.line, got, test.want)
		}
	}
}

// TestPathsUnderABase has the base path taken as it was sent, and what is under it as without one.
func TestPathsUnderABase(t *testing.T) {
	w := newWorld(t, func(_ *world, c *rest.Config) { c.BasePath = "/a/b" })
	c := asked{w: w}
	for line, want := range map[string]string{
		"GET /a/b" + serverPath: "200 | server s1", "GET /a/b/%64ocs": "200", "GET http://x/a/b/docs": "200", "OPTIONS /a/b/docs": "204 | " + ofDocs, "DELETE /a/b/docs": "405 | " + ofDocs + refused + "GET, HEAD,",
		"GET /%61/b/docs": noPath, "GET /a%2Fb/docs": noPath, "GET /a/b//docs": noPath, "GET /a/bdocs": noPath, "GET /a/b%2Fdocs": noPath, "GET /a/docs": noPath, "GET /docs": noPath, "GET /a/b/a/b/docs": noPath,
		"GET /a//b/docs": noPath, "GET //a/b/docs": noPath, "GET /a/b/../b/docs": noPath, "GET /a/b": "302 | see /a/b/docs", "GET /a/b/": "302 | see /a/b/docs", "GET /a/b?x": "302 | see /a/b/docs", "GET /a/b//": noPath, "GET /": noPath, "GET /a": noPath, "GET /a/": noPath, "GET /a/b/%2F": noPath, "PUT /a/b": "405 | " + ofDocs + refused + "GET, HEAD,", "GET /a/c/%": noPath, "GET /a/b%zz": noPath, "GET /a/b/%": malformed,
		"OPTIONS *": "204 | GET, HEAD, POST, PUT, OPTIONS",
	} {
		if got := c.ask(line); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
