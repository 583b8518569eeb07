package rest_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/rest"
)

// ready is a gate and a store that know every answer and make nothing for it, so that
// what a benchmark counts is the front end's own.
type ready struct {
	store
	approved *policy.Approved
	user     proxy.EndUser
}

var (
	readyCaller = proxy.Caller{Projects: []string{projectID}, Scopes: proxy.Read | proxy.Write}
	readyServer = proxy.Server{ID: serverID, ProjectID: projectID, Active: true}
	readyRate   = proxy.Rate{Limit: 200, Burst: 400, Remaining: 399, Reset: time.Millisecond}
)

func (*ready) PolicyName(proxy.Subject) string { return "" }

func (*ready) MaxArgs(proxy.Subject) int { return 1000 }

func (r *ready) Developer(context.Context, proxy.Account, string) (proxy.Caller, error) {
	return readyCaller, nil
}
func (r *ready) Application(context.Context, proxy.Account, string, string) (proxy.Server, error) {
	return readyServer, nil
}
func (r *ready) Project(context.Context, proxy.Caller, string) error { return nil }
func (r *ready) Server(context.Context, proxy.Caller, string, string) (proxy.Server, error) {
	return readyServer, nil
}

func (r *ready) Admit(context.Context, proxy.Subject) (proxy.Place, error) {
	return proxy.Place{Rate: readyRate}, nil
}

func (r *ready) Check(context.Context, proxy.Subject, string) (*policy.Approved, error) {
	return r.approved, nil
}
func (r *ready) Refresh(context.Context, time.Time) (bool, error) { return false, nil }
func (r *ready) ByEmail(context.Context, proxy.Account, string) (proxy.EndUser, error) {
	return r.user, nil
}

const pointSelect = `{"query":"SELECT id, name FROM files WHERE server_id = ? AND id = ?","args":[7]}`

// newReady approves pointSelect by the bundled policy.
func newReady(b *testing.B) *ready {
	b.Helper()
	w := &world{t: b, store: newStore(), counts: &counts{}}
	w.makeGate()
	approved, err := w.gate.Check(b.Context(), proxy.Subject{Frontend: "rest", Server: readyServer}, "SELECT id, name FROM files WHERE server_id = ? AND id = ?")
	if err != nil {
		b.Fatal(err)
	}
	return &ready{approved: approved, user: proxy.EndUser{ID: "u1", ExternalUserID: "x1", Username: "ada", Email: "ada@example.com"}}
}

// BenchmarkQuery is a statement over a socket, with a gate and a database that answer at
// once. Approved.Bind, which is the policy's, is in it.
func BenchmarkQuery(b *testing.B) {
	benchmarkRequest(b, "POST "+queryPath+" HTTP/1.1\r\nHost: x\r\n"+authorized+"Content-Type: application/json\r\n"+
		"Content-Length: "+itoa(len(pointSelect))+"\r\n\r\n"+pointSelect)
}

// BenchmarkUserByEmail is a look-up in the same way.
func BenchmarkUserByEmail(b *testing.B) {
	benchmarkRequest(b, "GET "+emailPath+"?email=ada@example.com HTTP/1.1\r\nHost: x\r\nX-Server-ID: "+serverID+"\r\nX-API-Key: "+apiKey+"\r\n\r\n")
}

// unread is a log whose lines are made, and read by nobody.
type unread struct{}

func (unread) Write(line []byte) (int, error) { return len(line), nil }

func benchmarkRequest(b *testing.B, request string) {
	gate := newReady(b)
	server, err := rest.New(rest.Config{
		Gate: gate, Servers: gate, EndUsers: gate, Logger: slog.New(slog.NewJSONHandler(unread{}, nil)),
		Query: func(_ context.Context, _ string, _ policy.Bound, _ rest.Form, dst []byte) ([]byte, int64, error) {
			return append(dst, `"columns":["id","name"],"rows":[[7,"a name"]]`...), 0, nil
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, listener) }()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	message, answer := []byte(request), make([]byte, 4<<10)
	b.ReportAllocs()
	for b.Loop() {
		exchange(b, client, message, answer)
	}
	_ = client.Close()
	stop()
	if err := <-served; err != nil {
		b.Fatal(err)
	}
}

// exchange sends a request whose answer comes whole in one read, as small ones do here.
func exchange(b *testing.B, client net.Conn, message, answer []byte) {
	if _, err := client.Write(message); err != nil {
		b.Fatal(err)
	}
	n, err := client.Read(answer)
	if err != nil || !bytes.HasPrefix(answer[:n], []byte("HTTP/1.1 200 OK\r\n")) || answer[n-1] != '}' {
		b.Fatalf("%v: %s", err, answer[:n])
	}
}
