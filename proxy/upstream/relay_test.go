package upstream

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// preparation is what a session sends first once it is connected.
const preparation = "tg_prelude"

// relay passes bytes between clients and the server until it is frozen: then they are
// swallowed, as by a network that died.
type relay struct {
	net.Listener
	frozen atomic.Bool
	ignore atomic.Bool // new connections: accept them and swallow what comes
	armed  atomic.Bool // freeze, once, when a client sends preparation
	slow   atomic.Bool // everything takes 200ms
	target string
	wg     sync.WaitGroup
}

func newRelay(t *testing.T, databaseURL string) (*relay, string) {
	t.Helper()
	cfg, err := pgconn.ParseConfig(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	network, target := pgconn.NetworkAddress(cfg.Host, cfg.Port)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{Listener: l, target: target}
	r.wg.Go(func() { r.accept(network) })
	t.Cleanup(func() { _ = l.Close(); r.wg.Wait() })
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(cfg.User, cfg.Password), Host: l.Addr().String(),
		Path: cfg.Database, RawQuery: "sslmode=disable",
	}
	return r, u.String()
}

func (r *relay) accept(network string) {
	for {
		client, err := r.Accept()
		if err != nil {
			return
		}
		if r.ignore.Load() {
			r.wg.Go(func() {
				_, _ = io.Copy(io.Discard, client)
				_ = client.Close()
			})
			continue
		}
		server, err := net.Dial(network, r.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		r.wg.Go(func() { r.pass(server, client) })
		r.wg.Go(func() { r.pass(client, server) })
	}
}

func (r *relay) pass(to, from net.Conn) {
	defer func() { _ = to.Close() }()
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if bytes.Contains(buf[:n], []byte(preparation)) && r.armed.CompareAndSwap(true, false) {
			r.frozen.Store(true)
		}
		if r.frozen.Load() {
			continue
		}
		if r.slow.Load() {
			time.Sleep(200 * time.Millisecond)
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}
