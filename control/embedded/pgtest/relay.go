package pgtest

import (
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// Relay stands between a program and Postgres, and can fail as networks do.
type Relay struct {
	Silent atomic.Bool                               // bytes are swallowed: a host that is gone without a word
	Ignore atomic.Bool                               // of new connections everything is swallowed; the server does not see them
	Watch  atomic.Pointer[func(part Part) (on bool)] // sees each part before it is passed; false ends the connection

	target, network string
	mu              sync.Mutex
	conns           map[net.Conn]bool
	refuses         bool
	all             sync.WaitGroup
}

// Part is what one read gave, of up to 64 KiB.
type Part struct {
	Bytes  []byte
	Answer bool // it comes from the server
}

// NewRelay gives a URL without TLS for the database of target that leads through a relay,
// which ends with the test.
func NewRelay(t testing.TB, target string) (*Relay, string) {
	t.Helper()
	cfg, err := pgconn.ParseConfig(target)
	if err != nil {
		t.Fatal("pgtest: not a connection string")
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &Relay{conns: map[net.Conn]bool{}}
	r.network, r.target = pgconn.NetworkAddress(cfg.Host, cfg.Port)
	r.all.Go(func() { r.accept(t.Context(), listener) })
	t.Cleanup(func() {
		_ = listener.Close()
		r.Cut(true)
		r.all.Wait()
	})
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(cfg.User, cfg.Password), Host: listener.Addr().String(),
		Path: cfg.Database, RawQuery: "sslmode=disable",
	}
	return r, u.String()
}

// Mend ends silence and refusal, and the connections that were there meanwhile.
func (r *Relay) Mend() {
	r.Silent.Store(false)
	r.Cut(false)
}

// Cut ends all connections, and refuses new ones where refuse is set, until it is called again.
func (r *Relay) Cut(refuse bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refuses = refuse
	for conn := range r.conns {
		_ = conn.Close()
	}
	clear(r.conns)
}

func (r *Relay) accept(ctx context.Context, listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		if r.Ignore.Load() {
			if r.add(client) {
				r.all.Go(func() { _, _ = io.Copy(io.Discard, client); r.close(client) })
			}
			continue
		}
		server, err := (&net.Dialer{}).DialContext(ctx, r.network, r.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		if r.add(client, server) {
			r.all.Go(func() { r.pass(server, client, false) })
			r.all.Go(func() { r.pass(client, server, true) })
		}
	}
}

func (r *Relay) add(conns ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, conn := range conns {
		if r.refuses {
			_ = conn.Close()
			continue
		}
		r.conns[conn] = true
	}
	return !r.refuses
}

func (r *Relay) close(conns ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, conn := range conns {
		_ = conn.Close()
		delete(r.conns, conn)
	}
}

func (r *Relay) pass(to, from net.Conn, answer bool) {
	defer r.close(to, from)
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if watch := r.Watch.Load(); watch != nil && !(*watch)(Part{buf[:n], answer}) {
			return
		}
		if r.Silent.Load() {
			continue
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}
