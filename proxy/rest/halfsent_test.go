package rest_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/proxy/rest"
)

// half is a way to take a place without ever completing a request.
type half struct {
	tls   bool
	known bool // with valid credentials
	send  func(t *testing.T, c net.Conn)
}

func write(text string) func(*testing.T, net.Conn) {
	return func(t *testing.T, c net.Conn) {
		t.Helper()
		if _, err := io.WriteString(c, text); err != nil {
			t.Error(err)
		}
	}
}

// secured makes the handshake first.
func secured(send func(*testing.T, net.Conn)) func(*testing.T, net.Conn) {
	return func(t *testing.T, c net.Conn) {
		t.Helper()
		over := tls.Client(c, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // a test
		if err := over.Handshake(); err != nil {
			t.Error(err)
			return
		}
		send(t, over)
	}
}

const (
	halfHead    = "POST " + queryPath + " HTTP/1.1\r\nHost: x\r\nAuthor"
	halfBody    = "POST " + queryPath + " HTTP/1.1\r\nHost: x\r\nContent-Length: 8000\r\n\r\n{"
	halfUpload  = "POST " + queryPath + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" + authorized + "Content-Length: 100000\r\n\r\n{"
	noRequest   = ""
	noLogin     = "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n"
	notRead     = "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
	clientHello = "\x16\x03\x01\x02\x00\x01"
)

// halves are all ways, by name.
var halves = map[string]half{
	"nothing":                      {send: write(noRequest)},
	"half a head":                  {send: write(halfHead)},
	"a short body that drips":      {send: write(halfBody)},
	"a long body that drips":       {known: true, send: write(halfUpload + strings.Repeat(" ", 9000))},
	"nothing valid":                {send: write(noLogin)},
	"answers that nobody reads":    {send: write(strings.Repeat(notRead, 200))},
	"answers to who is known":      {send: write("GET " + serverPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + "\r\n" + strings.Repeat(notRead, 3000))},
	"half a TLS handshake":         {tls: true, send: write(clientHello)},
	"half a head through TLS":      {tls: true, send: secured(write(halfHead))},
	"a body that drips, by TLS":    {tls: true, send: secured(write(halfBody))},
	"a long body through TLS":      {tls: true, known: true, send: secured(write(halfUpload + strings.Repeat(" ", 9000)))},
	"nothing after the handshake":  {tls: true, send: secured(write(noRequest))},
	"nothing valid, through TLS":   {tls: true, send: secured(write(noLogin))},
	"unread answers, through TLS ": {tls: true, send: secured(write(strings.Repeat(notRead, 200)))},
}

// A quiet client is served while one address has taken more than all places and completes
// nothing, with and without a bound for that address; who has sent a valid request keeps its connection.
func TestHalfSentRequests(t *testing.T) {
	for name, way := range halves {
		for _, perIP := range []int{-1, 8} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, func(_ *world, c *rest.Config) {
					c.MaxConns, c.MaxUnauthenticatedPerIP = 16, perIP
					if way.tls {
						c.TLS = &tls.Config{Certificates: []tls.Certificate{selfSigned(t)}}
					}
				})
				kept := w.dialAs(way.tls)
				kept.servedTo(t)
				for range 40 {
					c, err := net.Dial("tcp", w.addr)
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = c.Close() })
					_ = c.SetDeadline(time.Now().Add(5 * time.Second))
					way.send(t, c)
				}
				for range 3 {
					w.dialAs(way.tls).servedTo(t)
				}
				if !way.known {
					kept.servedTo(t)
				}
			})
		}
	}
}

// Nor do those hold places whose credentials take long to be looked up.
func TestSlowLookUps(t *testing.T) {
	w := newWorld(t, func(_ *world, c *rest.Config) { c.MaxConns = 4 })
	w.store.setDelay(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
	for range 8 {
		w.dial().send("GET " + serverPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + "\r\n")
	}
	waitUntil(t, "four are looked up", func() bool { return len(w.store.called()) >= 4 })
	w.store.setDelay(nil)
	for range 6 {
		w.dial().servedTo(t)
	}
}

// dialAs dials, with TLS where the world has it.
func (w *world) dialAs(secured bool) *rawConn {
	w.t.Helper()
	c := w.dial()
	if secured {
		over := tls.Client(c.Conn, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // a test
		c.Conn = over
		c.reader.Reset(over)
	}
	return c
}

// servedTo fails where a request on the connection is not answered.
func (c *rawConn) servedTo(t *testing.T) {
	t.Helper()
	c.send("GET " + serverPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + "\r\n")
	if response, body := c.answer("GET", serverPath); response.StatusCode != 200 {
		t.Fatalf("%d %s", response.StatusCode, body)
	}
}

// A head has to arrive whole within its time, the first and every other, however steadily
// its bytes come.
func TestHeadsHaveADeadline(t *testing.T) {
	for name, first := range map[string]bool{"first": true, "another": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(_ *world, c *rest.Config) { c.HeadTimeout = 500 * time.Millisecond })
			c := w.dial()
			if !first {
				c.servedTo(t)
				time.Sleep(700 * time.Millisecond) // an idle connection has longer
			}
			begun := time.Now()
			for ended := false; !ended; {
				_, err := io.WriteString(c, "G")
				_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
				ended = err != nil || c.closed() || c.reader.Buffered() > 0
				if time.Since(begun) > 3*time.Second {
					t.Fatal("a head that drips is still read")
				}
			}
			if took := time.Since(begun); took < 400*time.Millisecond {
				t.Errorf("it ended after %v", took)
			}
		})
	}
}

// A body has longer than a head.
func TestBodiesHaveLonger(t *testing.T) {
	w := newWorld(t, func(_ *world, c *rest.Config) { c.HeadTimeout = 300 * time.Millisecond })
	c := w.dial()
	head, body, _ := strings.Cut(queryRequest("Content-Type: application/json\r\n"), "\r\n\r\n")
	c.send(head + "\r\n\r\n" + body[:1])
	time.Sleep(600 * time.Millisecond)
	c.send(body[1:])
	if response, text := c.answer("POST", queryPath); response.StatusCode != 200 {
		t.Errorf("%d %s", response.StatusCode, text)
	}
}
