package wire

import (
	"sync"

	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// The sizes of what is lent to clients that are being served, in bytes.
const (
	longBuffer  = 16 << 10 // to read into, where smallBuffer is not enough
	writeBuffer = 4 << 10  // to write into, at first
	maxKept     = 32 << 10 // a buffer for writing that grew beyond is not kept
)

// buffers are lent to clients while they are served, so that an idle one has none. The
// collector takes those that were not used between two of its runs. What is longer than
// longBuffer is not kept, and counts against a share of what all clients have.
type buffers struct {
	reading sync.Pool // of *[longBuffer]byte
	writing sync.Pool // of *[]byte

	long *proxy.Tally // bytes of what is longer
}

func (b *buffers) forReading() []byte {
	if lent, ok := b.reading.Get().(*[longBuffer]byte); ok {
		return lent[:]
	}
	return new([longBuffer]byte)[:]
}

func (b *buffers) forWriting() *[]byte {
	if lent, ok := b.writing.Get().(*[]byte); ok {
		return lent
	}
	fresh := make([]byte, 0, writeBuffer)
	return &fresh
}

// grow gives the client a longer buffer to read into: twice as long as what has come of a
// message that will have n bytes, so that nobody gets memory for announcing it. A buffer of
// more than the usual length has no room behind its message: so it is given back with it.
func (c *client) grow(n int) error {
	b := &c.server.buffers
	size := longBuffer
	if len(c.in.Buf) >= longBuffer {
		size = min(2*len(c.in.Buf), n)
		if b.long.Take(c.account(), size) != nil {
			return errNoMemory
		}
		c.hurry(n)
	}
	var longer []byte
	if size == longBuffer {
		longer = b.forReading()
	} else {
		longer = make([]byte, size)
	}
	end := copy(longer, c.in.Buf[c.in.At:c.in.End])
	c.giveBackReading()
	c.in.Buf, c.in.At, c.in.End = longer, 0, end
	if size > longBuffer {
		c.grown = size
	}
	return nil
}

// giveBackReading gives the buffer back that the client reads into.
func (c *client) giveBackReading() {
	b := &c.server.buffers
	if len(c.in.Buf) == longBuffer {
		b.reading.Put((*[longBuffer]byte)(c.in.Buf))
	}
	if c.grown > 0 {
		b.long.Give(c.account(), c.grown)
		c.grown = 0
	}
	c.in.Buf, c.in.At, c.in.End = c.small[:], 0, 0
}

// rest gives back what an idle client does not need. Nothing must be unread.
func (c *client) rest() {
	if len(c.in.Buf) != smallBuffer {
		c.giveBackReading()
	}
	if len(c.out.Buf) > 0 {
		return
	}
	if c.lent != nil && cap(c.out.Buf) <= maxKept {
		*c.lent = c.out.Buf[:0]
		c.server.buffers.writing.Put(c.lent)
	}
	c.lent, c.out.Buf = nil, nil
}

// lendBuffer lends a client the buffer that its answers are written to.
func (c *client) lendBuffer() {
	if c.out.Buf == nil {
		c.lent = c.server.buffers.forWriting()
		c.out.Buf = *c.lent
	}
}

// have makes sure that n bytes are there unread.
func (c *client) have(n int) error {
	for c.in.Unread() < n {
		if len(c.in.Buf) < n && c.in.Unread() == len(c.in.Buf) {
			if err := c.grow(n); err != nil {
				return err
			}
		}
		if err := c.in.Need(min(n, len(c.in.Buf))); err != nil {
			return err
		}
	}
	return nil
}

// readMessage gives the next message, which may have as many bytes; its content is valid until the
// next call.
func (c *client) readMessage(most int) (kind byte, body []byte, err error) {
	kind, length, err := c.in.Head()
	switch {
	case err == frame.ErrMalformed: //nolint:errorlint // it is never wrapped
		return 0, nil, errMessageBroken
	case err != nil:
		return 0, nil, err
	case length > most:
		return 0, nil, errMessageLong
	}
	if err := c.have(headBytes + length); err != nil {
		return 0, nil, err
	}
	c.in.At += headBytes
	body = c.in.Buf[c.in.At : c.in.At+length : c.in.At+length]
	c.in.At += length
	return kind, body, nil
}

// headBytes is the length of a message's type and length.
const headBytes = 5
