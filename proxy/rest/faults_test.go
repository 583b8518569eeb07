package rest_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/rest"
)

// A look-up that does not come is answered, and ends with the drain.
func TestStoreTimeout(t *testing.T) {
	w := newWorld(t, func(w *world, c *rest.Config) {
		c.StoreTimeout = 100 * time.Millisecond
		w.store.delay = func(ctx context.Context) error { <-ctx.Done(); return fmt.Errorf("reading: %w", ctx.Err()) }
	})
	if status, body := w.call("GET", serversPath, "", as(token)); status != 503 || !strings.Contains(body, "upstream_unavailable") {
		t.Errorf("%d %s", status, body)
	}
}

// A body that takes its time takes none from the look-ups.
func TestSlowUpload(t *testing.T) {
	w := newWorld(t, func(w *world, c *rest.Config) {
		c.StoreTimeout = 200 * time.Millisecond
		w.store.delay = func(ctx context.Context) error { return ctx.Err() }
	})
	for method, path := range map[string]string{"POST": serversPath, "PUT": serverPath} {
		body := `{"name":"n"}` + strings.Repeat(" ", 20000)
		c := w.dial()
		c.send(method + " " + path + " HTTP/1.1\r\nHost: x\r\n" + authorized + "Content-Length: " + itoa(len(body)) + "\r\n\r\n" + body[:10000])
		time.Sleep(400 * time.Millisecond)
		c.send(body[10000:])
		if response, answer := c.answer(method, path); response.StatusCode != 200 {
			t.Errorf("%s: %d %s", method, response.StatusCode, answer)
		}
	}
}

// A panic costs its request, tells no value, and leaves the service running.
func TestPanic(t *testing.T) {
	const secret = "hunter2"
	for name, value := range map[string]any{"text": secret, "error": errors.New(secret), "index": nil} {
		w := newWorld(t, func(_ *world, c *rest.Config) {
			c.Query = func(context.Context, string, policy.Bound, rest.Form, []byte) ([]byte, int64, error) {
				if value == nil {
					return []byte(secret)[len(secret)+1:], 0, nil
				}
				panic(value)
			}
		})
		for range 2 {
			status, body := w.call("POST", queryPath, select1, as(token), "X-Request-ID: find-me")
			if status != 500 || !strings.Contains(body, `"code":"internal"`) || strings.Contains(body, secret) {
				t.Errorf("%s: %d %s", name, status, body)
			}
		}
		logs := w.logs.String()
		if strings.Contains(logs, secret) || !strings.Contains(logs, "find-me") || !strings.Contains(logs, "faults_test.go") {
			t.Errorf("%s: the log must hold id and stack, and no value:\n%s", name, logs)
		}
	}
}

// One line a request, with nothing in it that is the caller's business.
func TestLogLine(t *testing.T) {
	w := newWorld(t, nil)
	w.call("GET", emailPath+"?email=ada%2B1@example.com", "", "X-Server-ID: s1", "X-API-Key: "+apiKey, "X-Request-ID: id1")
	w.call("POST", queryPath, `{"query":"SELECT 'hidden', ?","args":["hidden"]}`, as(token), "X-Request-ID: id2")
	w.call("GET", "/hidden?hidden", "", "X-Request-ID: id3")
	w.call("GET", serversPath+"/hidden", "", as(token), "X-Request-ID: id4")
	type line struct {
		Level, Msg, RequestID, Server, Endpoint, Code string
		Status                                        int
		Duration                                      int64 `json:"duration_us"`
	}
	var lines []line
	for text := range strings.Lines(strings.ReplaceAll(w.logs.String(), "request_id", "requestID")) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		if l.Duration <= 0 {
			t.Errorf("no duration: %s", text)
		}
		l.Duration = 0
		lines = append(lines, l)
	}
	want := []line{
		{"INFO", "request", "id1", "s1", "user_by_email", "ok", 200, 0},
		{"INFO", "request", "id2", "s1", "query", "ok", 200, 0},
		{"INFO", "request", "id3", "", "other", "not_found", 404, 0},
		{"INFO", "request", "id4", "", "get_server", "not_found", 404, 0},
	}
	if fmt.Sprint(lines) != fmt.Sprint(want) {
		t.Errorf("%v\nwant %v", lines, want)
	}
	for _, hidden := range []string{"hidden", "ada", apiKey, token} {
		if strings.Contains(w.logs.String(), hidden) {
			t.Errorf("the log holds %q", hidden)
		}
	}
	if got, want := fmt.Sprint(w.counts.all()), "[user_by_email ok query ok other not_found get_server not_found]"; got != want {
		t.Errorf("counted %s, want %s", got, want)
	}
}

// A log that is for warnings has them, and no line for each request.
func TestLogLevel(t *testing.T) {
	w := newWorld(t, func(w *world, c *rest.Config) {
		c.Logger = slog.New(slog.NewJSONHandler(w.logs, &slog.HandlerOptions{Level: slog.LevelWarn}))
		w.gate.admit = func() (proxy.Place, error) { return proxy.Place{}, errLost }
	})
	w.call("GET", serverPath, "", as(token))
	w.call("POST", queryPath, select1, as(token))
	if logs := w.logs.String(); strings.Count(logs, "\n") != 1 || !strings.Contains(logs, `"msg":"request failed"`) {
		t.Errorf("%s", logs)
	}
}

// A plan that the schema outran is made again, once.
func TestSchemaChanged(t *testing.T) {
	for name, test := range map[string]struct {
		failures, refreshes int
		changed             bool
		refresh             error
		status, runs        int
	}{
		"once":              {1, 1, true, nil, 200, 2},
		"twice":             {2, 1, true, nil, 503, 2},
		"nothing changed":   {2, 1, false, nil, 503, 1},
		"refreshing fails":  {1, 1, false, proxy.Refuse(proxy.UpstreamUnavailable, "m"), 503, 1},
		"another statement": {0, 0, false, nil, 200, 1},
	} {
		t.Run(name, func(t *testing.T) {
			runs, refreshes := 0, 0
			w := newWorld(t, func(w *world, c *rest.Config) {
				w.gate.refresh = func() (bool, error) { refreshes++; return test.changed, test.refresh }
				c.Query = func(_ context.Context, _ string, _ policy.Bound, _ rest.Form, dst []byte) ([]byte, int64, error) {
					if runs++; runs <= test.failures {
						return dst, 0, &proxy.Error{Code: proxy.UpstreamUnavailable, Message: "m", Cause: proxy.ErrSchemaChanged}
					}
					return append(dst, `"columns":[],"rows":[]`...), 0, nil
				}
			})
			status, body := w.call("POST", queryPath, select1, as(token))
			if status != test.status || refreshes != test.refreshes || runs != test.runs {
				t.Errorf("%d %s after %d refreshes and %d runs", status, body, refreshes, runs)
			}
		})
	}
}

func TestConfig(t *testing.T) {
	for name, change := range map[string]func(*rest.Config){
		"no gate":          func(c *rest.Config) { c.Gate = nil },
		"no query":         func(c *rest.Config) { c.Query = nil },
		"no logger":        func(c *rest.Config) { c.Logger = nil },
		"base path":        func(c *rest.Config) { c.BasePath = "x" },
		"base path's end":  func(c *rest.Config) { c.BasePath = "/x/" },
		"base path's root": func(c *rest.Config) { c.BasePath = "/" },
		"base path's ids":  func(c *rest.Config) { c.BasePath = "/a//b" },
		"base path coded":  func(c *rest.Config) { c.BasePath = "/a%20b" },
		"base path query":  func(c *rest.Config) { c.BasePath = "/a?b" },
		"origin":           func(c *rest.Config) { c.CORSOrigins = []string{"a.example"} },
		"origin's path":    func(c *rest.Config) { c.CORSOrigins = []string{"https://a.example/"} },
		"no certificate":   func(c *rest.Config) { c.TLS = &tls.Config{} }, //nolint:gosec // refused
	} {
		config := minimal()
		change(&config)
		if _, err := rest.New(config); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := rest.New(minimal()); err != nil {
		t.Error(err)
	}
}

// Ensure strangers write few lines however much they ask, and whoever has credentials one for each
// request.
func TestStrangersWriteFewLines(t *testing.T) {
	w := newWorld(t, func(_ *world, c *rest.Config) { c.Throttle = proxy.NewThrottle(1000, 100) })
	const each = 60
	c := w.dial()
	c.send(strings.Repeat("GET /nope HTTP/1.1\r\nHost: x\r\n\r\n", each))
	for range each {
		c.answer("GET", "/nope")
		w.call("GET", serverPath, "", as(token))
	}
	waitUntil(t, "the line on those left out", func() bool {
		return strings.Contains(w.logs.String(), "clients that had not authenticated were left out")
	})
	logs := w.logs.String()
	if of := strings.Count(logs, `"endpoint":"other"`); of == 0 || of == each {
		t.Errorf("%d lines of a stranger's %d requests", of, each)
	}
	if of := strings.Count(logs, `"code":"ok"`); of != each {
		t.Errorf("%d lines of an authenticated caller's %d requests", of, each)
	}
}

// Ensure a stranger who is refused because others take all writes no warning.
func TestStrangersOverloadWarnsOfNothing(t *testing.T) {
	w := newWorld(t, func(w *world, _ *rest.Config) {
		w.gate.refuses = &proxy.Error{Code: proxy.Overloaded, Message: "m"}
	})
	if status, body := w.call("GET", serverPath, "", as(token)); status != 503 {
		t.Fatalf("%d %s", status, body)
	}
	if logs := w.logs.String(); strings.Contains(logs, "request failed") || !strings.Contains(logs, `"code":"overloaded"`) {
		t.Error(logs)
	}
}

// Ensure that refusals which cost an authenticated caller nothing write few lines, and those that did one each.
func TestRefusalsWriteFewLines(t *testing.T) {
	w := newWorld(t, func(_ *world, c *rest.Config) { c.Throttle = proxy.NewThrottle(1000, 100) })
	const each = 150
	atOnce := func(method, path, body string) { // so that there are more in a second than lines, on a busy machine too
		c := w.dial()
		head := method + " " + path + " HTTP/1.1\r\nHost: x\r\n" + authorized + "Content-Type: application/json\r\nContent-Length: " + itoa(len(body)) + "\r\n\r\n"
		go func() { _, _ = io.WriteString(c, strings.Repeat(head+body, each)) }()
		for range each {
			c.answer(method, path)
		}
	}
	atOnce("GET", serversPath+"/nobody", "")
	atOnce("POST", queryPath, `{"query":"DROP TABLE x"}`)
	full := &proxy.Error{Code: proxy.Overloaded, Message: "m", Retryable: true}
	w.store.setDelay(func(context.Context) error {
		if calls := w.store.called(); calls[len(calls)-1] != "Server" {
			return nil
		}
		return full
	})
	atOnce("GET", serverPath, "")
	for _, what := range []string{"requests", "failures"} {
		waitUntil(t, "the line on "+what+" that were left out", func() bool {
			return strings.Contains(w.logs.String(), `"msg":"lines on refused requests were left out","lines":"`+what)
		})
	}
	logs := w.logs.String()
	for text, paid := range map[string]bool{`"code":"not_found"`: false, `"status":503`: false, `"msg":"request failed"`: false, `"status":403`: true} {
		if of := strings.Count(logs, text); paid && of != each || !paid && of >= each {
			t.Errorf("%d lines of %d with %s", of, each, text)
		}
	}
	for _, text := range []string{`"code":"not_found"`, `"msg":"request failed"`} {
		if !strings.Contains(logs, text) {
			t.Errorf("no line with %s", text)
		}
	}
}
