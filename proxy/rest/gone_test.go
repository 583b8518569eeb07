package rest_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy/rest"
)

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

// A connection that breaks in the middle of a head is no request.
func TestBrokenConnection(t *testing.T) {
	w := newWorld(t, nil)
	c := w.dial()
	c.send("GET " + serverPath + " HTTP/1.1\r\nHost: x\r\n")
	time.Sleep(50 * time.Millisecond)
	_ = c.Conn.(*net.TCPConn).SetLinger(0)
	_ = c.Close()
	time.Sleep(50 * time.Millisecond)
	w.shutDown()
	if counted := w.counts.all(); len(counted) != 0 {
		t.Errorf("counted %v", counted)
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

// A client that closed its sending half behind two statements loses the one that was
// running then; the next one is given its time again.
func TestHalfClosedIsLookedAtAnew(t *testing.T) {
	started := make(chan struct{}, 2)
	w := newWorld(t, func(w *world, c *rest.Config) {
		c.Query = func(ctx context.Context, _ string, bound policy.Bound, as rest.Form, dst []byte) ([]byte, int64, error) {
			if started <- struct{}{}; len(started) == 1 {
				<-ctx.Done()
			}
			if err := ctx.Err(); err != nil {
				return dst, 0, err
			}
			return w.answer(ctx, "", bound, as, dst)
		}
	})
	c := w.dial()
	c.send(queryRequest("") + queryRequest(""))
	_ = c.Conn.(*net.TCPConn).CloseWrite()
	for _, want := range []int{422, 200} {
		if response, body := c.answer("POST", queryPath); response.StatusCode != want {
			t.Errorf("%d %s, want %d", response.StatusCode, body, want)
		}
	}
}
