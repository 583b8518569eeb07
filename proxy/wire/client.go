package wire

import (
	"context"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// smallBuffer is what a client has to read into while it is idle, in bytes: enough for the
// messages of a statement that is prepared already.
const smallBuffer = 512

// client is one connection, and what start-up has found out about it. It belongs to the
// goroutine that serves it, but for phase, running, opened, over and what the methods say.
//
// A session, once there is one, does this, and nothing else with the connection:
//
//	c.next(state)     the client's next message; waits for it
//	c.in.Unread()     whether more has come already
//	c.out             writes; c.out.Flush sends, each piece of it within the WriteTimeout
//	c.running.Store   what ends the statement that runs now, or is about to run once more; nil when none does
//
// and run returns nil when the client said Terminate, an error otherwise: a *fatal is told to
// the client, of any other the client hears nothing but that the connection ends.
type client struct {
	server  *Server
	socket  transport
	conn    net.Conn     // socket, or TLS on it
	network netip.Prefix // whom it counts for
	since   time.Time

	in  frame.Reader // do not call its Next: see client.next
	out frame.Writer

	serverID  string // the user's name; the server of that id holds key once start-up is over
	projectID string
	key       proxy.KeyID // for Gate.Recheck
	asked     []asked     // of the start-up message; to be forgotten when they were made

	process, secret int32 // of BackendKeyData

	phase   atomic.Uint32 // a phase
	running atomic.Pointer[context.CancelCauseFunc]
	opened  atomic.Int64 // when its transaction took a connection, in nanoseconds since 1970; 0: it has none
	over    atomic.Int64 // the same of a transaction that is to end, whatever the client does

	overSince time.Time // when over was set; the watch's own

	sending  atomic.Bool  // it is being written to
	patience atomic.Int64 // how long it may take nothing of what runs, in nanoseconds
	stall    stall        // the watch's own

	openTimeout time.Duration // the client's own for a transaction that is idle; 0: none
	inTx        bool          // the next message is waited for with a transaction open
	wholeBy     time.Time     // and must be there by then; as a long message outside of it; zero: it is not bound yet

	stopped *atomic.Bool // when true, reading ends with errCancelled; nil: nothing stops it

	reading patience
	writing patience
	lent    *[]byte // what out.Buf was at first; nil: nothing was lent
	grown   int     // bytes of the budget for long messages that in.Buf takes
	small   [smallBuffer]byte
}

// asked is a setting as the start-up message has it: neither its name nor its value was
// looked at. It is a type of its own so that it is never taken for a policy.Setting.
type asked struct{ name, value string }

// phase is what a client is doing.
type phase uint32

const (
	starting    phase = iota // it has not authenticated
	idle                     // nothing of it runs, and no transaction is open
	active                   // it was heard, and is being served
	transaction              // it is waited for, with its transaction open
	ending                   // it was told that its connection ends
)

// phases are what they are called in metrics.
var phases = [...]string{starting: "starting", idle: "idle", active: "active", transaction: "transaction", ending: "active"}

// timed tells whether reads and writes each have a time of their own in this phase; in the
// others there is one for all.
func (p phase) timed() bool { return p != starting && p != ending }

// next waits for the client's next message and gives its type and content, which is valid
// until the next call. The state is the transaction's: it decides how long the wait may be,
// and whether the end of the service ends it. What was written must have been flushed
// where the client waits for it. Its errors are what run is to return: a *fatal or what the
// network says.
func (c *client) next(state proxy.State) (kind byte, body []byte, err error) {
	c.inTx, c.wholeBy = state != proxy.Idle, time.Time{}
	if c.in.Unread() == 0 {
		if err := c.await(state); err != nil {
			return 0, nil, err
		}
	}
	return c.readMessage(c.server.cfg.MaxMessageBytes)
}

// await waits until the client is heard again, and gives back meanwhile what it does not need.
func (c *client) await(state proxy.State) error {
	c.rest()
	c.phase.Store(uint32(waitingIn(state)))
	err := c.in.Need(1)
	c.phase.Store(uint32(active))
	if err != nil {
		return err
	}
	c.lendBuffer()
	if c.in.End == smallBuffer && len(c.in.Buf) == smallBuffer {
		return c.grow(longBuffer) // there is more
	}
	return nil
}

// waitingIn is the phase of a client that is waited for.
func waitingIn(state proxy.State) phase {
	if state == proxy.Idle {
		return idle
	}
	return transaction
}

// wake has a read that waits look up whether it is to end. Any goroutine may call it.
func (c *client) wake() { _ = c.socket.SetReadDeadline(time.Unix(1, 0)) }

// cancelRunning ends the statement that runs now; without one it does nothing. It is safe to
// call from any goroutine.
func (c *client) cancelRunning() {
	if end := c.running.Load(); end != nil {
		(*end)(errCancelled)
	}
}
