package rest_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/proxy/rest"
)

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

// Ensure a body that still comes when the drain time is over holds nothing up: nothing was begun for it.
func TestDrainWaitsForNoBody(t *testing.T) {
	w := newWorld(t, func(_ *world, c *rest.Config) { c.DrainTimeout = 300 * time.Millisecond })
	for _, head := range []string{halfUpload + strings.Repeat(" ", 9000), post("Transfer-Encoding: chunked\r\n", "1;")} {
		c := w.dial()
		c.send(head)
		go func() {
			for {
				if _, err := io.WriteString(c, " "); err != nil {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
		}()
		defer func() {
			if response, body := c.answer("POST", queryPath); response.StatusCode != 503 || !strings.Contains(body, "shutting_down") {
				t.Errorf("%d %s", response.StatusCode, body)
			}
		}()
	}
	time.Sleep(100 * time.Millisecond)
	begun := time.Now()
	w.shutDown()
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
}

// Answers that somebody without credentials does not read hold no drain up; somebody else's are waited for.
func TestDrainWaitsForNoStranger(t *testing.T) {
	w := newPlacesWorld(t, 1, func(c *rest.Config) { c.DrainTimeout = 5 * time.Second })
	stranger, known := w.dial(), w.dial()
	stranger.send(strings.Repeat(notRead, 600))
	known.send(queryRequest(""))
	waitUntil(t, "the answer is being written", w.isFull)
	begun := time.Now()
	w.stop()
	time.Sleep(1300 * time.Millisecond)
	if response, body := known.answer("POST", queryPath); response.StatusCode != 200 || len(body) < 16<<20 {
		t.Errorf("%d, %d bytes", response.StatusCode, len(body))
	}
	w.shutDown()
	if took := time.Since(begun); took > 4*time.Second {
		t.Errorf("it took %v", took)
	}
}

// Connections beyond the limits are told so while all others are served; places are given back.
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
			w, db := newSlowWorld(t, test.change)
			conns := []*rawConn{w.dial(), w.dial()}
			for _, c := range conns {
				c.send(queryRequest(""))
				wait(t, db.started, "a statement")
			}
			for range 3 {
				c := w.dial()
				c.send("GET " + serverPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + "\r\n")
				response, body := c.answer("GET", serverPath)
				if code, _ := errorOf(t, body); response.StatusCode != test.status || code != test.code {
					t.Errorf("%d %s", response.StatusCode, body)
				}
				if _, err := c.reader.ReadByte(); !errors.Is(err, io.EOF) {
					t.Errorf("the connection ends with %v", err)
				}
			}
			close(db.finish)
			for _, c := range conns {
				c.answer("POST", queryPath)
				_ = c.Close()
			}
			waitUntil(t, "the places are given back", func() bool {
				c := w.dial()
				c.send("GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n")
				response, _ := c.answer("GET", "/nowhere")
				return response.StatusCode == 404
			})
		})
	}
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
	if err := server.Serve(context.Background(), listener); err == nil || !strings.Contains(err.Error(), "accepting HTTP connections") {
		t.Errorf("a listener that failed: %v", err)
	}
	if err := server.Serve(context.Background(), listener); err == nil || !strings.Contains(err.Error(), "once") {
		t.Errorf("a second time: %v", err)
	}
}
