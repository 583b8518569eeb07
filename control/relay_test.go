package control

import (
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// relay stands between a store and Postgres, and can fail as networks do.
type relay struct {
	listener net.Listener
	target   string
	silent   atomic.Bool // bytes are swallowed: a host that is gone without a word
	mu       sync.Mutex
	conns    map[net.Conn]bool
	closed   bool // connections are refused
	all      sync.WaitGroup
}

// through gives a URL for the database of target that leads through a relay.
func through(t *testing.T, target string) (*relay, string) {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal("not a URL")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{listener: listener, target: u.Host, conns: map[net.Conn]bool{}}
	r.all.Go(r.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		r.cut(true)
		r.all.Wait()
	})
	u.Host = listener.Addr().String()
	return r, u.String()
}

func (r *relay) accept() {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", r.target)
		if err != nil || !r.add(client, server) {
			_ = client.Close()
			continue
		}
		r.all.Go(func() { r.pipe(client, server) })
		r.all.Go(func() { r.pipe(server, client) })
	}
}

func (r *relay) add(conns ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, conn := range conns {
		if r.closed {
			_ = conn.Close()
			continue
		}
		r.conns[conn] = true
	}
	return !r.closed
}

// cut ends all connections, and refuses new ones until mended.
func (r *relay) cut(refuse bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = refuse
	for conn := range r.conns {
		_ = conn.Close()
	}
	clear(r.conns)
}

func (r *relay) mend() {
	r.silent.Store(false)
	r.cut(false)
}

func (r *relay) pipe(from, to net.Conn) {
	defer func() { _, _ = from.Close(), to.Close() }()
	buffer := make([]byte, 4096)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		if r.silent.Load() {
			continue
		}
		if _, err := io.Writer(to).Write(buffer[:n]); err != nil {
			return
		}
	}
}
