package rest

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// owing is a request of somebody unknown whose network owes so much that each free request pauses; the pause is over at once.
func owing(t *testing.T) *request {
	t.Helper()
	throttle := proxy.NewThrottle(1, 1)
	cfg := Config{Throttle: throttle, Recorder: silent{}, MaxBodyBytes: 1 << 20, MaxLongBytes: 8 << 20, ProjectShare: 75}
	c := &conn{Conn: address{from: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}}}
	c.opened = newConns(proxy.ConnectionLimits{Total: 1}, silent{}, nil, roomOfBodies(cfg))
	throttle.Spend(c.asker(), time.Hour)
	over, end := context.WithCancel(t.Context())
	end()
	r := &c.request
	r.conn, r.server, r.http = c, &Server{cfg: cfg, pauses: over}, &fasthttp.RequestCtx{}
	return r
}

// Ensure a pause leaves an answer alone that is not written yet: in the pool, its buffer would be another connection's.
func TestPausesKeepTheAnswer(t *testing.T) {
	r := owing(t)
	r.conn.lend(make([]byte, 0, keptBody)) // for a result that then was none
	r.setBody(403, append(r.buffer(), `{"error":{}}`...))
	r.pause(time.Second)
	if r.conn.body == nil {
		t.Error("the answer's buffer was given back before it was written")
	}
	if got := string(r.http.Response.Body()); got != `{"error":{}}` {
		t.Errorf("the answer is %s", got)
	}
}

// Ensure that what a request is charged for in a pause is in no memory then: its text, its args and its body's room.
func TestPausesKeepNoArgs(t *testing.T) {
	r := owing(t)
	r.statement.text, r.statement.args = "SELECT 1", make([]policy.Arg, 40_000)
	if err := r.reserveArgs(40_000 * argSize); err != nil {
		t.Fatal(err)
	}
	r.pause(time.Second)
	if r.statement.text != "" || cap(r.statement.args) > keptArgs {
		t.Errorf("the text %q and %d args are kept", r.statement.text, cap(r.statement.args))
	}
	if held := r.conn.opened.long.held.Taken(); held != 0 {
		t.Errorf("%d bytes are held", held)
	}
}
