package control

import (
	"context"
	"net"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
)

// dialer remembers the connections of a pool, those that pgx makes to cancel a statement
// too, so that they can all be cut. By itself pgx waits 15 s for each to end politely.
type dialer struct {
	dial      pgconn.DialFunc
	mu        sync.Mutex
	open      map[*dialed]struct{}
	abandoned bool
}

// dialed is a connection that the dialer forgets when it is closed.
type dialed struct {
	net.Conn
	dialer *dialer
}

func (d *dialer) connect(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &dialed{conn, d}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.abandoned {
		_ = conn.Close()
		return nil, net.ErrClosed
	}
	if d.open == nil {
		d.open = make(map[*dialed]struct{})
	}
	d.open[c] = struct{}{}
	return c, nil
}

// Close closes the connection.
func (c *dialed) Close() error {
	c.dialer.mu.Lock()
	delete(c.dialer.open, c)
	c.dialer.mu.Unlock()
	return c.Conn.Close()
}

// abandon cuts all connections; there will be no more.
func (d *dialer) abandon() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.abandoned = true
	for c := range d.open {
		_ = c.Conn.Close()
	}
}
