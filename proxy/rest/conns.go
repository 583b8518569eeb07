package rest

import (
	"net"
	"syscall"

	"github.com/tenantgate/tenantgate/proxy"
)

// conns are the open connections, within their limits, and the large buffers that they share.
type conns struct {
	*proxy.Connections[*conn]
	bodies bodies
	room   *room // of answers
	long   *room // of requests' bodies
}

func newConns(limits proxy.ConnectionLimits, recorder Recorder, room, long *room) *conns {
	return &conns{room: room, long: long, Connections: proxy.NewConnections[*conn](limits, func(authenticated bool) {
		recorder.Evicted(frontend, authenticated)
	})}
}

// add takes a place for a connection. Without one it is wrapped, but not counted.
func (o *conns) add(transport net.Conn) (*conn, proxy.Admission) {
	c := &conn{Conn: transport, raw: rawOf(transport), opened: o}
	return c, o.Add(c, proxy.NetworkOf(transport))
}

// cut ends the connections that are not needed, and tells how many are left.
func (o *conns) cut(needed func(*conn) bool) int {
	return o.Each(func(c *conn) {
		if !needed(c) {
			c.cut()
		}
	})
}

// endGone ends the contexts of clients that are followed and gone, and tells whether
// any are followed. A statement takes a connection of the database's: it ends with a client that sends no more, as nearly
// all of those are gone. A look-up of credentials takes little, and its connection still has its place, and so can be evicted:
// it goes on until the connection is broken, as who has closed its sending half alone may well read its answer.
func (o *conns) endGone() (followed bool) {
	o.Each(func(c *conn) {
		client, look := c.followed.Load(), c.awaited()
		if client == nil && look == nil {
			return
		}
		followed = true
		silent, broken := c.peer()
		if client != nil && silent {
			client.end(errClientGone)
		}
		if look != nil && broken {
			c.left.Store(true)
			look.end()
		}
	})
	return followed
}

// awaited gives the look-up that somebody waits for of whom nothing is known; nil: there is none.
func (c *conn) awaited() *patience {
	if look := c.looking.Load(); look != nil && !c.known.Load() && look.awaited() {
		return look
	}
	return nil
}

// States are what connections are doing, as Connections counts them: "starting" has sent no
// valid credentials so far, "idle" sends no request now, "active" does.
func States() []string { return []string{"starting", "idle", "active"} }

func stateOf(authenticated, busy bool) string {
	switch {
	case !authenticated:
		return "starting"
	case busy:
		return "active"
	}
	return "idle"
}

// Connections counts the open connections by what they do: one of States.
func (s *Server) Connections() map[string]int {
	counts := make(map[string]int, len(States()))
	s.conns.Each(func(c *conn) { counts[stateOf(c.known.Load(), c.busy())]++ })
	return counts
}

// rawOf gives access to the socket, for the watch.
func rawOf(transport net.Conn) syscall.RawConn {
	with, ok := transport.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := with.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}
