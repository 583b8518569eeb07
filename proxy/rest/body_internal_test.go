package rest

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// shorts counts what was short.
type shorts struct {
	silent
	n int
}

func (s *shorts) Short(string, string) { s.n++ }

// Ensure the bytes of a body count, though not the time in which they come.
func TestBodiesAreCharged(t *testing.T) {
	const length = 3 << 20
	for _, size := range []int{0, length} {
		r := owing(t)
		var paused shorts
		r.server.cfg.Throttle, r.server.cfg.MaxBodyBytes, r.server.cfg.Recorder = proxy.NewThrottle(1, 100), length, &paused
		r.conn.phase.Store(uint32(handling))
		r.http.Request.SetBodyStream(io.LimitReader(strings.NewReader(strings.Repeat(" ", length)), int64(size)), size)
		if body, err := r.appendBody(nil); err != nil || len(body) != size {
			t.Fatalf("%d bytes, %v", len(body), err)
		}
		r.waited = time.Hour // whatever else it took
		r.pause(0)
		if charged := paused.n > 0; charged != (size > 0) {
			t.Errorf("%d bytes: paused %d times", size, paused.n)
		}
	}
}

// Ensure what the reading of a body takes the processor counts, as that of its chunks does, and the wait for it doesn't.
func TestReadingIsCharged(t *testing.T) {
	for what, charged := range map[string]bool{"work": true, "wait": false} {
		r := owing(t)
		var paused shorts
		r.server.cfg.Throttle, r.server.cfg.Recorder = proxy.NewThrottle(1, 100), &paused
		r.conn.phase.Store(uint32(handling))
		from := &slowly{stream: &stream{Conn: slowly{}, socket: r.conn}, works: charged}
		r.http.Request.SetBodyStream(from, -1)
		began := time.Now()
		if _, err := r.appendBody(nil); err != nil {
			t.Fatal(err)
		}
		r.pause(time.Since(began))
		if (paused.n > 0) != charged {
			t.Errorf("%s: paused %d times", what, paused.n)
		}
	}
}

// slowly is a body, or the connection that it comes over, that ends after a while: of work on the body, or of a wait for it.
type slowly struct {
	net.Conn
	stream *stream
	works  bool
}

func (s slowly) Read(p []byte) (int, error) {
	if s.stream != nil && !s.works {
		return s.stream.Read(p)
	}
	time.Sleep(30 * time.Millisecond)
	return 0, io.EOF
}

// Ensure that a body's memory and its args' are counted side by side, whichever is asked for first, and all given back.
func TestRoomForBodyAndArgs(t *testing.T) {
	r := owing(t)
	held := func() int { return r.conn.opened.long.held.Taken() }
	for i, take := range []func() error{
		func() error { return r.reserve(100_000) },
		func() error { return r.reserveArgs(200_000) },
		func() error { return r.reserve(300_000) },
		func() error { return r.reserveArgs(400_000) },
	} {
		want := []int{100_000, 300_000, 500_000, 700_000}[i]
		if err := take(); err != nil || held() != want {
			t.Errorf("%d: %d bytes are held, want %d; %v", i, held(), want, err)
		}
	}
	if r.giveBack(); held() != 0 {
		t.Errorf("%d bytes are not given back", held())
	}
}
