package wire

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure the end of a transaction that is too old does not end the next one's statement: neither where the next one
// has begun before, nor where it begins while the old one is being ended.
func TestOldTransactionsEndAlone(t *testing.T) {
	w := greeted(t)
	s := newSession(w.client)
	s.base = t.Context()
	s.follow()
	since := s.c.opened.Load()
	s.c.opened.Store(0) // it has ended
	time.Sleep(time.Millisecond)
	next := s.follow()
	if s.c.endOpened(since, time.Now(), errTooOld) || next.ctx.Err() != nil {
		t.Error("the next one is ended:", context.Cause(next.ctx))
	}
	s.c.over.Store(s.c.opened.Load()) // whoever ends the second one has its context by now
	s.c.opened.Store(0)
	if last := s.follow(); last.ctx == next.ctx {
		t.Error("the next one has the context of one that is being ended")
	}
	if !s.c.endOpened(s.c.opened.Load(), time.Now(), errTooOld) || !errors.Is(context.Cause(s.present.ctx), errTooOld) {
		t.Error("it is not ended:", context.Cause(s.present.ctx))
	}
}

// Ensure the transaction that is ended for who waits is the oldest of those that hold most, not of all.
func TestContendedTransactionsEndWhereMostAre(t *testing.T) {
	w := greeted(t)
	server := w.client.server
	excess := map[string]int{"one": 1, "many": 5}
	server.cfg.Contended = func(a proxy.Account) int { return excess[a.Server] }
	now := time.Now()
	add := func(process int32, of string, age time.Duration) *client {
		here, there := net.Pipe()
		t.Cleanup(func() { _, _ = here.Close(), there.Close() })
		c := server.newClient(here)
		c.serverID = of
		c.opened.Store(now.Add(-age).UnixNano())
		server.clients.open[process] = c
		return c
	}
	one, old, young := add(1, "one", time.Minute), add(2, "many", 30*time.Second), add(3, "many", 20*time.Second)
	fresh := add(4, "many", time.Second)
	for _, c := range []*client{old, young, one} {
		server.endOld(now)
		if !c.isOver() {
			t.Errorf("the transaction of %s of %v was not ended in its turn", c.serverID, now.UnixNano()-c.opened.Load())
		}
		c.opened.Store(0)
	}
	server.endOld(now)
	if fresh.isOver() || w.tally.of("transaction ended: contended") != 3 {
		t.Error("ended:", w.tally.of("transaction ended: contended"))
	}
}
