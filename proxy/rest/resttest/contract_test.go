package resttest_test

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/proxy/rest"
	"github.com/tenantgate/tenantgate/proxy/rest/resttest"
)

const (
	servers  = "/x/api/developer/projects/p/servers"
	server   = `{"id":"s","name":"n","description":"","projectId":"p","createdAt":"2026-01-31T09:15:00.000Z","updatedAt":"2026-01-31T09:15:00.000Z","isActive":true}`
	notFound = `{"error":{"code":"not_found","message":"m","requestId":"i"}}`
)

// exchange makes one that is right, for tests to spoil.
func exchange(t *testing.T, method, target, sent string, status int, body string) resttest.Exchange {
	t.Helper()
	location, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	return resttest.Exchange{
		Request:      &http.Request{Method: method, URL: location, Header: http.Header{"Authorization": {"Bearer t"}}},
		RequestBody:  []byte(sent),
		Response:     &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {"i"}}},
		ResponseBody: []byte(body),
	}
}

// A contract that approves of everything would make all other tests worthless.
func TestCheck(t *testing.T) {
	document, err := rest.OpenAPI("/x")
	if err != nil {
		t.Fatal(err)
	}
	contract, err := resttest.Load(document)
	if err != nil {
		t.Fatal(err)
	}
	get := func(body string) resttest.Exchange { return exchange(t, "GET", servers+"/s", "", 200, body) }
	spoiled := func(e resttest.Exchange, spoil func(*resttest.Exchange)) resttest.Exchange { spoil(&e); return e }
	for name, test := range map[string]struct {
		exchange resttest.Exchange
		right    bool
	}{
		"a server":               {get(`{"server":` + server + `}`), true},
		"an update":              {exchange(t, "PUT", servers+"/s", `{"name":"n"}`, 200, `{"server":`+server+`}`), true},
		"a missing server":       {exchange(t, "GET", servers+"/s", "", 404, notFound), true},
		"an unknown path":        {exchange(t, "GET", "/elsewhere", "", 404, notFound), true},
		"a missing member":       {get(`{"server":` + strings.Replace(server, `"isActive":true`, `"isactive":true`, 1) + `}`), false},
		"one member too many":    {get(`{"server":` + strings.Replace(server, `{`, `{"apiKey":"k",`, 1) + `}`), false},
		"a time of another form": {get(`{"server":` + strings.ReplaceAll(server, `.000Z`, `Z`) + `}`), false},
		"a null":                 {get(`{"server":` + strings.Replace(server, `""`, `null`, 1) + `}`), false},
		"an unknown status":      {exchange(t, "GET", servers+"/s", "", 201, `{"server":`+server+`}`), false},
		"a code of another status": {
			exchange(t, "GET", servers+"/s", "", 404, strings.Replace(notFound, "not_found", "unauthorized", 1)), false},
		"a code of another endpoint": {
			exchange(t, "GET", servers+"/s", "", 404, strings.Replace(notFound, "not_found", "user_not_found", 1)), false},
		"an error without its id":          {exchange(t, "GET", servers+"/s", "", 404, strings.Replace(notFound, `"i"`, `"other"`, 1)), false},
		"a path that is served as another": {exchange(t, "GET", "/elsewhere", "", 200, `{"server":`+server+`}`), false},
		"a method that is served":          {exchange(t, "PATCH", servers, "", 200, `{}`), false},
		"an error that is no JSON":         {exchange(t, "GET", "/elsewhere", "", 404, `not found`), false},
		"a body that is served and wrong":  {exchange(t, "PUT", servers+"/s", `{"nmae":"n"}`, 200, `{"server":`+server+`}`), false},
		"a parameter that is not named":    {exchange(t, "GET", servers+"?page=1", "", 200, `{"servers":[]}`), false},
		"no credentials":                   {spoiled(get(`{"server":`+server+`}`), func(e *resttest.Exchange) { e.Request.Header.Del("Authorization") }), false},
		"no request id":                    {spoiled(get(`{"server":`+server+`}`), func(e *resttest.Exchange) { e.Response.Header.Del("X-Request-Id") }), false},
		"two request ids":                  {spoiled(get(`{"server":`+server+`}`), func(e *resttest.Exchange) { e.Response.Header.Add("X-Request-Id", "j") }), false},
		"another media type":               {spoiled(get(`{"server":`+server+`}`), func(e *resttest.Exchange) { e.Response.Header.Set("Content-Type", "text/plain") }), false},
		"a header that is not named":       {spoiled(get(`{"server":`+server+`}`), func(e *resttest.Exchange) { e.Response.Header.Set("Server", "x") }), false},
		"401 without a challenge": {
			exchange(t, "GET", servers+"/s", "", 401, strings.Replace(notFound, "not_found", "unauthorized", 1)), false},
		"429 without Retry-After": {
			exchange(t, "GET", servers+"/s", "", 429, strings.Replace(notFound, "not_found", "rate_limited", 1)), false},
		"a HEAD with a body": {exchange(t, "HEAD", servers+"/s", "", 200, `{}`), false},
	} {
		if err := contract.Check(test.exchange); (err == nil) != test.right {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLoadRefusesWhatIsNoDocument(t *testing.T) {
	for _, document := range []string{``, `{}`, `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[{"url":"/"}],"paths":{"/a":{"get":{}}, "b":{}}}`} {
		if _, err := resttest.Load([]byte(document)); err == nil {
			t.Errorf("loaded %q", document)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestTransport(t *testing.T) {
	document, err := rest.OpenAPI("")
	if err != nil {
		t.Fatal(err)
	}
	contract, err := resttest.Load(document)
	if err != nil {
		t.Fatal(err)
	}
	var reported []error
	answer := func(r *http.Request) (*http.Response, error) {
		if r.Body == nil {
			return nil, errors.New("refused")
		}
		sent, _ := io.ReadAll(r.Body)
		return &http.Response{StatusCode: 404, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(sent)))}, nil
	}
	client := &http.Client{Transport: &resttest.Transport{Contract: contract, Base: roundTripper(answer), Report: func(err error) { reported = append(reported, err) }}}
	response, err := client.Post("http://h/elsewhere", "application/json", strings.NewReader("ping"))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, _ := io.ReadAll(response.Body); string(text) != "ping" || len(reported) != 1 {
		t.Errorf("got %q, reported %v", text, reported)
	}
	if failed, err := client.Get("http://h/elsewhere"); err == nil {
		_ = failed.Body.Close()
		t.Error("an error of the transport was swallowed")
	}
}
