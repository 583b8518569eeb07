package rest_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/proxy/rest"
)

// Bodies that nobody read must not be taken for the next request.
func TestUnreadBodies(t *testing.T) {
	w := newWorld(t, func(_ *world, c *rest.Config) { c.MaxBodyBytes = 8 << 20 })
	smuggled := "GET " + serverPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + "\r\n"
	for name, test := range map[string]struct {
		size      int
		keepsOpen bool
	}{"short": {len(smuggled), true}, "at the edge": {8 << 10, true}, "long": {8<<10 + 1, false}, "very long": {6 << 20, false}} {
		t.Run(name, func(t *testing.T) {
			c := w.dial()
			c.w = &world{t: t, contract: w.contract}
			body := smuggled + strings.Repeat(" ", test.size-len(smuggled))
			sent := make(chan error, 1)
			go func() {
				_, err := io.WriteString(c, "POST "+queryPath+" HTTP/1.1\r\nHost: x\r\nContent-Length: "+itoa(len(body))+"\r\n\r\n"+body)
				sent <- err
			}()
			if response, _ := c.answer("POST", queryPath); response.StatusCode != 401 || response.Close == test.keepsOpen {
				t.Fatalf("%d, close %v", response.StatusCode, response.Close)
			}
			// A client that is still sending must get its answer, not a reset.
			if err := <-sent; err != nil {
				t.Errorf("sending the rest: %v", err)
			}
			if !test.keepsOpen {
				if _, err := c.reader.ReadByte(); !errors.Is(err, io.EOF) {
					t.Errorf("the connection ends with %v", err)
				}
				return
			}
			c.send("GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n")
			if response, body := c.answer("GET", "/nowhere"); response.StatusCode != 404 {
				t.Errorf("%d %s", response.StatusCode, body)
			}
		})
	}
	if calls := w.store.called(); len(calls) != 0 {
		t.Errorf("a body was taken for a request: %v", calls)
	}
}

func TestBodySize(t *testing.T) {
	w := newWorld(t, nil)
	const limit = 1 << 20
	pad := func(n int) string {
		body := `{"query":"SELECT 1"}`
		return body + strings.Repeat(" ", n-len(body))
	}
	if status, body := w.call("POST", queryPath, pad(limit), as(token)); status != 200 {
		t.Errorf("at the limit: %d %s", status, body)
	}
	for _, size := range []int{limit + 1, 3 * limit} {
		if status, body := w.call("POST", queryPath, pad(size), as(token)); status != 413 || !strings.Contains(body, "body_too_large") {
			t.Errorf("%d bytes: %d %s", size, status, body)
		}
	}
	for name, size := range map[string]int{"fits": limit, "does not": limit + 1} {
		c := w.dial()
		go func() {
			body := pad(size)
			_, _ = io.WriteString(c, "POST "+queryPath+" HTTP/1.1\r\nHost: x\r\n"+authorized+"Transfer-Encoding: chunked\r\n\r\n")
			for ; body != ""; body = body[min(len(body), 4096):] {
				n := min(len(body), 4096)
				if _, err := io.WriteString(c, hex(n)+"\r\n"+body[:n]+"\r\n"); err != nil {
					return
				}
			}
			_, _ = io.WriteString(c, "0\r\n\r\n")
		}()
		response, body := c.answer("POST", queryPath)
		if want := map[bool]int{true: 200, false: 413}[size <= limit]; response.StatusCode != want {
			t.Errorf("chunks, %s: %d %s", name, response.StatusCode, body)
		}
	}
}

func TestSlowRequests(t *testing.T) {
	w := newWorld(t, func(_ *world, c *rest.Config) { c.ReadTimeout = 300 * time.Millisecond })
	for name, start := range map[string]string{
		"head": "GET " + serverPath + " HTTP/1.1\r\nHost: x\r\n",
		"body": "POST " + queryPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + "Content-Length: 20\r\n\r\n{",
		"rest": "POST " + queryPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + "Content-Length: 10000\r\n\r\n{" + strings.Repeat(" ", 9000),
	} {
		c := w.dial()
		c.send(start)
		response, body := c.answer("POST", queryPath)
		if _, message := errorOf(t, body); response.StatusCode != 400 || !strings.Contains(message, "in time") || !c.closed() {
			t.Errorf("%s: %d %s", name, response.StatusCode, body)
		}
	}
	// To a connection on which nothing was asked, nothing is said.
	c := w.dial()
	if text, err := io.ReadAll(c); err != nil || len(text) > 0 {
		t.Errorf("an unused connection got %q, %v", text, err)
	}
}
