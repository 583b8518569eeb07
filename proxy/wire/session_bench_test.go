package wire

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// replay is a connection whose client sends the same messages over and over, as often as
// it is to, and reads whatever comes.
type replay struct {
	net.Conn
	messages []byte
	left     []byte
	times    int
}

func (r *replay) Read(p []byte) (int, error) {
	if len(r.left) == 0 {
		if r.times == 0 {
			return 0, io.EOF
		}
		r.times--
		r.left = r.messages
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

func (*replay) Write(p []byte) (int, error) { return len(p), nil }

// encoded gives messages as bytes.
func encoded(messages ...pgproto3.FrontendMessage) []byte {
	var out strings.Builder
	front := pgproto3.NewFrontend(strings.NewReader(""), &out)
	for _, m := range messages {
		front.Send(m)
	}
	_ = front.Flush()
	return []byte(out.String())
}

// replayed is a session of a client that sends messages over and over.
func replayed(t testing.TB, link Link, messages []byte, times int) (*session, *client) {
	t.Helper()
	server, err := New(Config{Gate: newDeciding(t), Open: func(proxy.Account) Link { return link }, Logger: slog.New(slog.DiscardHandler), TLSMode: TLSDisable})
	if err != nil {
		t.Fatal(err)
	}
	here, there := net.Pipe()
	t.Cleanup(func() { _, _ = here.Close(), there.Close() })
	c := server.newClient(here)
	c.conn = &replay{Conn: here, messages: messages, times: times}
	c.serverID = ownID
	c.phase.Store(uint32(active))
	c.lendBuffer()
	return newSession(c), c
}

// BenchmarkSession is the session's own cost of a statement: its messages, the gate (a map
// here) and an exchange that nobody runs.
func BenchmarkSession(b *testing.B) {
	bound := []pgproto3.FrontendMessage{&pgproto3.Bind{PreparedStatement: "s", Parameters: [][]byte{[]byte("x")}}, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{}, &pgproto3.Sync{}}
	for name, messages := range map[string][]pgproto3.FrontendMessage{
		"simple":   {&pgproto3.Query{String: all}},
		"extended": append(step(point, "x"), &pgproto3.Sync{}),
		"prepared": bound,
		"begin":    {&pgproto3.Query{String: "BEGIN"}, &pgproto3.Query{String: "COMMIT"}},
	} {
		b.Run(name, func(b *testing.B) {
			s, c := replayed(b, quiet{}, encoded(messages...), b.N)
			c.server.throttle = nil // what costs nothing is measured, too
			c.in.From = bufio.NewReader(io.MultiReader(strings.NewReader(string(encoded(&pgproto3.Parse{Name: "s", Query: point}, &pgproto3.Sync{}))), c))
			b.ReportAllocs()
			b.ResetTimer()
			if err := s.run(b.Context()); !errors.Is(err, io.EOF) {
				b.Fatal(err)
			}
		})
	}
}

// quiet is a link that does nothing.
type quiet struct{}

func (quiet) Run(_ context.Context, x *proxy.Exchange, _ *frame.Writer) (proxy.State, error) {
	x.Done = len(x.Steps)
	return proxy.Idle, nil
}

func (quiet) Rollback() {}
