package rest_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/rest"
)

func TestRequestID(t *testing.T) {
	w := newWorld(t, nil)
	for _, test := range []struct {
		given string
		taken bool
	}{
		{"a", true}, {"with space ~!", true}, {strings.Repeat("x", 128), true},
		{strings.Repeat("x", 129), false}, {"", false}, {"a\tb", false},
	} {
		for _, path := range []string{serversPath, "/nowhere", "/docs"} {
			response, _ := w.do("GET", path, "", as(token), "X-Request-ID: "+test.given)
			if got := response.Header.Get("X-Request-ID"); (got == test.given) != test.taken || got == "" {
				t.Errorf("%s with id %q: %q", path, test.given, got)
			}
		}
	}
	response, _ := w.do("GET", serversPath, "", as(token), "X-Request-ID: a", "X-Request-ID: b")
	if got := response.Header.Get("X-Request-ID"); response.StatusCode != 200 || got == "a" || got == "b" {
		t.Errorf("two ids: %d %q", response.StatusCode, got)
	}
	for range 2 {
		first, _ := w.do("GET", "/nowhere", "")
		second, _ := w.do("GET", "/nowhere", "")
		if first.Header.Get("X-Request-ID") == second.Header.Get("X-Request-ID") {
			t.Error("two requests have one id")
		}
	}
}

func TestChallenges(t *testing.T) {
	w := newWorld(t, nil)
	for _, test := range []struct{ path, header, want string }{
		{serversPath, "X: y", `Bearer realm="tenantgate"`},
		{serversPath, "Authorization: Basic YTpi", `Bearer realm="tenantgate"`},
		{serversPath, "Authorization: Bearer", `Bearer realm="tenantgate"`},
		{serversPath, "Authorization: Bearer a b", `Bearer realm="tenantgate"`},
		{serversPath, "Authorization: Bearer wrong", `Bearer realm="tenantgate", error="invalid_token"`},
		{emailPath + "?email=a", "X: y", `ServerKey realm="tenantgate", headers="X-Server-ID X-API-Key"`},
		{emailPath + "?email=a", "X-Server-ID: s1", `ServerKey realm="tenantgate", headers="X-Server-ID X-API-Key"`},
		{emailPath + "?email=a", as(token), `ServerKey realm="tenantgate", headers="X-Server-ID X-API-Key"`},
	} {
		response, body := w.do("GET", test.path, "", test.header)
		if got := response.Header.Get("WWW-Authenticate"); response.StatusCode != 401 || got != test.want {
			t.Errorf("%s %s: %d %s, %s", test.path, test.header, response.StatusCode, got, body)
		}
	}
}

func TestCORS(t *testing.T) {
	for _, test := range []struct {
		configured []string
		origin     string
		want       string
	}{
		{[]string{"https://a.example", "http://b:8080"}, "https://a.example", "https://a.example"},
		{[]string{"https://a.example", "http://b:8080"}, "http://b:8080", "http://b:8080"},
		{[]string{"https://a.example"}, "https://a.example.evil", ""},
		{[]string{"https://a.example"}, "null", ""},
		{[]string{"*"}, "https://c.example", "*"},
		{nil, "https://a.example", ""},
	} {
		w := newWorld(t, func(_ *world, c *rest.Config) { c.CORSOrigins = test.configured })
		simple, _ := w.do("GET", "/nowhere", "", "Origin: "+test.origin)
		preflight, _ := w.do("OPTIONS", queryPath, "", "Origin: "+test.origin, "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization")
		for _, response := range []string{simple.Header.Get("Access-Control-Allow-Origin"), preflight.Header.Get("Access-Control-Allow-Origin")} {
			if response != test.want {
				t.Errorf("%v, origin %s: allowed %q, want %q", test.configured, test.origin, response, test.want)
			}
		}
		allowed := preflight.Header.Get("Access-Control-Allow-Methods") != "" && strings.Contains(preflight.Header.Get("Access-Control-Allow-Headers"), "Authorization")
		if allowed != (test.want != "") || preflight.StatusCode != 204 {
			t.Errorf("%v, origin %s: preflight %d %v", test.configured, test.origin, preflight.StatusCode, preflight.Header)
		}
		if listed := len(test.configured) > 0 && test.configured[0] != "*"; listed != (simple.Header.Get("Vary") == "Origin") {
			t.Errorf("%v: Vary %q", test.configured, simple.Header.Get("Vary"))
		}
		if simple.Header.Get("Access-Control-Allow-Credentials") != "" {
			t.Error("credentials mode is allowed")
		}
	}
}

func TestRateHeaders(t *testing.T) {
	w := newWorld(t, nil)
	for _, ask := range []func() (map[string][]string, int){
		func() (map[string][]string, int) {
			r, _ := w.do("POST", queryPath, `{"query":"SELECT 1"}`, as(token))
			return r.Header, r.StatusCode
		},
		func() (map[string][]string, int) {
			r, _ := w.do("GET", emailPath+"?email=ada%2B1@example.com", "", "X-Server-ID: s1", "X-API-Key: "+apiKey)
			return r.Header, r.StatusCode
		},
	} {
		header, status := ask()
		if status != 200 || header["Ratelimit-Policy"][0] != `"server";q=400;w=2` || !strings.HasPrefix(header["Ratelimit"][0], `"server";r=39`) {
			t.Errorf("%d %v", status, header)
		}
	}
	w.gate.admit = func() (proxy.Place, error) {
		return proxy.Place{Rate: proxy.Rate{Limit: 3, Burst: 10, Remaining: 0, Reset: 2500 * time.Millisecond}},
			&proxy.Error{Code: proxy.RateLimited, Message: "slow down", RetryAfter: 1100 * time.Millisecond, Retryable: true}
	}
	response, body := w.do("POST", queryPath, `{"query":"SELECT 1"}`, as(token))
	if response.StatusCode != 429 || response.Header.Get("Retry-After") != "2" || response.Header.Get("RateLimit-Policy") != `"server";q=10;w=4` ||
		response.Header.Get("RateLimit") != `"server";r=0;t=3` || !strings.Contains(body, `"retryable":true`) {
		t.Errorf("%d %v %s", response.StatusCode, response.Header, body)
	}
	w.gate.admit = func() (proxy.Place, error) { return proxy.Place{}, nil }
	response, _ = w.do("POST", queryPath, `{"query":"SELECT 1"}`, as(token))
	if response.StatusCode != 200 || response.Header.Get("RateLimit") != "" {
		t.Errorf("without a limit: %d %v", response.StatusCode, response.Header)
	}
}

// Every field of an error, in its order, and an unknown code as a defect.
func TestErrorBody(t *testing.T) {
	w := newWorld(t, nil)
	var told error
	w.gate.admit = func() (proxy.Place, error) { return proxy.Place{}, told }
	ask := func(err error) (int, string) {
		told = err
		return w.call("POST", queryPath, `{"query":"SELECT 1"}`, as(token), "X-Request-ID: id1")
	}
	status, body := ask(&proxy.Error{Code: proxy.ConstraintViolation, Message: "a \"b\"", Hint: "h", SQLState: "23505", Position: 3, Constraint: "c", Retryable: true, Cause: errors.New("secret")})
	if want := `{"error":{"code":"constraint_violation","message":"a \"b\"","requestId":"id1","sqlState":"23505","position":3,"constraint":"c","retryable":true,"hint":"h"}}`; status != 409 || body != want {
		t.Errorf("%d %s\nwant %s", status, body, want)
	}
	for _, err := range []error{errors.New("secret"), proxy.Refuse("no_such_code", "secret")} {
		if status, body := ask(err); status != 500 || !strings.Contains(body, `"code":"internal"`) || strings.Contains(body, "secret") {
			t.Errorf("%v: %d %s", err, status, body)
		}
	}
	for _, code := range []proxy.Code{proxy.UpstreamUnavailable, proxy.Overloaded, proxy.ShuttingDown} {
		told = &proxy.Error{Code: code, Message: "m"}
		response, _ := w.do("POST", queryPath, `{"query":"SELECT 1"}`, as(token))
		if response.StatusCode != 503 || response.Header.Get("Retry-After") != "1" {
			t.Errorf("%s: %d %v", code, response.StatusCode, response.Header)
		}
	}
	if logs := w.logs.String(); strings.Count(logs, "secret") != 2 || !strings.Contains(logs, `"level":"ERROR","msg":"request failed","request_id":"id1"`) {
		t.Errorf("causes must be logged for defects alone:\n%s", logs)
	}
}
