package rest_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/rest"
)

// slow is a database whose statements run until they are told to end.
type slow struct {
	started chan struct{} // one for each statement
	finish  chan struct{} // closed: statements end well
	ended   chan error    // why each statement ended
}

func newSlow() *slow {
	return &slow{started: make(chan struct{}, 100), finish: make(chan struct{}), ended: make(chan error, 100)}
}

func (s *slow) query(ctx context.Context, _ policy.Bound, _ bool, dst []byte) ([]byte, int64, error) {
	s.started <- struct{}{}
	select {
	case <-ctx.Done():
		s.ended <- context.Cause(ctx)
		return nil, 0, fmt.Errorf("running: %w", ctx.Err())
	case <-s.finish:
		s.ended <- nil
		return append(dst, `"columns":[],"rows":[]`...), 1, nil
	}
}

func newSlowWorld(t *testing.T, change func(*rest.Config)) (*world, *slow) {
	t.Helper()
	db := newSlow()
	return newWorld(t, func(_ *world, c *rest.Config) {
		c.Query = db.query
		if change != nil {
			change(c)
		}
	}), db
}

const select1 = `{"query":"SELECT 1"}`

func queryRequest(headers string) string {
	return "POST " + queryPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + headers + "Content-Length: " + itoa(len(select1)) + "\r\n\r\n" + select1
}

func wait[T any](t *testing.T, c <-chan T, what string) (got T) {
	t.Helper()
	select {
	case got = <-c:
	case <-time.After(5 * time.Second):
		t.Fatalf("%s: nothing in five seconds", what)
	}
	return got
}

// A client that leaves has its statement cancelled, however it leaves.
func TestClientGone(t *testing.T) {
	for name, leave := range map[string]func(*rawConn){
		"closes":                  func(c *rawConn) { _ = c.Close() },
		"resets":                  func(c *rawConn) { _ = c.Conn.(*net.TCPConn).SetLinger(0); _ = c.Close() },
		"closes its sending half": func(c *rawConn) { _ = c.Conn.(*net.TCPConn).CloseWrite() },
		"closes behind another request": func(c *rawConn) {
			c.send(queryRequest(""))
			_ = c.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, db := newSlowWorld(t, nil)
			c := w.dial()
			c.send(queryRequest(""))
			wait(t, db.started, "the statement")
			start := time.Now()
			leave(c)
			if cause := wait(t, db.ended, "the cancellation"); cause == nil || !strings.Contains(cause.Error(), "client closed") {
				t.Errorf("ended by %v", cause)
			}
			if took := time.Since(start); took > time.Second {
				t.Errorf("it took %v", took)
			}
			w.shutDown()
			if counted := w.counts.all(); counted[0] != "query client_closed" {
				t.Errorf("counted %v", counted)
			}
		})
	}
}

// A client that stays does not lose its statement to one that leaves, nor does one
// that has sent its next request already.
func TestClientStays(t *testing.T) {
	w, db := newSlowWorld(t, nil)
	stays, leaves := w.dial(), w.dial()
	stays.send(queryRequest("") + "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n")
	leaves.send(queryRequest(""))
	wait(t, db.started, "a statement")
	wait(t, db.started, "a statement")
	_ = leaves.Close()
	if wait(t, db.ended, "the cancellation") == nil {
		t.Error("not cancelled")
	}
	time.Sleep(300 * time.Millisecond)
	close(db.finish)
	if response, body := stays.answer("POST", queryPath); response.StatusCode != 200 {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	if response, _ := stays.answer("GET", "/nowhere"); response.StatusCode != 404 {
		t.Errorf("the next request: %d", response.StatusCode)
	}
}

// Draining: running requests finish, new ones are answered 503, then Serve returns.
func TestDrain(t *testing.T) {
	w, db := newSlowWorld(t, nil)
	running, idle, silent := w.dial(), w.dial(), w.dial()
	running.send(queryRequest(""))
	wait(t, db.started, "the statement")
	idle.send("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n")
	idle.answer("GET", "/openapi.json")

	w.stop()
	time.Sleep(30 * time.Millisecond)
	idle.send("GET " + serverPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + "\r\n")
	if response, body := idle.answer("GET", serverPath); response.StatusCode != 503 || !strings.Contains(body, "shutting_down") || !response.Close {
		t.Errorf("a new request: %d %s", response.StatusCode, body)
	}
	if !silent.closed() {
		t.Error("an unused connection stays open")
	}
	if conn, err := net.Dial("tcp", w.addr); err == nil {
		_ = conn.Close()
		t.Error("a new connection was accepted")
	}
	select {
	case <-w.served:
		t.Fatal("Serve returned while a statement runs")
	case <-time.After(300 * time.Millisecond):
	}
	close(db.finish)
	if response, body := running.answer("POST", queryPath); response.StatusCode != 200 || !response.Close {
		t.Errorf("the running request: %d %s", response.StatusCode, body)
	}
	start := time.Now()
	w.shutDown()
	if took := time.Since(start); took > time.Second {
		t.Errorf("Serve returned %v after the last request", took)
	}
}

// After the drain time what still runs is cancelled and told so.
func TestDrainTimeout(t *testing.T) {
	w, db := newSlowWorld(t, func(c *rest.Config) { c.DrainTimeout = 300 * time.Millisecond })
	c := w.dial()
	c.send(queryRequest(""))
	wait(t, db.started, "the statement")
	w.stop()
	if wait(t, db.ended, "the cancellation") == nil {
		t.Error("not cancelled")
	}
	if response, body := c.answer("POST", queryPath); response.StatusCode != 503 || !strings.Contains(body, "shutting_down") {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	w.shutDown()
}

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

// A panic costs its request, tells no value, and leaves the service running.
func TestPanic(t *testing.T) {
	const secret = "hunter2"
	for name, value := range map[string]any{"text": secret, "error": errors.New(secret), "index": nil} {
		w := newWorld(t, func(_ *world, c *rest.Config) {
			c.Query = func(context.Context, policy.Bound, bool, []byte) ([]byte, int64, error) {
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
		if strings.Contains(logs, secret) || !strings.Contains(logs, "find-me") || !strings.Contains(logs, "lifecycle_test.go") {
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
		Duration                                      int64
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

// Connections beyond the limits are told so; places are given back.
func TestConnectionLimits(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*rest.Config)
		status int
		code   string
	}{
		"in all":      {func(c *rest.Config) { c.MaxConns = 2 }, 503, "overloaded"},
		"per address": {func(c *rest.Config) { c.MaxConnsPerIP = 2 }, 429, "rate_limited"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(_ *world, c *rest.Config) { test.change(c) })
			conns := []*rawConn{w.dial(), w.dial()}
			for _, c := range conns {
				c.send("GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n")
				c.answer("GET", "/nowhere")
			}
			for range 3 {
				c := w.dial()
				c.send("GET " + serverPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + "\r\n")
				response, body := c.answer("GET", serverPath)
				if code, _ := errorOf(t, body); response.StatusCode != test.status || code != test.code || !c.closed() {
					t.Errorf("%d %s", response.StatusCode, body)
				}
			}
			_ = conns[0].Close()
			for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
				c := w.dial()
				c.send("GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n")
				if response, _ := c.answer("GET", "/nowhere"); response.StatusCode == 404 {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal("the place was not given back")
				}
			}
		})
	}
}

// A plan that the schema outran is made again, once.
func TestSchemaChanged(t *testing.T) {
	for name, test := range map[string]struct {
		failures, refreshes int
		refresh             error
		status              int
	}{
		"once":              {1, 1, nil, 200},
		"twice":             {2, 1, nil, 503},
		"refreshing fails":  {1, 1, proxy.Refuse(proxy.UpstreamUnavailable, "m"), 503},
		"another statement": {0, 0, nil, 200},
	} {
		t.Run(name, func(t *testing.T) {
			runs, refreshes := 0, 0
			w := newWorld(t, func(w *world, c *rest.Config) {
				w.gate.refresh = func() error { refreshes++; return test.refresh }
				c.Query = func(_ context.Context, _ policy.Bound, _ bool, dst []byte) ([]byte, int64, error) {
					if runs++; runs <= test.failures {
						return dst, 0, &proxy.Error{Code: proxy.UpstreamUnavailable, Message: "m", Cause: proxy.ErrSchemaChanged}
					}
					return append(dst, `"columns":[],"rows":[]`...), 0, nil
				}
			})
			status, body := w.call("POST", queryPath, select1, as(token))
			if status != test.status || refreshes != test.refreshes {
				t.Errorf("%d %s after %d refreshes", status, body, refreshes)
			}
		})
	}
}

// Large answers arrive whole, and small ones after them are their own.
func TestLargeAnswers(t *testing.T) {
	large := strings.Repeat("x", 10<<20)
	w := newWorld(t, func(_ *world, c *rest.Config) {
		c.Query = func(_ context.Context, bound policy.Bound, _ bool, dst []byte) ([]byte, int64, error) {
			text := large
			if len(bound.Params()) > 0 {
				text = bound.Params()[0].Value.Text
			}
			return append(dst, `"columns":["c"],"rows":[["`+text+`"]]`...), 0, nil
		}
	})
	for i := range 3 {
		if status, body := w.call("POST", queryPath, select1, as(token)); status != 200 || len(body) < 10<<20 {
			t.Fatalf("%d, %d bytes", status, len(body))
		}
		if status, body := w.call("POST", queryPath, `{"query":"SELECT ?","args":["`+itoa(i)+`"]}`, as(token)); status != 200 || !strings.Contains(body, `[["`+itoa(i)+`"]]`) {
			t.Errorf("%d %s", status, body)
		}
	}
}

// What a connection once answered does not stay in memory with it.
func TestLargeAnswersAreLetGo(t *testing.T) {
	const size, clients = 2 << 20, 20
	w := newWorld(t, func(_ *world, c *rest.Config) {
		c.Query = func(_ context.Context, _ policy.Bound, _ bool, dst []byte) ([]byte, int64, error) {
			return append(dst, `"columns":["c"],"rows":[["`+strings.Repeat("x", size)+`"]]`...), 0, nil
		}
	})
	heap := func() uint64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	before := heap()
	var open []*rawConn
	for range clients {
		c := w.dial()
		c.send(queryRequest(""))
		if response, _ := c.answer("POST", queryPath); response.StatusCode != 200 {
			t.Fatal(response.StatusCode)
		}
		open = append(open, c)
	}
	if after := heap(); after > before+clients*size/4 {
		t.Errorf("%d connections that were served hold %d bytes", len(open), after-before)
	}
}

// Two hundred clients at once get their own answers.
func TestParallelClients(t *testing.T) {
	w := newWorld(t, func(w *world, _ *rest.Config) {
		w.gate.admit = func() (proxy.Place, error) { return proxy.Place{}, nil }
	})
	var group sync.WaitGroup
	for client := range 200 {
		group.Go(func() {
			for i := range 5 {
				mark := itoa(client*1000 + i)
				response, body := w.do("POST", queryPath, `{"query":"SELECT ?","args":["`+mark+`"]}`, as(token), "X-Request-ID: "+mark)
				if response.StatusCode != 200 || !strings.Contains(body, `[["3:`+mark+`",false]]`) || response.Header.Get("X-Request-ID") != mark {
					t.Errorf("client %d got %d %s", client, response.StatusCode, body)
				}
			}
		})
	}
	group.Wait()
}

func TestTLS(t *testing.T) {
	certificate := selfSigned(t)
	db := newSlow()
	w := newWorld(t, func(_ *world, c *rest.Config) {
		c.Query = db.query
		c.TLS = &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &certificate, nil }}
	})
	dial := func() *rawConn {
		c := w.dial()
		secured := tls.Client(c.Conn, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}}) //nolint:gosec // a test
		if err := secured.Handshake(); err != nil {
			t.Fatal(err)
		}
		if got := secured.ConnectionState().NegotiatedProtocol; got != "http/1.1" {
			t.Errorf("protocol %q", got)
		}
		c.Conn = secured
		c.reader.Reset(secured)
		return c
	}
	c := dial()
	c.send("GET " + serverPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + "\r\n")
	if response, body := c.answer("GET", serverPath); response.StatusCode != 200 {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	// A client that leaves is seen below TLS.
	c.send(queryRequest(""))
	wait(t, db.started, "the statement")
	_ = c.Close()
	if cause := wait(t, db.ended, "the cancellation"); cause == nil {
		t.Error("not cancelled")
	}
	// Malformed requests are answered under TLS, and what is no TLS ends.
	c = dial()
	c.send("GET / HTTP/1.1\r\n\r\n")
	if response, _ := c.answer("GET", "/nowhere"); response.StatusCode != 400 {
		t.Errorf("%d", response.StatusCode)
	}
	plain := w.dial()
	plain.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if text, _ := io.ReadAll(plain); strings.Contains(string(text), "HTTP/1.1 200") {
		t.Errorf("plain HTTP got %q", text)
	}
	idle := dial() // open while the front end stops
	w.shutDown()
	if !idle.closed() {
		t.Error("an idle connection stays open")
	}
}

func TestServeOnce(t *testing.T) {
	server, err := rest.New(minimal())
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	if err := server.Serve(context.Background(), listener); err == nil || !strings.Contains(err.Error(), "accepting connections") {
		t.Errorf("a listener that failed: %v", err)
	}
	if err := server.Serve(context.Background(), listener); err == nil || !strings.Contains(err.Error(), "once") {
		t.Errorf("a second time: %v", err)
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
