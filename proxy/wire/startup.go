package wire

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tenantgate/tenantgate/proxy/frame"
)

// What a packet that a connection begins with may ask for (PostgreSQL manual, "Message
// Formats"): a version of the protocol, or one of these.
const (
	cancelRequest = 1234<<16 | 5678
	sslRequest    = 1234<<16 | 5679
	gssRequest    = 1234<<16 | 5680

	version3 = 3 << 16 // the newest that is spoken
)

// Bounds of the length of a packet that a connection begins with, as Postgres has them: what
// follows the length, in bytes.
const (
	leastPacket = 4
	maxPacket   = 10_000
)

// packet is a message without a type.
type packet struct {
	code uint32
	body []byte // valid until the next read
}

var (
	// errCancel is how the start-up of a client ends that has come to cancel another.
	errCancel = errors.New("a cancel request")
	// errWantsTLS is of who asks for TLS where there is none, and goes away.
	errWantsTLS = errors.New("the client asked for TLS, which is off here, and disconnected")
	// errStrange is what is no Postgres client; it is told nothing.
	errStrange = errors.New("this is no start-up of a Postgres client")
	// errPlain is of who may have been tampered with on the way: CVE-2021-23222.
	errPlain = &fatal{state: "08P01", message: "received unencrypted data after a request for encryption",
		hint: "This is an error in the client, or somebody else is on the line."}
)

// startUp goes from the first byte to a client that has authenticated (PostgreSQL manual,
// "Start-up"). Its error ends the connection.
func (c *client) startUp(ctx context.Context) error {
	first, err := c.opening()
	if err != nil {
		return err
	}
	if first.code == cancelRequest {
		return c.cancel(first.body)
	}
	if err := c.readStartup(first); err != nil {
		return err
	}
	if err := c.authenticate(ctx); err != nil {
		return err
	}
	c.socket.left = -1
	c.phase.Store(uint32(active))
	return c.conn.SetDeadline(time.Time{}) // from here on each read and write has its own
}

// opening gives the packet that says what the client wants, after what it wants first: to
// be encrypted. Each way to ask for that can be gone once, and none after another was.
func (c *client) opening() (packet, error) {
	if err := c.directTLS(); err != nil {
		return packet{}, err
	}
	askedTLS, askedGSS := c.secured(), c.secured()
	for {
		p, err := c.packet()
		switch {
		case err == io.EOF && askedTLS && !c.secured(): //nolint:errorlint // a connection does not wrap it
			return p, errWantsTLS
		case err != nil:
			return p, err
		case p.code == sslRequest && !askedTLS:
			askedTLS = true
			err = c.answerTLS()
			askedGSS = askedGSS || c.secured()
		case p.code == gssRequest && !askedGSS:
			askedGSS = true
			err = c.answer('N')
		default:
			return p, nil
		}
		if err != nil {
			return p, err
		}
	}
}

// packet reads a packet.
func (c *client) packet() (packet, error) {
	if err := c.in.Need(4); err != nil {
		return packet{}, broken(c, err)
	}
	length := int64(binary.BigEndian.Uint32(c.in.Buf[c.in.At:])) - 4 // it counts itself
	if length < leastPacket || length > maxPacket {
		return packet{}, errStrange
	}
	size := 4 + int(length)
	if err := c.have(size); err != nil {
		return packet{}, broken(c, err)
	}
	body := c.in.Buf[c.in.At+4 : c.in.At+size]
	c.in.At += size
	return packet{code: binary.BigEndian.Uint32(body), body: body[4:]}, nil
}

// broken tells apart who said nothing, or not enough.
func broken(c *client, err error) error {
	if err == io.EOF && c.in.Unread() > 0 { //nolint:errorlint // a connection does not wrap it
		return io.ErrUnexpectedEOF
	}
	return err
}

// answer answers a request for encryption. Nothing may have come behind it: it would be
// taken for something that was said under encryption.
func (c *client) answer(yesOrNo byte) error {
	if c.in.Unread() > 0 {
		return errPlain
	}
	c.out.Byte(yesOrNo)
	return c.out.Flush()
}

// readStartup reads the start-up message proper.
func (c *client) readStartup(p packet) error {
	if p.code>>16 != version3>>16 {
		return &fatal{state: "0A000", code: "invalid_request", message: fmt.Sprintf(
			"unsupported frontend protocol %d.%d: server supports 3.0 to 3.0", p.code>>16, p.code&0xffff)}
	}
	if c.server.cfg.TLSMode == TLSRequire && !c.secured() {
		return errNoTLS
	}
	said, err := parseStartup(p.body)
	c.serverID = said.user
	if err != nil {
		return err
	}
	c.asked = said.settings
	if p.code > version3 || len(said.unknown) > 0 {
		c.negotiate(said.unknown)
	}
	return nil
}

// negotiate tells a client that wants a newer version, or an extension of the protocol, what
// there is: it may go on with that, and all do.
func (c *client) negotiate(unknown []string) {
	at := c.out.Open(frame.NegotiateVersion)
	c.out.Int32(version3)
	c.out.Int32(len(unknown))
	for _, name := range unknown {
		c.out.Text(name)
	}
	c.out.Shut(at)
}
