package rest

import (
	"net"
	"net/netip"
	"sync"
	"syscall"

	"github.com/tenantgate/tenantgate/proxy"
)

// conns are the open connections, within their limits, and the large buffers that they share.
type conns struct {
	limit, perNetwork int // 0: no limit per network
	bodies            bodies

	mu       sync.Mutex
	open     map[*conn]struct{}
	networks map[netip.Prefix]int
}

func newConns(limit, perNetwork int) *conns {
	return &conns{limit: limit, perNetwork: perNetwork, open: map[*conn]struct{}{}, networks: map[netip.Prefix]int{}}
}

// admission says whether there is a place for a connection.
type admission int

const (
	admitted admission = iota
	fullForAll
	fullForNetwork
)

// add takes a place for a connection. Without one it is wrapped, but not counted.
func (o *conns) add(transport net.Conn) (*conn, admission) {
	c := &conn{Conn: transport, raw: rawOf(transport), network: proxy.NetworkOf(transport), opened: o}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case len(o.open) >= o.limit:
		return c, fullForAll
	case o.perNetwork > 0 && c.network.IsValid() && o.networks[c.network] >= o.perNetwork:
		return c, fullForNetwork
	}
	o.open[c] = struct{}{}
	o.networks[c.network]++
	return c, admitted
}

// remove gives the place back; it does nothing for a connection that had none.
func (o *conns) remove(c *conn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, counted := o.open[c]; !counted {
		return
	}
	delete(o.open, c)
	if o.networks[c.network]--; o.networks[c.network] <= 0 {
		delete(o.networks, c.network)
	}
}

// cut ends the connections that are not busy, or all, and tells how many are left.
func (o *conns) cut(all bool) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	for c := range o.open {
		if all || !c.busy.Load() {
			c.cut()
		}
	}
	return len(o.open)
}

// endGone ends the contexts of clients that are followed and gone, and tells whether
// any are followed.
func (o *conns) endGone() (followed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for c := range o.open {
		client := c.followed.Load()
		if client == nil {
			continue
		}
		followed = true
		if c.gone() {
			client.end(errClientGone)
		}
	}
	return followed
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
