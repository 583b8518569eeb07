package upstream

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tenantgate/tenantgate/proxy"
)

// places bounds the pool's sockets, and so its backends. A backend whose connection was
// given up goes on until Postgres looks at the socket again, which some loops do not for
// minutes; a pool that counts its own connections only would open one after the other. So
// a place is taken before the dial and is free again when the server closed its side.
type places struct {
	patience time.Duration // how long to wait for a place
	n        int32         // places at each address
	life     context.Context
	end      context.CancelFunc
	version  atomic.Pointer[string] // of the database that was connected to last

	mu    sync.Mutex
	taken map[string]chan struct{} // by address, of which a database has few: an element for each place in use
	open  map[*socket]struct{}     // those without a place, too
	wg    sync.WaitGroup           // one for each of open
}

func newPlaces(n int32, patience time.Duration) *places {
	p := &places{patience: patience, n: n, taken: map[string]chan struct{}{}, open: map[*socket]struct{}{}}
	p.life, p.end = context.WithCancel(context.Background())
	return p
}

// reserve waits for a place at an address: one server that does not let go must not keep
// another from taking over.
func (p *places) reserve(ctx context.Context, address string) (chan struct{}, error) {
	p.mu.Lock()
	taken := p.taken[address]
	if taken == nil {
		taken = make(chan struct{}, p.n)
		p.taken[address] = taken
	}
	p.mu.Unlock()
	timer := time.NewTimer(p.patience)
	defer timer.Stop()
	select {
	case taken <- struct{}{}:
		return taken, nil
	case <-timer.C:
		return nil, proxy.ErrNoTurn
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ticket dials for one connection of the pool: the connection itself, which needs a
// place, and later its cancel requests, which are short and need none.
type ticket struct {
	places    *places
	dial      pgconn.DialFunc
	path      string // the search_path that the connection is to have
	connected atomic.Bool
	in        io.Reader // what pgconn reads the connection from
	alarm     atomic.Pointer[alarm]
}

// frontend is a pgconn.BuildFrontendFunc; the last one made is that of the connection.
func (t *ticket) frontend(r io.Reader, w io.Writer) *pgproto3.Frontend {
	t.in = r
	return pgproto3.NewFrontend(r, w)
}

// connect is a pgconn.DialFunc.
func (t *ticket) connect(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.places.life, cancel)()
	var place chan struct{}
	var err error
	if !t.connected.Load() {
		if place, err = t.places.reserve(ctx, network+" "+address); err != nil {
			return nil, err
		}
	}
	conn, err := t.dial(ctx, network, address)
	if err == nil {
		s := &socket{Conn: conn, ticket: t, place: place, gone: make(chan struct{})}
		if err = t.places.add(s); err == nil {
			return s, nil
		}
		_ = conn.Close()
	}
	if place != nil {
		<-place
	}
	return nil, err
}

// add keeps a socket in sight.
func (p *places) add(s *socket) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.life.Err() != nil {
		return net.ErrClosed
	}
	p.open[s] = struct{}{}
	p.wg.Add(1)
	return nil
}

// unanswered tells whether places are held by attempts to connect that came to nothing:
// the server takes connections and does not get to serving them.
func (p *places) unanswered() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.open {
		if s.place != nil && s.closed.Load() && !s.ticket.connected.Load() {
			return true
		}
	}
	return false
}

// release forgets a socket that is closed on both sides.
func (p *places) release(s *socket) {
	p.mu.Lock()
	delete(p.open, s)
	then := s.then
	p.mu.Unlock()
	if s.place != nil {
		<-s.place
	}
	close(s.gone)
	if then != nil {
		then()
	}
	p.wg.Done()
}

// whenGone has a function called when a socket is closed on both sides, at once where it is.
func (p *places) whenGone(s *socket, then func()) {
	p.mu.Lock()
	_, open := p.open[s]
	if open {
		s.then = then
	}
	p.mu.Unlock()
	if !open {
		then()
	}
}

// abandon cuts all sockets; there will be no more.
func (p *places) abandon() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end()
	for s := range p.open {
		_ = s.Conn.Close()
	}
}

// close cuts all sockets and waits for those who hold them to notice.
func (p *places) close() {
	p.abandon()
	p.wg.Wait()
}
