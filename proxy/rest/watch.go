package rest

import (
	"context"
	"errors"
	"time"
)

// errClientGone is the cause of a context whose client closed its connection.
var errClientGone = errors.New("the client closed the connection")

// watchEvery is how often the connections with a running statement, or look-up, are looked at.
const watchEvery = 75 * time.Millisecond

// watch ends contexts whose client went away. fasthttp gives no sign of it, and a
// read could take bytes of a pipelined request: so the state of the sockets is
// asked for, by one goroutine for all. What a client that closes its sending half alone loses: see endGone.
type watch struct {
	conns *conns
	wake  chan struct{} // holds one token while the goroutine has to look
}

func newWatch(conns *conns) *watch {
	return &watch{conns: conns, wake: make(chan struct{}, 1)}
}

// presence is a client that is there. Its context is for one statement after the other of
// its connection: a client that is gone does not come back.
type presence struct {
	ctx context.Context
	end context.CancelCauseFunc
}

// follow gives a context that ends with its parent and when the client of c is gone. The
// connection must be left before its request ends. It has one at a time, so it is followed
// once at a time.
func (w *watch) follow(parent context.Context, c *conn) context.Context {
	if c.present == nil || c.present.ctx.Err() != nil {
		c.present = &presence{}
		c.present.ctx, c.present.end = context.WithCancelCause(parent)
	}
	c.followed.Store(c.present)
	w.wakeUp()
	return c.present.ctx
}

// wakeUp has the goroutine look, if it sleeps.
func (w *watch) wakeUp() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// leave ends the following. What was begun for the request must have ended.
func (w *watch) leave(c *conn) { c.followed.Store(nil) }

// run looks until ctx is done. It sleeps while there is nobody to look at.
func (w *watch) run(ctx context.Context) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		}
		for left := true; left; {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				left = w.conns.endGone()
			}
		}
	}
}
