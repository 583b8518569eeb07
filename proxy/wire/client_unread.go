package wire

import (
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// While a client takes nothing of a result, its backend waits with all the memory that the statement took: Postgres'
// own time limits do not end that wait, and the link does not look at its alarm while it writes. So it may last as
// long as the statement itself. It is about what arrives at the client, not about writes that return: a write
// sleeps until a good part of the socket's buffer is free, which on a slow line takes long though bytes arrive.

// statementTime is for an exchange whose statements say nothing: as for the link.
const statementTime = 5 * time.Second

// stall is what the watch knows of a client that is being written to.
type stall struct {
	acked uint64    // bytes that had arrived
	since time.Time // when that was seen first; zero: nothing waits
}

// endUnread cuts off the clients that have taken nothing of a running statement's answer for longer than they may.
func (s *Server) endUnread(now time.Time) {
	for _, c := range s.clients.writtenTo() {
		if c.hasStalled(now) {
			s.cfg.Recorder.TransactionEnded("unread") // first, for who waits for the cut may look
			c.cutWrite()
			c.stall.since = now // once for each
		}
	}
}

// writtenTo gives the clients whose statements wait for them to read.
func (o *clients) writtenTo() (all []*client) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range o.open {
		if c.sending.Load() && c.running.Load() != nil {
			all = append(all, c)
		} else {
			c.stall = stall{}
		}
	}
	return all
}

// hasStalled tells whether the client has taken nothing for as long as it may. It belongs to the watch.
func (c *client) hasStalled(now time.Time) bool {
	acked, known := c.arrived()
	if !known {
		return false
	}
	if c.stall.since.IsZero() || acked != c.stall.acked {
		c.stall = stall{acked: acked, since: now}
	}
	return now.Sub(c.stall.since) > time.Duration(c.patience.Load())
}

// timeOf is how long the statements of an exchange may run: the longest limit that is set, whatever the client has
// set for itself, which is about the statement and not about its reading.
func timeOf(x *proxy.Exchange) (limit time.Duration) {
	for i := range x.Steps {
		if a := approvedIn(&x.Steps[i]); a != nil {
			limit = max(limit, a.Limits().StatementTimeout)
		}
	}
	if limit == 0 {
		return statementTime
	}
	return limit
}

func approvedIn(step *proxy.Step) *policy.Approved {
	switch {
	case step.Bound.Valid():
		return step.Bound.Approved()
	case step.Approved != nil:
		return step.Approved
	case step.Prepared != nil:
		return step.Prepared.Approved
	}
	return nil
}
