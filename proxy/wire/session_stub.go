package wire

import (
	"context"

	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// session stands in for the one that serves clients: it refuses everything.
type session struct{ c *client }

func newSession(c *client) *session { return &session{c} }

func (s *session) run(context.Context) error {
	c := s.c
	c.asked = nil
	at := c.out.Open(frame.BackendKeyData)
	c.out.Int32(int(c.process))
	c.out.Int32(int(c.secret))
	c.out.Shut(at)
	for {
		at := c.out.Open(frame.ReadyForQuery)
		c.out.Byte(byte(proxy.Idle))
		c.out.Shut(at)
		if err := c.out.Flush(); err != nil {
			return err
		}
		switch kind, _, err := c.next(proxy.Idle); {
		case err != nil:
			return err
		case kind == frame.Terminate:
			return nil
		}
		(&fatal{state: "0A000", message: "not yet"}).write(&c.out)
	}
}
