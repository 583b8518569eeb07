package wire

import (
	"cmp"
	"slices"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// aged is a client whose transaction has had a connection since a time, in nanoseconds since 1970.
type aged struct {
	*client
	since int64
}

// endOld ends the transactions that are older than they may be. While somebody waits for a
// connection, it ends one that is older than ContendedTimeout, too, if its account holds more
// than who waits: the oldest of the account with the largest excess, and one at a time, for what it gives back
// may be enough.
func (s *Server) endOld(now time.Time) {
	cfg, most := &s.cfg, 0
	var contended aged
	for _, c := range s.clients.openedBefore(now.Add(-min(cfg.TransactionTimeout, cfg.ContendedTimeout)).UnixNano()) {
		switch {
		case c.isOver():
			c.hasten(now)
		case now.UnixNano()-c.since >= int64(cfg.TransactionTimeout):
			if c.endOpened(c.since, now, errTooOld) {
				cfg.Recorder.TransactionEnded("timeout")
			}
		default:
			if excess := cfg.Contended(c.account()); excess > most {
				most, contended = excess, c
			}
		}
	}
	if most > 0 && contended.endOpened(contended.since, now, errContended) {
		cfg.Recorder.TransactionEnded("contended")
	}
}

// openedBefore gives the clients whose transactions took a connection before a time, the oldest
// first.
func (o *clients) openedBefore(before int64) (old []aged) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range o.open {
		if since := c.opened.Load(); since != 0 && since <= before {
			old = append(old, aged{c, since})
		}
	}
	slices.SortFunc(old, func(a, b aged) int { return cmp.Compare(a.since, b.since) })
	return old
}

func (c *client) account() proxy.Account {
	return proxy.Account{Project: c.projectID, Server: c.serverID}
}

// endOpened ends the client's transaction of since, whatever the client does, and tells false where that has ended by
// itself. The statement that it ends is never one of the next transaction: it is looked up before it
// is known that the old transaction is still there, and the next one gets another context (session.follow).
func (c *client) endOpened(since int64, now time.Time, why *fatal) bool {
	end := c.running.Load()
	c.over.Store(since)
	if c.opened.Load() != since {
		return false
	}
	c.overSince = now
	if end != nil {
		(*end)(why)
	}
	c.wake()
	return true
}

// isOver tells whether the client's transaction is one that is to end.
func (c *client) isOver() bool {
	since := c.opened.Load()
	return since != 0 && c.over.Load() == since
}

// tooOld is what a client is told whose transaction is over.
func (c *client) tooOld() *fatal {
	if time.Since(time.Unix(0, c.opened.Load())) < c.server.cfg.TransactionTimeout {
		return errContended
	}
	return errTooOld
}

// hasten cuts off the write of an answer that a client does not take, where its transaction
// should have ended a while ago.
func (c *client) hasten(now time.Time) {
	if now.Sub(c.overSince) > cancelGrace && phase(c.phase.Load()) == active {
		c.cutWrite()
	}
}
