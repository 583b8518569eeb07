package upstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// acquire gives a connection for a statement, or tells why there is none in time. It was waited for already so long.
// One for a statement that wears connections out is none of those at hand, unless all are.
func (p *Pool) acquire(ctx context.Context, of proxy.Account, waited time.Duration, wears bool) (lease, error) {
	if of != ownTurn {
		p.cfg.Work.Pause(of)
		defer p.cfg.Work.Resume(of)
	}
	start := time.Now()
	err := p.turn(ctx, of, waited)
	if errors.Is(err, errAbandoned) {
		return lease{}, p.noLease(ctx, err)
	}
	var l lease
	if err == nil {
		if l, err = p.borrow(ctx, start, start.Add(p.cfg.AcquireTimeout-waited), wears); err != nil {
			p.turns.Give(of)
		}
	}
	l.given = time.Now()
	p.cfg.Recorder.Stage("pool_wait", l.given.Sub(start).Seconds())
	if err == nil {
		p.leased.Add(1)
		return l, nil
	}
	return lease{}, p.noLease(ctx, err)
}

// turn waits for a turn at a connection. The error is errAbandoned, or as Turns.Take has it.
func (p *Pool) turn(ctx context.Context, of proxy.Account, waited time.Duration) error {
	if p.abandoned.bars(of) {
		return errAbandoned
	}
	err := p.turns.Take(ctx, of, p.cfg.AcquireTimeout-waited)
	if err == nil && p.abandoned.bars(of) { // which it has since it waits
		p.turns.Give(of)
		return errAbandoned
	}
	return err
}

// noLease tells why there is no connection.
func (p *Pool) noLease(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, errAbandoned):
		return p.barred()
	case ctx.Err() != nil:
		return contextEnded(ctx)
	}
	return p.noConnection(err)
}

// passes fails where acquire would for want of a turn.
func (p *Pool) passes(ctx context.Context, of proxy.Account, waited time.Duration) error {
	p.cfg.Work.Pause(of)
	defer p.cfg.Work.Resume(of)
	if err := p.turn(ctx, of, waited); err != nil {
		return p.noLease(ctx, err)
	}
	p.turns.Give(of)
	return nil
}

// startWork waits until a statement of the account may run beside those of others, and tells how long that took. The
// statement has so much less time to wait for a connection.
func (p *Pool) startWork(ctx context.Context, of proxy.Account) (job proxy.Job, waited time.Duration, err error) {
	job, waited, err = p.cfg.Work.Begin(ctx, of, p.cfg.AcquireTimeout)
	switch {
	case err == nil:
		return job, waited, nil
	case ctx.Err() != nil:
		return job, 0, contextEnded(ctx)
	}
	p.cfg.Recorder.UpstreamError(classBusy)
	return job, 0, proxy.HeldBack(err)
}

// acquireOwn is acquire for what this program asks for itself, by pgx's means.
func (p *Pool) acquireOwn(ctx context.Context) (lease, error) {
	l, err := p.acquire(ctx, ownTurn, 0, false)
	if err == nil {
		l.session.alarm.clear()
	}
	return l, err
}

// ownTurn is under which this program takes its turns; no server has it.
var ownTurn proxy.Account

// borrow gives a connection to whoever has a turn. It waits for one until end, and for leastFetch at least.
func (p *Pool) borrow(ctx context.Context, start, end time.Time, wears bool) (lease, error) {
	if l, ok := p.shelved(wears); ok {
		return l, nil
	}
	end = later(end, time.Now().Add(leastFetch))
	if wears && p.spare() {
		if l, err := p.fetch(ctx, start, earlier(end, time.Now().Add(apartWait)), true); err == nil {
			return l, nil
		}
	}
	p.shelf.asking.Add(1)
	defer p.shelf.asking.Add(-1)
	if l, ok := p.shelved(false); ok { // it came before it was known that somebody asks
		return l, nil
	}
	return p.fetch(ctx, start, end, false)
}

// apartWait is how long a statement that wears connections out waits for one that is kept apart, before it takes any.
const apartWait = 100 * time.Millisecond

// leastFetch is how long whoever has a turn may wait for its connection at least: there is one for each turn, and one
// that is slow to come, or new, must not be taken for a database that can't be reached.
const leastFetch = 250 * time.Millisecond

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// fetch gives a connection of pgxpool's.
func (p *Pool) fetch(ctx context.Context, start, end time.Time, apart bool) (lease, error) {
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	for {
		conn, err := p.pool.Acquire(ctx)
		if err != nil {
			return lease{}, err
		}
		l := lease{conn: conn, session: sessionOf(conn.Conn().PgConn()), since: start, apart: apart}
		if l.session.path == p.path.now() {
			return l, nil
		}
		l.session.close()
		l.handOn()
	}
}

// spare tells whether pgxpool has a connection that no statement used lately, or may make one.
func (p *Pool) spare() bool {
	s := p.pool.Stat()
	return s.IdleConns() > 0 || s.TotalConns() < s.MaxConns()
}

// shelved gives a connection that lies ready and has the search_path of now.
func (p *Pool) shelved(apart bool) (lease, bool) {
	for {
		l, ok := p.shelf.pop(apart)
		if !ok || l.session.path == p.path.now() {
			return l, ok
		}
		l.session.close()
		l.handOn()
	}
}

// release gives a connection back, and the server's turn with it, unless a backend holds that.
func (p *Pool) release(l lease, of proxy.Account) {
	if l.session.pooled() { // the next transaction may have another backend
		l.session.growth, l.session.zoned = growth{}, 0
	}
	if reason := l.session.worn(); reason != "" {
		p.cfg.Recorder.ConnectionReplaced(reason)
		job := p.cfg.Work.Start(of)
		l.session.close()
		p.wg.Go(func() { p.renew(l, of, job) })
		return
	}
	left := p.shelf.put(l)
	p.leased.Add(-1)
	if left {
		p.giveTurnLater(of, l.session)
	} else { // the session may be another statement's by now
		p.turns.Give(of)
	}
}

// renew makes another connection in place of a worn one, which is closed. Until then the turn stays with whoever
// wore it out: else the others would find no connection ready, and wait for a new one.
func (p *Pool) renew(l lease, of proxy.Account, job proxy.Job) {
	defer p.turns.Give(of)
	defer p.cfg.Work.End(job)
	l.handOn()
	p.leased.Add(-1)
	ctx, cancel := context.WithTimeout(p.life, p.cfg.ConnectTimeout)
	defer cancel()
	start := time.Now()
	if conn, err := p.pool.Acquire(ctx); err == nil {
		p.shelf.put(lease{conn: conn, session: sessionOf(conn.Conn().PgConn()), since: start, apart: true})
	}
}

// busyHint is what a caller can do where connections are short.
const busyHint = "send fewer statements at a time; an open transaction holds a connection, so keep transactions short"

// noConnection tells a full pool from a database that can't be reached: a wait that ended
// while every connection was in somebody's hands was a wait for one of those; and
// a new one can have to wait for the end of a backend that was given up.
func (p *Pool) noConnection(err error) *proxy.Error {
	answered := !p.places.unanswered()
	if errors.Is(err, proxy.ErrNoTurn) && answered {
		if e := p.noShare(err); e != nil {
			return e
		}
	}
	s := p.pool.Stat()
	full := s.AcquiredConns() >= s.MaxConns()
	if errors.Is(err, proxy.ErrNoTurn) && answered || errors.Is(err, context.DeadlineExceeded) && full {
		p.cfg.Recorder.UpstreamError(classPoolWait)
		return overloaded("no database connection became free in time", busyHint, proxy.ErrNoTurn)
	}
	p.cfg.Recorder.UpstreamError(classConnect)
	if sqlStateClass(err) == "53" {
		return overloaded("the database takes no more connections", busyHint, err)
	}
	return unavailable("the database cannot be reached", err)
}

// noShare is for who holds as much as it may; nil for others.
func (p *Pool) noShare(err error) *proxy.Error {
	const message = "this %s holds its share of the database connections, %d, and none of them became free in time"
	switch {
	case errors.Is(err, proxy.ErrServerShare):
		p.cfg.Recorder.UpstreamError(classServerShare)
		return overloaded(fmt.Sprintf(message, "server", p.turns.MostOfServer()), busyHint, err)
	case errors.Is(err, proxy.ErrProjectShare):
		p.cfg.Recorder.UpstreamError(classProjectShare)
		return overloaded(fmt.Sprintf(message, "server's project", p.turns.MostOfProject()), busyHint, err)
	}
	return nil
}
