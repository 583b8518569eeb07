package rest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/rest"
)

// Ensure that answers which nobody reads take no more memory than there is for them, however many
// places a server has, that a statement whose answer has no room is told so, and that room comes
// back with each answer that was read or given up.
func TestUnreadAnswersAreBounded(t *testing.T) {
	t.Run("read", func(t *testing.T) {
		unreadAnswers(t, func(t *testing.T, c *rawConn, length int) {
			if response, body := c.answer("POST", queryPath); response.StatusCode != 200 || len(body) < length {
				t.Fatalf("%d, %d bytes", response.StatusCode, len(body))
			}
		})
	})
	t.Run("given up", func(t *testing.T) { unreadAnswers(t, func(_ *testing.T, c *rawConn, _ int) { c.Close() }) })
}

// unreadAnswers has one of the answers that fill the room leave it.
func unreadAnswers(t *testing.T, leave func(*testing.T, *rawConn, int)) {
	large := strings.Repeat("x", 16<<20)
	w := newWorld(t, func(w *world, c *rest.Config) {
		w.limit(policy.Limits{MaxConcurrent: 100, RequestsPerSecond: -1})
		c.MaxAnswerBytes, c.ProjectShare = 100<<20, 100 // a server has 75 MB of that: four answers
		c.Query = func(_ context.Context, _ string, bound policy.Bound, as rest.Form, dst []byte) ([]byte, int64, error) {
			text := large
			if len(bound.Params()) > 0 {
				text = bound.Params()[0].Value.Text
			}
			body := append(dst, `"columns":["c"],"rows":[["`+text+`"]]`...)
			return body, 0, as.Room.Have(len(body))
		}
	})
	unread := []*rawConn{w.dial(), w.dial(), w.dial(), w.dial()}
	for _, c := range unread {
		c.send(queryRequest(""))
		if head, err := c.reader.Peek(12); string(head) != "HTTP/1.1 200" { // before another asks for room
			t.Fatalf("%q %v", head, err)
		}
	}
	full := func() bool {
		status, body := w.call("POST", queryPath, `{"query":"SELECT 1","args":[]}`, as(token))
		if status != 200 && (status != 503 || !strings.Contains(body, "not read yet")) {
			t.Fatalf("%d %.200s", status, body)
		}
		return status == 503
	}
	waitUntil(t, "there is no room for another answer", full)
	if status, body := w.call("POST", queryPath, small, as(token)); status != 200 {
		t.Errorf("a small answer: %d %s", status, body)
	}
	leave(t, unread[0], len(large))
	waitUntil(t, "an answer gave its room back", func() bool { return !full() })
}

// Ensure that an answer to a look-up by e-mail counts for its server like any other, until it was read.
func TestUnreadUsersAreBounded(t *testing.T) {
	large := strings.Repeat("x", 8<<20)
	w := newWorld(t, func(w *world, c *rest.Config) {
		w.store.users["long@x"] = proxy.EndUser{PasswordHash: &large}
		c.MaxAnswerBytes, c.ProjectShare = 32<<20, 100 // a server has 24 MB of that
	})
	own := "X-Server-ID: " + serverID + "\r\nX-API-Key: " + apiKey + "\r\n"
	var unread []*rawConn
	for range 2 {
		c := w.dial()
		c.send("GET " + emailPath + "?email=long@x HTTP/1.1\r\nHost: x\r\n" + own + "\r\n")
		if head, err := c.reader.Peek(12); string(head) != "HTTP/1.1 200" { // before another asks for room
			t.Fatalf("%q %v", head, err)
		}
		unread = append(unread, c)
	}
	full := func() bool {
		status, body := w.call("GET", emailPath+"?email=long@x", "", "X-Server-ID: "+serverID, "X-API-Key: "+apiKey)
		if status != 200 && (status != 503 || !strings.Contains(body, "not read yet")) {
			t.Fatalf("%d %.200s", status, body)
		}
		return status == 503
	}
	if !full() || w.counts.happened("short of answers: server") == 0 {
		t.Fatal("there is room for another answer")
	}
	unread[0].Close()
	waitUntil(t, "an answer gave its room back", func() bool { return !full() })
}
