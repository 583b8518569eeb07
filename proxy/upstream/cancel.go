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
// run learns of them where it waits, and no goroutine watches it.
type alarm struct {
	conn net.Conn

	mu      sync.Mutex
	run     uint64    // counts the runs
	settled bool      // the run is being called off: its context's end changes nothing more
	at      time.Time // the deadline; zero: none, or one that is not a run's
}

// alarmSlack is how much later than it should an alarm may go off: to set the deadline anew
// for each of the statements that a connection runs in a second would cost more than that.
const alarmSlack = time.Second

// set begins a run that is to end at a time, or with ctx, which unset lets go of.
func (a *alarm) set(ctx context.Context, end time.Time) (unset func() bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.settled = false
	if a.at.Before(end) || a.at.After(end.Add(alarmSlack)) {
		a.at = end.Add(alarmSlack)
		_ = a.conn.SetDeadline(a.at) // fails on a closed connection only, as all its like
	}
	if ctx.Done() == nil {
		return func() bool { return true }
	}
	run := a.run
	return context.AfterFunc(ctx, func() { a.ring(run) })
}

// ring wakes a run, if it is still that one.
func (a *alarm) ring(run uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.run == run && !a.settled {
		a.at = time.Time{}
		_ = a.conn.SetDeadline(time.Unix(1, 0))
	}
}

// bound gives the run a last deadline.
func (a *alarm) bound(patience time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.settled, a.at = true, time.Time{}
	_ = a.conn.SetDeadline(time.Now().Add(patience))
}

// off ends a run; whoever rings for it later rings for nobody. A deadline that nobody has
// touched stays, for the next run.
func (a *alarm) off() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.run++
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
