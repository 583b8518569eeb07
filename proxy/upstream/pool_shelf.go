package upstream

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenantgate/tenantgate/proxy"
)

// shelfTime is how long a connection that statements use one after the other stays away from
// pgxpool, which looks after its age and its health, at most; half as much again where it is
// idle.
const shelfTime = 500 * time.Millisecond

// lease is a connection in the hands of a statement.
type lease struct {
	conn    *pgxpool.Conn
	session *session
	since   time.Time // when pgxpool gave it
	given   time.Time // to who has it now, or had it last
	apart   bool      // it is for statements that wear connections out
}

// shelf holds connections between two statements, the last one used on top and one that is kept apart at the bottom: to borrow one
// from pgxpool for every statement would cost that some microseconds and the collector's
// work. Whoever has taken a turn finds one here or may ask pgxpool for one, so together they
// are never more than the pool's.
type shelf struct {
	keep time.Duration

	mu     sync.Mutex
	leases []lease
	closed bool
	before time.Time // what pgxpool gave before it is handed on

	asking atomic.Int32 // those that wait for pgxpool, and so for what comes back
}

// pop gives the connection on top, or the one at the bottom if it is kept apart; ok is false where there is none.
func (s *shelf) pop(apart bool) (l lease, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := len(s.leases) - 1
	if apart {
		at = min(at, 0)
	}
	if at < 0 || apart && !s.leases[at].apart {
		return lease{}, false
	}
	l = s.leases[at]
	l.apart = apart
	s.leases = slices.Delete(s.leases, at, at+1)
	return l, true
}

// put takes a connection back, or hands it on to pgxpool when its time has come. It tells whether
// the connection was given up; one that was not may be another statement's when put returns.
func (s *shelf) put(l lease) (left bool) {
	if !l.session.abandoned && l.session.wire.state != proxy.Idle { // pgxpool does not know of it
		l.session.giveUp()
	}
	left = l.session.abandoned
	if !l.session.usable() || time.Since(l.since) > s.keep || !s.keeps(l) {
		l.handOn()
	}
	return left
}

// handOn gives a connection to pgxpool.
func (l lease) handOn() {
	l.session.alarm.clear()
	l.conn.Release()
}

func (s *shelf) keeps(l lease) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.asking.Load() > 0 || !l.since.After(s.before) {
		return false
	}
	at := len(s.leases)
	if l.apart {
		at = 0
	}
	s.leases = slices.Insert(s.leases, at, l)
	return true
}

// clear hands on to pgxpool what it gave before a time, and what is in use when it comes back.
func (s *shelf) clear(before time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before.After(s.before) {
		s.before = before
	}
	s.leases = slices.DeleteFunc(s.leases, func(l lease) bool {
		if l.since.After(before) {
			return false
		}
		l.handOn()
		return true
	})
}

// close empties the shelf for good.
func (s *shelf) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.clear(time.Now())
}

func (s *shelf) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.leases)
}

// keepClear hands on what lies idle, until ctx ends.
func (s *shelf) keepClear(ctx context.Context) {
	tick := time.NewTicker(s.keep / 2)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			s.clear(now.Add(-s.keep))
		}
	}
}
