package wire

import (
	"context"
	"errors"
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
	with, ok := c.socket.Conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := with.SyscallConn()
	if err != nil {
		return false
	}
	closed := false
	err = raw.Control(func(fd uintptr) { closed = isClosed(int(fd)) })
	return closed || err != nil
}
