package rest_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/proxy/rest"
)

// newLookUpWorld has credentials looked up until ended; each look-up is told when it began.
func newLookUpWorld(t *testing.T, places int) (w *world, begun chan struct{}, ended chan error) {
	t.Helper()
	begun, ended = make(chan struct{}, 100), make(chan error, 100)
	w = newWorld(t, func(_ *world, c *rest.Config) { c.MaxConns = places })
	w.store.setDelay(func(ctx context.Context) error {
		begun <- struct{}{}
		<-ctx.Done()
		ended <- ctx.Err()
		return ctx.Err()
	})
	return w, begun, ended
}

const getServer = "GET " + serverPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + "\r\n"

// Whose place is another's, or whose connection is broken, waits for no look-up any more: else thousands of goroutines would, of one
// who comes again and again. That is no error of the service's.
func TestLookUpEnds(t *testing.T) {
	for name, test := range map[string]struct {
		leave   func(w *world, c *rawConn)
		counted string // code
	}{
		"evicted": {func(w *world, _ *rawConn) { w.dial() }, " overloaded"},
		"broken":  {func(_ *world, c *rawConn) { _ = c.Conn.(*net.TCPConn).SetLinger(0); _ = c.Close() }, " client_closed"},
	} {
		t.Run(name, func(t *testing.T) {
			w, begun, ended := newLookUpWorld(t, 1)
			c := w.dial()
			c.send(getServer)
			wait(t, begun, "the look-up")
			test.leave(w, c)
			wait(t, ended, "the end of the look-up")
			w.shutDown()
			if got := strings.Join(w.counts.all(), ", "); !strings.Contains(got, test.counted) || strings.Contains(w.logs.String(), `"ERROR"`) {
				t.Errorf("counted %s\n%s", got, w.logs.String())
			}
		})
	}
}

// Ensure a client that closes its sending half behind its request has its answer, however long its credentials are looked up.
func TestHalfClosedIsLookedUp(t *testing.T) {
	w := newWorld(t, nil)
	begun := make(chan struct{}, 100)
	w.store.setDelay(func(ctx context.Context) error {
		begun <- struct{}{}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(300 * time.Millisecond):
			return nil
		}
	})
	c := w.dial()
	c.send(getServer)
	wait(t, begun, "the look-up")
	_ = c.Conn.(*net.TCPConn).CloseWrite()
	if response, body := c.answer("GET", serverPath); response.StatusCode != 200 {
		t.Errorf("%d %s", response.StatusCode, body)
	}
}

// Requests that can't be called back, of connections that made room, keep nobody from an answer.
func TestEvictedBoundNobody(t *testing.T) {
	w := newWorld(t, func(_ *world, c *rest.Config) { c.MaxConns = 1 })
	begun, finish := make(chan struct{}, 1), make(chan struct{})
	w.store.setDelay(func(context.Context) error { begun <- struct{}{}; <-finish; return nil })
	defer close(finish)
	for range 40 {
		w.dial().send(getServer)
		wait(t, begun, "the look-up")
	}
	c := w.dial()
	c.send(noLogin)
	if response, body := c.answer("GET", "/nowhere"); response.StatusCode != 404 {
		t.Errorf("%d %s", response.StatusCode, body)
	}
}

// What is done for somebody who is known is not called back because the client says that it sends no more: it may be a change.
func TestKnownLookUpGoesOn(t *testing.T) {
	w := newWorld(t, nil)
	c := w.dial()
	begun := make(chan struct{}, 100)
	w.store.setDelay(func(ctx context.Context) error {
		if len(w.store.called()) == 1 {
			return nil // the credentials
		}
		begun <- struct{}{}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
			return nil
		}
	})
	c.send(getServer)
	wait(t, begun, "the look-up")
	_ = c.Conn.(*net.TCPConn).CloseWrite()
	if response, body := c.answer("GET", serverPath); response.StatusCode != 200 {
		t.Errorf("%d %s", response.StatusCode, body)
	}
}
