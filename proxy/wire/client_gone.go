package wire

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// errClientGone is the cause of a context whose client closed its connection.
var errClientGone = errors.New("the client closed the connection")

// watchEvery is how often the clients are looked at that a statement runs for.
const watchEvery = 250 * time.Millisecond

// watch ends the statements of clients that are gone, and transactions that are too old, until
// ctx is done: nobody reads from them meanwhile. A client that has closed its sending half alone looks the same and is
// treated the same.
func (s *Server) watch(ctx context.Context) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.clients.endGone()
			s.endOld(time.Now())
			s.endUnread(time.Now())
		}
	}
}

// endGone ends what runs for clients that are gone.
func (o *clients) endGone() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range o.open {
		if end := c.running.Load(); end != nil && c.gone() {
			(*end)(errClientGone)
		}
	}
}

// gone tells whether the client has closed its connection, or that is broken. Bytes that
// wait to be read do not hide it. It never blocks, and any goroutine may ask.
func (c *client) gone() bool {
	closed := false
	asked, err := c.ask(func(fd int) { closed = isClosed(fd) })
	return asked && (closed || err != nil)
}

// arrived is how many bytes have arrived at the client, where that is known.
func (c *client) arrived() (bytes uint64, known bool) {
	asked, err := c.ask(func(fd int) { bytes, known = acknowledged(fd) })
	return bytes, known && asked && err == nil
}

// ask has the connection's socket looked at, unless it has none.
func (c *client) ask(look func(fd int)) (asked bool, err error) {
	with, ok := c.socket.Conn.(syscall.Conn)
	if !ok {
		return false, nil
	}
	raw, err := with.SyscallConn()
	if err != nil {
		return false, fmt.Errorf("looking at a socket: %w", err)
	}
	if err := raw.Control(func(fd uintptr) { look(int(fd)) }); err != nil {
		return true, fmt.Errorf("looking at a socket: %w", err)
	}
	return true, nil
}
