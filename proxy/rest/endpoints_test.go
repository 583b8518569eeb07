package rest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/rest"
)

const shop = `{"id":"s1","name":"Shop","description":"","projectId":"p1","createdAt":"2026-01-31T09:15:00.000Z","updatedAt":"2026-01-31T09:15:00.000Z","isActive":true}`

// Bodies byte for byte: the order of members is part of the interface.
func TestAnswers(t *testing.T) {
	for _, test := range []struct{ name, method, path, body, want string }{
		{"list", "GET", serversPath, "", `{"servers":[` + shop + `,{"id":"off","name":"Old","description":"asleep","projectId":"p1","createdAt":"2026-01-31T09:15:00.000Z","updatedAt":"2026-01-31T09:15:00.000Z","isActive":false}]}`},
		{"create", "POST", serversPath, `{"name":"  Näme ","description":"d\ne"}`, `{"server":{"id":"new2","name":"Näme","description":"d\ne","apiKey":"tg_srv_new","projectId":"p1","createdAt":"2026-01-31T09:15:00.000Z"}}`},
		{"create without a description", "POST", serversPath, `{"name":"n"}`, `{"server":{"id":"new2","name":"n","description":"","apiKey":"tg_srv_new","projectId":"p1","createdAt":"2026-01-31T09:15:00.000Z"}}`},
		{"create with null", "POST", serversPath, `{"name":"n","description":null}`, `{"server":{"id":"new2","name":"n","description":"","apiKey":"tg_srv_new","projectId":"p1","createdAt":"2026-01-31T09:15:00.000Z"}}`},
		{"create with an id", "POST", serversPath, `{"id":"acme-1","name":"n"}`, `{"server":{"id":"acme-1","name":"n","description":"","apiKey":"tg_srv_new","projectId":"p1","createdAt":"2026-01-31T09:15:00.000Z"}}`},
		{"get", "GET", serverPath, "", `{"server":` + shop + `}`},
		{"update nothing", "PUT", serverPath, `{}`, `{"server":` + shop + `}`},
		{"update the name", "PUT", serverPath, `{"name":"N"}`, `{"server":{"id":"s1","name":"N","description":"","projectId":"p1","createdAt":"2026-01-31T09:15:00.000Z","updatedAt":"2026-01-31T09:15:01.234Z","isActive":true}}`},
		{"clear the description", "PUT", serversPath + "/off", `{"description":null}`, `{"server":{"id":"off","name":"Old","description":"","projectId":"p1","createdAt":"2026-01-31T09:15:00.000Z","updatedAt":"2026-01-31T09:15:01.234Z","isActive":false}}`},
		{"query", "POST", queryPath, `{"query":"SELECT 1"}`, `{"columns":["args","int8"],"rows":[["",false]],"rowsAffected":0,"executionTime":0,"success":true}`},
		{"args", "POST", queryPath, `{"query":"SELECT ?,?,?,?,?,?","args":["a\u00e9",-1.50e3,true,null,[1, 2],{"k":"v"}]}`,
			`{"columns":["args","int8"],"rows":[["3:aé 2:-1.50e3 1:true 0: 4:[1, 2] 5:{\"k\":\"v\"}",false]],"rowsAffected":6,"executionTime":0,"success":true}`},
		{"null args", "POST", queryPath, `{"args":null,"query":"SELECT 1"}`, `{"columns":["args","int8"],"rows":[["",false]],"rowsAffected":0,"executionTime":0,"success":true}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, nil)
			status, got := w.call(test.method, test.path, test.body, as(token))
			if status != http.StatusOK || got != test.want {
				t.Errorf("%d %s\nwant %s", status, got, test.want)
			}
		})
	}
}

// Ids of the caller's go to whoever makes servers as they are, and what that says of them names the member.
func TestCreateWithAnID(t *testing.T) {
	w := newWorld(t, nil)
	for _, c := range []struct {
		token, body, want string
		status            int
	}{
		{token, `{"id":"acme","name":"n"}`, `{"server":{"id":"acme",`, 200},
		{token, `{"id":"acme","name":"n"}`, `{"error":{"code":"constraint_violation","message":"it is taken",`, 409},
		{token, `{"id":"a b","name":"n"}`, `{"error":{"code":"invalid_request","message":"member \"id\": no blanks",`, 400},
		{token, `{"id":"","name":"n"}`, `{"error":{"code":"invalid_request","message":"member \"id\": no blanks",`, 400}, // and none is made for it
		{"both", `{"id":"mine","name":"n"}`, `{"error":{"code":"insufficient_scope",`, 403},
		{"unknown", `{"id":"mine","name":"n"}`, `{"error":{"code":"unauthorized",`, 401},
	} {
		if status, body := w.call("POST", serversPath, c.body, as(c.token)); status != c.status || !strings.HasPrefix(body, c.want) || status == 400 && !strings.HasSuffix(body, `,"hint":"leave them out"}}`) {
			t.Errorf("%s as %s: %d %s", c.body, c.token, status, body)
		}
	}
	if status, body := w.call("POST", "/api/developer/projects/p2/servers", `{"id":"mine","name":"n"}`, as(token)); status != 404 {
		t.Errorf("in another project: %d %s", status, body)
	}
	if calls := strings.Join(w.store.called(), "\n"); strings.Contains(calls, "CreateServerWithID mine") || strings.Contains(calls, "CreateServer\n") {
		t.Errorf("asked for %s", calls)
	}
}

func TestUserByEmail(t *testing.T) {
	w := newWorld(t, nil)
	const want = `{"id":"u1","externalUserId":"x1","username":"ada","email":"Ada+1@example.com","phoneNumber":"+49 30 1","passwordHash":null}`
	for _, query := range []string{"?email=ADA%2b1%40example.com", "?email=ada+1@example.com"} {
		status, got := w.call("GET", emailPath+query, "", "X-Server-ID: "+serverID, "X-API-Key: "+apiKey)
		if status != http.StatusOK || got != want {
			t.Errorf("%s: %d %s", query, status, got)
		}
	}
	for _, test := range []struct {
		query, id, key, want string
	}{
		{"?email=b@c", serverID, apiKey, "user_not_found"},
		{"?email=b@c", serverID, "wrong", "unauthorized"},
		{"?email=b@c", "unknown", apiKey, "unauthorized"},
		{"?email=b@c", "off", apiKey, "server_inactive"},
		{"", serverID, apiKey, "invalid_request"},
		{"?email=", serverID, apiKey, "invalid_request"},
		{"?email=a%00b", serverID, apiKey, "invalid_request"},
		{"?email=a%zzb", serverID, apiKey, "invalid_request"},
		{"?email=%ff", serverID, apiKey, "invalid_request"},
		{"?email=a@b&email=a@b", serverID, apiKey, "invalid_request"},
		{"?Email=a@b", serverID, apiKey, "invalid_request"},
		{"?email=a@b&x=1", serverID, apiKey, "invalid_request"},
		{"?email=" + strings.Repeat("a", 321), serverID, apiKey, "invalid_request"},
	} {
		_, body := w.call("GET", emailPath+test.query, "", "X-Server-ID: "+test.id, "X-API-Key: "+test.key)
		if code, _ := errorOf(t, body); code != test.want {
			t.Errorf("%s as %s: %s, want %s", test.query, test.id, body, test.want)
		}
	}
}

// A user who is too long is told so, as the document describes it.
func TestLongUser(t *testing.T) {
	w := newWorld(t, nil)
	w.store.setDelay(func(context.Context) error {
		if calls := w.store.called(); calls[len(calls)-1] == "ByEmail b@c" {
			return proxy.Refuse(proxy.ResultTooLarge, "m")
		}
		return nil
	})
	if status, body := w.call("GET", emailPath+"?email=b@c", "", "X-Server-ID: "+serverID, "X-API-Key: "+apiKey); status != 422 {
		t.Errorf("%d %s", status, body)
	}
}

// An unknown server and a wrong key must be told apart by nothing.
func TestUnknownServerLooksLikeWrongKey(t *testing.T) {
	w := newWorld(t, nil)
	ask := func(id, key string) (*http.Response, string) {
		return w.do("GET", emailPath+"?email=a@b", "", "X-Server-ID: "+id, "X-API-Key: "+key, "X-Request-ID: same")
	}
	unknown, unknownBody := ask("unknown", apiKey)
	wrong, wrongBody := ask(serverID, "wrong")
	unknown.Header.Del("Date")
	wrong.Header.Del("Date")
	if unknownBody != wrongBody || len(unknown.Header) != len(wrong.Header) {
		t.Errorf("%s %v\n%s %v", unknownBody, unknown.Header, wrongBody, wrong.Header)
	}
	for name := range unknown.Header {
		if unknown.Header.Get(name) != wrong.Header.Get(name) {
			t.Errorf("%s differs: %q, %q", name, unknown.Header.Get(name), wrong.Header.Get(name))
		}
	}
}

func TestListPages(t *testing.T) {
	w := newWorld(t, func(_ *world, c *rest.Config) { c.BasePath = "/x" })
	response, body := w.do("GET", serversPath+"?limit=1", "", as(token))
	if want := `</x` + serversPath + `?cursor=after%201&limit=1>; rel="next"`; response.Header.Get("Link") != want {
		t.Errorf("Link: %s\nwant %s", response.Header.Get("Link"), want)
	}
	if strings.Count(body, `"id"`) != 1 {
		t.Errorf("first page: %s", body)
	}
	response, body = w.do("GET", serversPath+"?cursor=after%201&limit=1", "", as(token))
	if response.Header.Get("Link") != "" || !strings.Contains(body, `"off"`) {
		t.Errorf("last page: %s, Link %q", body, response.Header.Get("Link"))
	}
	if _, body = w.call("GET", serversPath+"?cursor=after%201", "", as(token)); strings.Count(body, `"id"`) != 1 {
		t.Errorf("cursor alone: %s", body)
	}
	for _, query := range []string{"limit=0", "limit=1001", "limit=-1", "limit=+1", "limit=1.0", "limit=", "limit=x", "limit=1&limit=1", "cursor=", "cursor=x", "Limit=1", "page=1"} {
		status, body := w.call("GET", serversPath+"?"+query, "", as(token))
		if code, _ := errorOf(t, body); status != 400 || code != "invalid_request" {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}
	if status, body := w.call("GET", serversPath+"?limit=1000", "", as(token)); status != 200 {
		t.Errorf("limit=1000: %s", body)
	}
}

// HEAD gives what GET gives, without the body.
func TestHead(t *testing.T) {
	w := newWorld(t, nil)
	for _, path := range []string{serversPath, serverPath, "/openapi.json", "/docs", "/nowhere"} {
		get, body := w.do("GET", path, "", as(token))
		head, none := w.do("HEAD", path, "", as(token))
		if head.StatusCode != get.StatusCode || none != "" || head.ContentLength != int64(len(body)) || head.Header.Get("Content-Type") != get.Header.Get("Content-Type") {
			t.Errorf("HEAD %s: %d, %d bytes of %d announced, %s", path, head.StatusCode, head.ContentLength, len(body), head.Header.Get("Content-Type"))
		}
	}
}

// What is said of an unknown path leads to the documents, wherever they are.
func TestUnknownPath(t *testing.T) {
	w := newWorld(t, func(_ *world, c *rest.Config) { c.BasePath = "/x" })
	if status, body := w.call("GET", "/nowhere", ""); status != 404 || !strings.Contains(body, "; /x/openapi.json and /x/docs list") {
		t.Errorf("%d %s", status, body)
	}
}

// The root leads a browser to the page, and tells everybody else where the documents are.
func TestRoot(t *testing.T) {
	for base, targets := range map[string][]string{"": {"/", "/?x=y", "http://other", "http://other/"}, "/a/b": {"/a/b", "/a/b/", "/a/b?x", "http://other/a/b"}} {
		w := newWorld(t, func(_ *world, c *rest.Config) { c.BasePath = base })
		for _, target := range targets {
			c := w.dial()
			c.send("GET " + target + " HTTP/1.1\r\nHost: elsewhere\r\nAccept: text/html\r\n\r\n")
			response, body := c.answer("GET", target)
			if want := `{"docs":"` + base + `/docs","openapi":"` + base + `/openapi.json"}`; response.StatusCode != 302 || response.Header.Get("Location") != base+"/docs" || body != want {
				t.Errorf("%s: %d %v %s", target, response.StatusCode, response.Header, body)
			}
		}
		if response, page := w.do("GET", "/", ""); response.StatusCode != 200 || !strings.Contains(page, "Answer <b>302</b>") || !strings.Contains(page, "Answer <b>200</b>") {
			t.Errorf("base path %q: it leads to %d %.60s", base, response.StatusCode, page)
		}
	}
}

func TestInt8(t *testing.T) {
	w := newWorld(t, nil)
	for header, want := range map[string]bool{
		"Accept: application/json":                                       false,
		"Accept: application/json; int8=string":                          true,
		"Accept: text/html, application/json;INT8=String;q=0.5, */*;q=0": true,
		"Accept: application/json, application/json;int8=string;q=0.5":   false,
		"X-Int8: string": true,
		"X-Int8: number": false,
	} {
		_, body := w.call("POST", queryPath, `{"query":"SELECT 1"}`, as(token), header)
		if strings.Contains(body, `["",true]`) != want {
			t.Errorf("%s: %s", header, body)
		}
	}
	if status, body := w.call("POST", queryPath, `{"query":"SELECT 1"}`, as(token), "X-Int8: text"); status != 400 {
		t.Errorf("X-Int8: text gave %s", body)
	}
}
