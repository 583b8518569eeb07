package upstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// acquire gives a connection for a server's statement, or tells why there is none in time.
func (p *Pool) acquire(ctx context.Context, server string) (lease, error) {
	start := time.Now()
	err := p.turns.take(ctx, server, p.cfg.AcquireTimeout)
	var l lease
	if err == nil {
		if l, err = p.borrow(ctx, start); err != nil {
			p.turns.give(server)
		}
	}
	p.cfg.Recorder.Stage("pool_wait", time.Since(start).Seconds())
	switch {
	case err == nil:
		p.leased.Add(1)
		return l, nil
	case ctx.Err() != nil:
		return lease{}, gone(ctx)
	}
	return lease{}, p.noConnection(err)
}

// acquireOwn is acquire for what this program asks for itself, by pgx's means.
func (p *Pool) acquireOwn(ctx context.Context) (lease, error) {
	l, err := p.acquire(ctx, ownTurn)
	if err == nil {
		l.session.alarm.clear()
	}
	return l, err
}

// ownTurn is the name under which this program takes its turns; no server has it.
const ownTurn = ""

// borrow gives a connection to whoever has a turn.
func (p *Pool) borrow(ctx context.Context, start time.Time) (lease, error) {
	if l, ok := p.shelf.take(); ok {
		return l, nil
	}
	p.shelf.asking.Add(1)
	defer p.shelf.asking.Add(-1)
	if l, ok := p.shelf.take(); ok { // it came before it was known that somebody asks
		return l, nil
	}
	ctx, cancel := context.WithDeadline(ctx, start.Add(p.cfg.AcquireTimeout))
	defer cancel()
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return lease{}, err
	}
	return lease{conn, sessionOf(conn.Conn().PgConn()), start}, nil
}

// release gives a connection back, and the server's turn with it.
func (p *Pool) release(l lease, server string) {
	p.shelf.put(l)
	p.leased.Add(-1)
	p.turns.give(server)
}

// busyHint is what a caller can do where connections are short.
const busyHint = "send fewer statements at a time; an open transaction holds a connection, so keep transactions short"

// noConnection tells a full pool from a database that can't be reached: a wait that ended
// while every connection was in somebody's hands was a wait for one of those; and
// a new one can have to wait for the end of a backend that was given up.
func (p *Pool) noConnection(err error) *proxy.Error {
	if errors.Is(err, errShare) && !p.places.unanswered() {
		p.cfg.Recorder.UpstreamError(classPoolWait)
		return overloaded(fmt.Sprintf("this server holds its share of the database connections, %d, and none of them became free in time", p.turns.most), busyHint, errShare)
	}
	s := p.pool.Stat()
	full := s.AcquiredConns() >= s.MaxConns()
	if errors.Is(err, errFull) && !p.places.unanswered() || errors.Is(err, context.DeadlineExceeded) && full {
		p.cfg.Recorder.UpstreamError(classPoolWait)
		return overloaded("no database connection became free in time", busyHint, errFull)
	}
	p.cfg.Recorder.UpstreamError(classConnect)
	if sqlStateClass(err) == "53" {
		return overloaded("the database takes no more connections", busyHint, err)
	}
	return unavailable("the database cannot be reached", err)
}
