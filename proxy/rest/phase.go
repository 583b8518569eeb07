package rest

import (
	"errors"

	"github.com/tenantgate/tenantgate/proxy"
)

// phase is what a connection is doing. Its goroutine moves it on; Evict moves it to evicted
// from any phase in which nothing is lost but a request that has not begun to be served, or an
// answer that is not taken.
type phase uint32

const (
	waiting   phase = iota // for a handshake, or for a request's head and what fasthttp reads with it
	handling               // a request is being served
	receiving              // the rest of a request's body is awaited
	answering              // its answer is being written, or what comes behind it thrown away
	evicted
)

// errEvicted is of a connection that had to go before its request was served.
var errEvicted = errors.New("the connection was evicted")

// noPlace tells its request so, which can hardly be heard.
func noPlace() *proxy.Error {
	return &proxy.Error{Code: proxy.Overloaded, Message: "too many connections are open; try again", Retryable: true, Cause: errEvicted}
}

// begin tells whether a request may be served: not where the connection was evicted.
func (c *conn) begin() bool { return c.move(waiting, handling) }

func (c *conn) move(from, to phase) bool {
	return c.phase.CompareAndSwap(uint32(from), uint32(to))
}

// busy tells whether a request is being served, or its answer written.
func (c *conn) busy() bool { return phase(c.phase.Load()) != waiting }

// toStranger tells whether an answer is being written to somebody who has shown no valid credentials.
func (c *conn) toStranger() bool { return phase(c.phase.Load()) == answering && !c.known.Load() }

// settled tells whether the connection is within its server's and project's share.
func (c *conn) settled() bool { return c.known.Load() && !c.beyond.Load() }

// authenticated notes whose the connection is, once valid credentials came. It tells false where
// it had to go before.
func (c *conn) authenticated(a proxy.Account) bool {
	if !c.known.Swap(true) {
		c.holder = a
	}
	there, err := c.opened.Authenticated(c, c.holder)
	c.beyond.Store(err != nil)
	return there
}

// Spare implements proxy.Connection. The answer to somebody unknown is a refusal or a
// document: who does not take it keeps nobody else out, nor who waits for credentials to be
// looked up, nor who has more than a share.
func (c *conn) Spare() (since int64, spare bool) {
	switch phase(c.phase.Load()) {
	case waiting, receiving:
		spare = true
	case handling:
		spare = !c.known.Load()
	case answering:
		spare = !c.settled()
	}
	return c.asked.Load(), spare
}

// Evict implements proxy.Connection.
func (c *conn) Evict() bool {
	now := phase(c.phase.Load()) // it may have moved on since Spare
	if now == evicted || now == handling && c.known.Load() || now == answering && c.settled() || !c.move(now, evicted) {
		return false
	}
	if look := c.looking.Load(); look != nil {
		look.end()
	}
	c.cut()
	return true
}
