package upstream

import (
	"context"
	"net"
	"sync"
	"time"
)

const (
	// cancelPatience bounds how long a cancelled statement may take to end, the sending
	// of the cancellation included. After it the connection is given up.
	cancelPatience = 2 * time.Second
	// hearing is what is left of a run, at least, to hear how its statement ended, however
	// long the cancellation took.
	hearing = 250 * time.Millisecond
	// closePatience bounds the farewell to a connection that is given up.
	closePatience = time.Second
)

// alarm is what wakes a run that waits for its connection: the deadline that the run has
// for itself, or the end of its context. Both are the connection's deadline, so that the
// run learns of them where it waits.
type alarm struct {
	conn net.Conn

	mu  sync.Mutex
	ctx context.Context //nolint:containedctx // of the run; nil: there is none, or it is being called off
	at  time.Time       // the deadline; zero: none, or one that is not a run's
}

const (
	// alarmSlack is how much later than it should an alarm may go off: to set the deadline
	// anew for each of the statements that a connection runs in a second would cost more
	// than that.
	alarmSlack = time.Second
	// lookEvery is the time between two looks at the runs' contexts: to be called by each
	// would cost every statement, and few are ever cut off.
	lookEvery = 50 * time.Millisecond
)

// set begins a run that is to end at a time, or with ctx.
func (a *alarm) set(ctx context.Context, end time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ctx = ctx
	if a.at.Before(end) || a.at.After(end.Add(alarmSlack)) {
		a.at = end.Add(alarmSlack)
		_ = a.conn.SetDeadline(a.at) // fails on a closed connection only, as all its like
	}
}

// look wakes the run if its context has ended.
func (a *alarm) look() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ctx != nil && a.ctx.Err() != nil {
		a.at = time.Time{}
		_ = a.conn.SetDeadline(time.Unix(1, 0))
	}
}

// bound gives the run a last deadline; its context's end changes nothing more.
func (a *alarm) bound(patience time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ctx, a.at = nil, time.Time{}
	_ = a.conn.SetDeadline(time.Now().Add(patience))
}

// off ends a run. A deadline that nobody has touched stays, for the next one.
func (a *alarm) off() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ctx = nil
	if a.at.IsZero() {
		_ = a.conn.SetDeadline(time.Time{})
	}
}

// clear takes the deadline off a connection that is to do something else than a run.
func (a *alarm) clear() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = time.Time{}
	_ = a.conn.SetDeadline(time.Time{})
}

// look wakes the runs whose contexts have ended, until ctx does.
func (p *places) look(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var alarms []*alarm
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		alarms = p.alarms(alarms[:0])
		for _, a := range alarms { // not under the lock: who closes a socket has that one's first
			a.look()
		}
		clear(alarms)
	}
}

// alarms appends those of all sockets that came to serve.
func (p *places) alarms(list []*alarm) []*alarm {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.open {
		if a := s.ticket.alarm.Load(); a != nil {
			list = append(list, a)
		}
	}
	return list
}

// cancel asks the server to cancel the statement, bounds what is left of it, and tells
// whether the server confirmed.
//
// Postgres cancels a connection's current statement, whichever that is when the signal
// arrives. The server closes the cancel connection after it sent the signal, and a
// process sees a signal before anything that is sent to it later; so once that close is
// seen, the connection is safe to use again. One whose cancellation stays unconfirmed is
// not used again: the next statement on it would be somebody else's.
func (s *session) cancel() (confirmed bool) {
	s.alarm.bound(cancelPatience + hearing)
	ctx, cancel := context.WithTimeout(context.Background(), cancelPatience)
	defer cancel()
	// CancelRequest waits for the server's close, and does not tell whether the wait
	// ended by itself; the context does.
	err := s.conn.CancelRequest(ctx)
	return err == nil && ctx.Err() == nil
}
