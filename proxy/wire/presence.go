package wire

import (
	"context"
)

// presence is a client that is there. Its context is for one exchange after the other,
// until one is ended: then the next one gets another.
type presence struct {
	ctx context.Context
	end context.CancelCauseFunc
}

// follow gives the context of an exchange: a cancel request ends it, the end of the
// service, and that the client is gone. It must be left before the exchange ends.
func (s *session) follow() *presence {
	if s.present == nil || s.present.ctx.Err() != nil {
		s.present = &presence{}
		s.present.ctx, s.present.end = context.WithCancelCause(s.base)
	}
	s.c.running.Store(&s.present.end)
	return s.present
}

// leave ends the following.
func (s *session) leave() { s.c.running.Store(nil) }
