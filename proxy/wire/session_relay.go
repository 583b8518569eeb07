package wire

import (
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// relay names every message that a client may send in a session; whatever it does not name
// ends the session.
func (s *session) relay(kind byte, body []byte) error {
	s.about.text = "" // a view of the message before is not to be read any more
	switch kind {
	case frame.Sync:
		return s.sync(body)
	case frame.CopyData, frame.CopyDone, frame.CopyFail:
		return nil // left over from a COPY that has failed
	case frame.Flush:
		return s.flush(body)
	case frame.Parse, frame.Bind, frame.Describe, frame.Execute, frame.Close, frame.Query, frame.FunctionCall:
		if s.skipToSync {
			return nil
		}
	default:
		return errUnknownMessage
	}
	if err := s.flushPending(); err != nil {
		return err
	}
	switch kind {
	case frame.Parse:
		return s.parse(body)
	case frame.Bind:
		return s.bind(body)
	case frame.Describe:
		return s.describe(body)
	case frame.Execute:
		return s.execute(body)
	case frame.Close:
		return s.close(body)
	case frame.Query:
		return s.query(body)
	}
	return s.functionCall()
}

var errUnknownMessage = &fatal{state: "08P01", message: "invalid frontend message type"}

// sync ends a cycle: what was not begun is committed, and errors are over.
func (s *session) sync(body []byte) error {
	if len(body) != 0 {
		return errMessageBroken
	}
	if s.skipToSync {
		s.skipToSync = false
		return s.ready()
	}
	if err := s.exchange(true); err != nil {
		if err = s.refuse(err); err != nil {
			return err
		}
	}
	return s.ready()
}

// flush has everything answered that came so far.
func (s *session) flush(body []byte) error {
	if len(body) != 0 {
		return errMessageBroken
	}
	if !s.skipToSync {
		if err := s.exchange(false); err != nil {
			if err = s.refuse(err); err != nil {
				return err
			}
			s.skipToSync = true
		}
	}
	return s.c.out.Flush()
}

// functionCall refuses what no driver has used in twenty years. As in Postgres it is a
// cycle of its own.
func (s *session) functionCall() error {
	if err := s.exchange(false); err != nil {
		return err
	}
	if err := s.refuse(unsupported("function calls by protocol message are not supported", "Use SELECT.")); err != nil {
		return err
	}
	return s.ready()
}
