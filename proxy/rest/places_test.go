package rest_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy/rest"
)

// newPlacesWorld is one whose servers have this many places, and whose answers are larger
// than what sockets hold.
func newPlacesWorld(t *testing.T, places int, change func(*rest.Config)) *world {
	t.Helper()
	large := strings.Repeat("x", 16<<20)
	return newWorld(t, func(w *world, c *rest.Config) {
		w.limit(policy.Limits{MaxConcurrent: places, RequestsPerSecond: -1})
		c.Query = func(_ context.Context, _ string, bound policy.Bound, _ rest.Form, dst []byte) ([]byte, int64, error) {
			text := large
			if len(bound.Params()) > 0 {
				text = bound.Params()[0].Value.Text
			}
			if text == "panic" {
				panic(text)
			}
			return append(dst, `"columns":["c"],"rows":[["`+text+`"]]`...), 0, nil
		}
		if change != nil {
			change(c)
		}
	})
}

// isFull tells whether the server has no place left.
func (w *world) isFull() bool {
	w.t.Helper()
	status, body := w.call("POST", queryPath, small, as(token))
	if status != 200 && status != 429 {
		w.t.Fatalf("%d %s", status, body)
	}
	return status == 429
}

const small = `{"query":"SELECT ?","args":["s"]}`

// An answer that nobody reads keeps its place, until somebody reads it or leaves.
func TestUnreadAnswersKeepTheirPlaces(t *testing.T) {
	w := newPlacesWorld(t, 2, nil)
	readers, leavers := w.dial(), w.dial()
	readers.send(queryRequest(""))
	leavers.send(queryRequest("Connection: close\r\n"))
	waitUntil(t, "both answers are being written", w.isFull)
	if response, body := readers.answer("POST", queryPath); response.StatusCode != 200 || len(body) < 16<<20 {
		t.Fatalf("%d, %d bytes", response.StatusCode, len(body))
	}
	waitUntil(t, "an answer that was read gave its place back", func() bool { return !w.isFull() })
	readers.send(queryRequest(""))
	waitUntil(t, "both answers are being written", w.isFull)
	_ = leavers.Conn.(*net.TCPConn).SetLinger(0)
	_ = leavers.Close()
	waitUntil(t, "a client that left gave its place back", func() bool { return !w.isFull() })
}

// An answer that is not taken in time gives its place back, too.
func TestWriteTimeoutGivesPlacesBack(t *testing.T) {
	w := newPlacesWorld(t, 1, func(c *rest.Config) { c.WriteTimeout = 1500 * time.Millisecond })
	c := w.dial()
	c.send(queryRequest(""))
	waitUntil(t, "the answer is being written", w.isFull)
	waitUntil(t, "the answer was given up", func() bool { return !w.isFull() })
}

// With one place, a connection can send as many requests as it likes, whatever becomes of them.
func TestPlacesAreGivenBack(t *testing.T) {
	post := func(body, headers string) string {
		return "POST " + queryPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + headers + "Content-Length: " + itoa(len(body)) + "\r\n\r\n" + body
	}
	look := func(verb string) string {
		return verb + " " + emailPath + "?email=ada%2B1@example.com HTTP/1.1\r\nHost: x\r\nX-Server-ID: s1\r\nX-API-Key: " + apiKey + "\r\n\r\n"
	}
	requests := []struct {
		method, text string
		status       int
	}{
		{"POST", post(small, ""), 200}, {"POST", post(`{"query":"SELECT ?","args":["panic"]}`, ""), 500}, {"GET", look("GET"), 200}, {"HEAD", look("HEAD"), 200},
		{"POST", post(`{"query":"DROP TABLE x"}`, ""), 403}, {"POST", post(small, ""), 200}, {"POST", post(`{"query":"SELECT ?"}`, ""), 400}, {"POST", post(small, "Connection: close\r\n"), 200},
	}
	for _, pipelined := range []bool{false, true} {
		w := newPlacesWorld(t, 1, nil)
		for range 3 {
			c := w.dial()
			if pipelined {
				var all strings.Builder
				for _, r := range requests {
					all.WriteString(r.text)
				}
				c.send(all.String())
			}
			for _, r := range requests {
				if !pipelined {
					c.send(r.text)
				}
				path := map[bool]string{true: queryPath, false: emailPath}[r.method == "POST"]
				if response, body := c.answer(r.method, path); response.StatusCode != r.status {
					t.Errorf("pipelined %v: %d %s, want %d", pipelined, response.StatusCode, body, r.status)
				}
			}
		}
		w.shutDown()
	}
}

// Pipelined answers that nobody reads hold one place and one answer, not one for each.
func TestPipelinedAnswers(t *testing.T) {
	w := newPlacesWorld(t, 2, nil)
	c := w.dial()
	c.send(strings.Repeat(queryRequest(""), 4))
	time.Sleep(200 * time.Millisecond)
	if w.isFull() {
		t.Error("the requests of one connection hold both places")
	}
	for range 4 {
		if response, body := c.answer("POST", queryPath); response.StatusCode != 200 || len(body) < 16<<20 {
			t.Fatalf("%d, %d bytes", response.StatusCode, len(body))
		}
	}
}

func waitUntil(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(8 * time.Second); !happened(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within eight seconds: %s", what)
		}
	}
}

var errLost = errors.New("lost")
