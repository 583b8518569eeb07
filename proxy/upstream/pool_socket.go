package upstream

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// strangerTime bounds how long a closed connection keeps its place that never came to serve: it runs
	// no statement, and Postgres itself gives up who does not authenticate.
	unservedTime = 5 * time.Second
	// peerTimeout is when a server's machine that acknowledges nothing counts as gone.
	peerTimeout = 20 * time.Second
)

// socket is a connection as the network knows it, below TLS. Its owner's Close ends it for
// the owner; for the pool it is open until the server has closed its side.
type socket struct {
	net.Conn
	ticket *ticket
	place  chan struct{} // where it has its place; nil for one that needs none
	gone   chan struct{} // closed when both sides are closed
	then   func()        // is called then, under no lock; nil for nothing. It is guarded by places.mu

	mu     sync.Mutex  // orders closing and deadlines
	closed atomic.Bool // by the owner
}

// socketOf gives the socket of a connection, below TLS where there is some.
func socketOf(conn *pgconn.PgConn) *socket {
	c := conn.Conn()
	if wrapped, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = wrapped.NetConn()
	}
	return c.(*socket)
}

// Close closes our side and leaves the rest to a goroutine of the pool's.
func (s *socket) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Swap(true) {
		return net.ErrClosed
	}
	half, ok := s.Conn.(interface{ CloseWrite() error })
	if s.place == nil || !ok || half.CloseWrite() != nil || s.Conn.SetReadDeadline(time.Time{}) != nil {
		err := s.Conn.Close()
		s.ticket.places.release(s)
		return err
	}
	go s.waitForPeer()
	return nil
}

// Read is the owner's, and ends with its Close.
func (s *socket) Read(b []byte) (int, error) {
	if s.closed.Load() {
		return 0, net.ErrClosed
	}
	return s.Conn.Read(b)
}

// SetDeadline is the owner's; one that comes late must not cut the farewell short.
func (s *socket) SetDeadline(t time.Time) error { return s.deadline(s.Conn.SetDeadline, t) }

// SetReadDeadline is as SetDeadline.
func (s *socket) SetReadDeadline(t time.Time) error { return s.deadline(s.Conn.SetReadDeadline, t) }

func (s *socket) deadline(set func(time.Time) error, t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Load() {
		return net.ErrClosed
	}
	return set(t)
}

// waitForPeer waits until the server closed its side, and drops what it still sends. A backend that
// is busy for hours keeps its place for hours; one whose machine is gone, for peerTimeout.
func (s *socket) waitForPeer() {
	defer s.ticket.places.release(s)
	watchPeer(s.Conn)
	if !s.ticket.connected.Load() {
		timer := time.AfterFunc(unservedTime, func() { _ = s.Conn.Close() })
		defer timer.Stop()
	}
	_, _ = io.Copy(io.Discard, s.Conn)
	_ = s.Conn.Close()
}

// probe asks an idle peer for a sign of life. A system that can't set how often does it by its own times.
func probe(tcp *net.TCPConn) {
	const probes = 4
	_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{
		Enable: true, Idle: peerTimeout / probes, Interval: peerTimeout / probes, Count: probes - 1,
	})
}
