package rest

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// stream is what fasthttp reads from and writes to: a connection, or TLS on one.
type stream struct {
	net.Conn
	socket *conn

	heard atomic.Bool // something was read
	muted atomic.Bool // nothing is to be written any more

	head headLines // of what was read
	long bool      // a head has too many: no more is read
}

// Read notes that the peer has spoken, and what comes for a body. A head with too many lines is read up to these, so that
// it is not whole and nothing was made of it when the reading fails.
func (s *stream) Read(p []byte) (int, error) {
	if s.long {
		return 0, errLong
	}
	n, err := s.socket.intake.read(p, s.Conn.Read)
	if n > 0 {
		s.heard.Store(true)
		n, s.long = s.head.count(p[:n])
	}
	return n, err
}

// Write drops what goes to a muted stream.
func (s *stream) Write(p []byte) (int, error) {
	if s.muted.Load() {
		return len(p), nil
	}
	return s.Conn.Write(p)
}

// streamOf gives the type back that fasthttp was given.
func streamOf(c net.Conn) *stream { return c.(*stream) }

// conn is a client's connection.
type conn struct {
	net.Conn
	raw    syscall.RawConn // nil where the transport has no file descriptor
	opened *conns

	phase  atomic.Uint32 // what it is doing: see phase.go
	known  atomic.Bool   // a request with valid credentials has come
	beyond atomic.Bool   // and its server or project had its share of the connections already
	asked  atomic.Int64  // when the last request was there, in ns since 1970; 0: none was
	linger atomic.Bool   // the peer may still be sending: see Close
	once   sync.Once

	followed atomic.Pointer[presence]           // the client while a statement runs for it; nil: none does
	looking  atomic.Pointer[patience]           // of the last look-up for somebody who was not known
	left     atomic.Bool                        // the connection broke during that
	lookedUp atomic.Bool                        // the request waited for a look-up
	endWait  atomic.Pointer[context.CancelFunc] // ends the wait of a TLS handshake, or a pause; nil: there is none

	// What follows belongs to the goroutine that serves the connection.

	place   proxy.Place   // of the request whose answer is not written yet; zero: none
	holder  proxy.Account // whose the connection was first; zero: nobody's
	account proxy.Account // whose the answer is, where it may be large
	roomy   int           // bytes that it has of all answers' room
	present *presence     // the client that was followed last; nil: none was
	body    *[]byte       // the large buffer that its answer is in; nil: it has none
	large   bool          // the last answer was longer than largeBody
	intake  intake        // of the body that is being read
	request request       // the one that is being answered
}

// hold keeps the place that a request has taken until its answer is written: as long as
// nobody reads an answer, it is in memory.
func (c *conn) hold(place proxy.Place) {
	c.letGo()
	c.place = place
}

// lend has the connection give a large body's buffer back when the answer was written.
func (c *conn) lend(body []byte) {
	if c.body == nil {
		c.body = new([]byte)
	}
	*c.body = body
}

// letGo gives back what is held until the answer was written: the place, a large buffer and its room.
func (c *conn) letGo() {
	c.place.Release()
	if c.body != nil {
		c.opened.bodies.giveBack(c.body)
		c.body = nil
	}
	if c.roomy > 0 {
		c.opened.room.give(c.account, c.roomy)
		c.roomy = 0
	}
}

// Close closes the connection once. While the peer is still sending, a plain close
// makes the kernel answer with a reset, which can overtake the answer: so it is told
// that nothing more will come, and what it sends is thrown away for a moment.
func (c *conn) Close() (err error) {
	c.once.Do(func() {
		c.letGo()
		if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && c.linger.Load() && half.CloseWrite() == nil {
			c.discard()
		}
		err = c.Conn.Close()
		if phase(c.phase.Load()) != evicted { // else its place is another's already, and newcomers need not wait for its end
			c.opened.Remove(c)
		}
	})
	return err
}

// Bounds of what is read from a peer after its last answer.
const (
	lingerTime  = time.Second
	lingerBytes = 8 << 20
)

func (c *conn) discard() {
	if c.SetReadDeadline(time.Now().Add(lingerTime)) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, c.Conn, lingerBytes) // it ends with an error in any case
}

// endBody ends the wait for a body, from another goroutine than the one that serves the connection: its request is refused.
func (c *conn) endBody() {
	if phase(c.phase.Load()) == receiving {
		_ = c.SetReadDeadline(time.Unix(1, 0))
	}
}

// cut ends the connection at once, from another goroutine than the one that serves it:
// that one finds it closed and gives its place back.
func (c *conn) cut() {
	c.linger.Store(false)
	_ = c.Conn.Close()
	if end := c.endWait.Load(); end != nil {
		(*end)()
	}
}
