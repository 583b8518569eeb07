package wire

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// What may be read from a client before it has authenticated, in bytes.
const (
	maxUnknown = 12 << 10 // a start-up message has 10,000 at most, the rest is SCRAM
	maxTLS     = 16 << 10 // more, for a handshake
)

var errTooMuch = errors.New("the client sent more than a start-up may contain")

// transport is what a client's connection is made of.
type transport struct {
	net.Conn
	buffered    []byte           // was read before TLS was begun, and belongs to it
	left        int              // bytes that may still be read; negative: as many as come
	certificate *tls.Certificate // that was shown to the client
}

// Read reads no more than start-up may take.
func (t *transport) Read(p []byte) (int, error) {
	if len(t.buffered) > 0 {
		n := copy(p, t.buffered)
		t.buffered = t.buffered[n:]
		return n, nil
	}
	if t.left < 0 {
		return t.Conn.Read(p)
	}
	if t.left == 0 {
		return 0, errTooMuch
	}
	n, err := t.Conn.Read(p[:min(len(p), t.left)])
	t.left -= n
	return n, err
}

// keepAlive has the kernel find a machine that is gone while nothing is sent, in a minute.
func keepAlive(c net.Conn) {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return
	}
	_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{
		Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3,
	}) // a transport without it is served, too
}

// patience is a deadline of a connection. It is moved once a good part of it has gone: to
// move it costs more than to read the clock.
type patience struct {
	span  time.Duration
	until time.Time
}

// renew gives the deadline for who has span from now on, and whether it is another one.
func (p *patience) renew(span time.Duration) (time.Time, bool) {
	now := time.Now()
	if span == p.span && p.until.Sub(now) > span-span/16 {
		return p.until, false
	}
	p.span, p.until = span, now.Add(span)
	return p.until, true
}

// Read reads from the client, as long as what it is doing allows; it is for c.in. The error
// of a time that is over is a *fatal.
func (c *client) Read(p []byte) (int, error) {
	for {
		if err := c.beforeRead(); err != nil {
			return 0, err
		}
		n, err := c.conn.Read(p)
		if n > 0 || err == nil {
			return n, nil
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return 0, err
		}
		if time.Now().After(c.reading.until) {
			return 0, c.overdue()
		}
		if err := c.conn.SetReadDeadline(c.reading.until); err != nil { // it was woken
			return 0, err
		}
	}
}

// beforeRead sets the deadline, and then looks whether the service ends, or the wait: who has
// it end does so the other way round.
func (c *client) beforeRead() error {
	in := phase(c.phase.Load())
	if c.inTx && c.wholeBy.IsZero() {
		c.wholeBy = time.Now().Add(c.openSpan())
	}
	if in.timed() {
		if until, other := c.reading.renew(c.span(in)); other {
			if err := c.conn.SetReadDeadline(until); err != nil {
				return err
			}
		}
	}
	switch {
	case c.server.ends(in):
		return errShutdown
	case c.stopped != nil && c.stopped.Load():
		return errCancelled
	case c.inTx && c.isOver():
		return c.tooOld()
	}
	return nil
}

// span is how long a client may be silent.
func (c *client) span(in phase) time.Duration {
	switch in {
	case idle:
		return c.server.cfg.IdleTimeout
	case transaction:
		return c.openSpan()
	}
	if !c.wholeBy.IsZero() {
		return min(time.Until(c.wholeBy), c.server.cfg.ReadTimeout)
	}
	return c.server.cfg.ReadTimeout
}

// slowest is how many bytes a second must come of a message that takes memory from the others'.
const slowest = 64 << 10

// hurry bounds how long a message of n bytes may take in all, where it is not bounded already.
func (c *client) hurry(n int) {
	if c.wholeBy.IsZero() {
		c.wholeBy = time.Now().Add(c.server.cfg.ReadTimeout + time.Duration(n/slowest)*time.Second)
	}
}

// openSpan is how long a client may take to send a message within a transaction.
func (c *client) openSpan() time.Duration {
	if own := c.openTimeout; own > 0 {
		return min(own, c.server.cfg.TransactionIdleTimeout)
	}
	return c.server.cfg.TransactionIdleTimeout
}

// overdue tells a client that was silent for too long.
func (c *client) overdue() error {
	switch in := phase(c.phase.Load()); {
	case in == starting:
		return errLoginTooLong
	case in == idle:
		return errIdleTooLong
	case in == transaction, c.inTx && !time.Now().Before(c.wholeBy):
		return errOpenTooLong
	}
	return errReadTooLong
}

// piece is how much is written at a time, each within the WriteTimeout, in bytes.
const piece = 64 << 10

// Write sends to the client; it is for c.out.
func (c *client) Write(p []byte) (done int, err error) {
	c.sending.Store(true)
	defer c.sending.Store(false)
	for done < len(p) {
		if phase(c.phase.Load()).timed() {
			if until, other := c.writing.renew(c.server.cfg.WriteTimeout); other {
				if err := c.conn.SetWriteDeadline(until); err != nil {
					return done, err
				}
			}
		}
		n, err := c.conn.Write(p[done:min(done+piece, len(p))])
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// cutWrite ends the write that goes on. It is for the watch, which cuts off who takes nothing of an answer (endUnread), and
// whose transaction is over (hasten): Write's own deadline is for each piece, and neither for a result nor for a transaction.
// Where Write has just moved that deadline, the next look cuts again.
func (c *client) cutWrite() { _ = c.socket.SetWriteDeadline(time.Unix(1, 0)) }

// What is read from a client after its last answer: while it is still sending, a plain close
// would be answered with a reset, which can overtake what it was told. Many clients look for
// an answer to a long message only when they have sent all of it.
const (
	lingerTime  = time.Second
	lingerBytes = 1 << 20

	lingerTimeLong  = 5 * time.Second
	lingerBytesLong = 128 << 20
)

// linger is how much is read from a client, and how long, after it was told why it ends.
func (c *client) linger(f *fatal) (most int64, span time.Duration) {
	if (f == errMessageLong || f == errNoMemory) && c.key != (proxy.KeyID{}) {
		return lingerBytesLong, lingerTimeLong
	}
	return lingerBytes, lingerTime
}

// sendFatal tells the client why its connection ends, and gives it a moment to read that.
func (c *client) sendFatal(f *fatal) {
	c.phase.Store(uint32(ending))
	most, span := c.linger(f)
	_ = c.conn.SetDeadline(time.Now().Add(span))
	f.write(&c.out)
	if c.out.Flush() != nil {
		return
	}
	if secured, ok := c.conn.(*tls.Conn); ok {
		_ = secured.CloseWrite() // says that this is all
	}
	if half, ok := c.socket.Conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_, _ = io.CopyN(io.Discard, c.socket.Conn, most)
	}
}
