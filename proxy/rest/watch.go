package rest

import (
	"context"
	"errors"
	"sync"
	"time"
)

// errClientGone is the cause of a context whose client closed its connection.
var errClientGone = errors.New("the client closed the connection")

// watchEvery is how often the connections with a running statement are looked at.
const watchEvery = 75 * time.Millisecond

// watch ends contexts whose client went away. fasthttp gives no sign of it, and a
// read could take bytes of a pipelined request: so the state of the sockets is
// asked for, by one goroutine for all. A client that closes its sending half alone
// looks the same and is treated the same.
type watch struct {
	mu       sync.Mutex
	followed map[*conn]context.CancelCauseFunc
	wake     chan struct{} // holds one token while the goroutine may have to get up
}

func newWatch() *watch {
	return &watch{followed: map[*conn]context.CancelCauseFunc{}, wake: make(chan struct{}, 1)}
}

// follow gives a context that ends when the client of c is gone. stop must be called;
// a connection has one request at a time, so it is followed once at a time.
func (w *watch) follow(parent context.Context, c *conn) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	w.mu.Lock()
	w.followed[c] = cancel
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return ctx, func() {
		w.mu.Lock()
		delete(w.followed, c)
		w.mu.Unlock()
		cancel(nil)
	}
}

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
				left = w.look()
			}
		}
	}
}

// look cancels for those that are gone, and tells whether somebody is followed.
func (w *watch) look() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c, cancel := range w.followed {
		if c.gone() {
			cancel(errClientGone)
		}
	}
	return len(w.followed) > 0
}
