package wire

import (
	"context"
	"errors"
	"testing"
	"time"
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
	if s.c.outlive(since, time.Now(), errTooOld) || next.ctx.Err() != nil {
		t.Error("the next one is ended:", context.Cause(next.ctx))
	}
	s.c.over.Store(s.c.opened.Load()) // whoever ends the second one has its context by now
	s.c.opened.Store(0)
	if last := s.follow(); last.ctx == next.ctx {
		t.Error("the next one has the context of one that is being ended")
	}
	if !s.c.outlive(s.c.opened.Load(), time.Now(), errTooOld) || !errors.Is(context.Cause(s.present.ctx), errTooOld) {
		t.Error("it is not ended:", context.Cause(s.present.ctx))
	}
}
