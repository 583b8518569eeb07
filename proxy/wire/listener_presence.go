package wire

import (
	"context"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// presence is a client that is there. Its context is for one exchange after the other,
// until one is ended: then the next one gets another.
type presence struct {
	ctx context.Context
	end context.CancelCauseFunc
}

// follow gives the context of an exchange: a cancel request ends it, the end of the
// service, and that the client is gone. The caller calls leave after the exchange. Where the last
// transaction was too old, its context may be ended at any time, and is not used again. A statement that
// runs once more goes on with its context, also if that has ended.
func (s *session) follow() *presence {
	begins := s.c.opened.Load() == 0
	outlived := begins && s.c.over.Swap(0) != 0
	if outlived && s.present != nil {
		s.present.end(nil)
	}
	if s.present == nil || outlived || s.present.ctx.Err() != nil && !s.msg.asWritten {
		s.present = &presence{}
		s.present.ctx, s.present.end = context.WithCancelCause(s.base)
	}
	s.c.running.Store(&s.present.end)
	if begins {
		s.c.opened.Store(time.Now().UnixNano())
	}
	return s.present
}

// leave ends the following.
func (s *session) leave() { s.c.running.Store(nil) }

// runOn has the link do an exchange. The caller calls leave after it, unless the statement runs once more.
func (s *session) runOn(x *proxy.Exchange) (proxy.State, error) {
	s.c.patience.Store(int64(timeOf(x) + s.c.server.cfg.UnreadGrace))
	present := s.follow()
	start := time.Now()
	state, err := s.link.Run(present.ctx, x, &s.c.out)
	if !x.Unsent {
		s.sent++
		s.apart(start)
	}
	if state == proxy.Idle {
		s.c.opened.Store(0)
	}
	return state, err //nolint:wrapcheck // it is the link's
}

// rollback has the link end what is open.
func (s *session) rollback() {
	s.link.Rollback()
	s.c.opened.Store(0)
}
