package wire

import (
	"time"

	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// maxFree is how many messages that cost nothing are served at once, and between two that cost something. A session
// whose client has always sent the next one never waits, so a few of them would have the processors' time of all
// others; and only texts are paid for. Ordinary clients send fewer.
const maxFree = 20

// reading is what it takes to read a message, beside 1 ns for each byte.
const reading = time.Microsecond

// A row of a COPY may come in pieces: those that are as long cost nothing by themselves, up to so many bytes of the row.
// Beyond they are free messages, as there may never be a row.
const (
	leastPiece = 1 << 10
	maxPending = maxScript
)

// freeMessages counts a client's messages that cost nothing: the session answered them itself, or left them out. What
// has the database do something is bounded by budgets, connections and proxy.Work.
type freeMessages struct {
	run    int           // how many there were, less mostFree for each that cost something; 2*mostFree at most
	parts  int           // of the last message's text that cost nothing
	sent   uint64        // how many exchanges were sent, and the steps of the next one, when the last message came
	steps  int           //
	kind   byte          // of the last message
	size   int           //
	data   int           // of a COPY, that were not taken yet then
	pieces time.Duration // what the pieces took of the row that is not all there
	since  time.Time     // when the last message came, less what it took to read it; zero: it is not measured
	waited time.Duration // for the database and the gate, since then
}

// next waits for the client's next message. Who has sent many that cost nothing pauses before, for what its server
// took for them; meanwhile TCP holds the client back.
func (s *session) next(state proxy.State) (kind byte, body []byte, err error) {
	if took := s.debt(); took > 0 {
		if err := s.pause(s.c.server.throttle.Spend(s.c.account(), took), state); err != nil {
			return 0, nil, err
		}
	}
	kind, body, err = s.c.next(state)
	u := &s.free
	u.sent, u.steps, u.kind, u.size, u.data = s.sent, len(s.batch.x.Steps), kind, len(body), s.pending()
	u.parts, u.since, u.waited = 0, time.Time{}, 0
	if u.run >= maxFree || s.copied != nil {
		u.since = time.Now().Add(-reading - time.Duration(len(body)))
	}
	return kind, body, err
}

// debt counts the last message, and tells how much time its client has to answer for. Of a message that costs
// something that is none, unless there are many parts in its text that do not.
func (s *session) debt() (took time.Duration) {
	u := &s.free
	if !u.since.IsZero() {
		took = time.Since(u.since) - u.waited
	}
	switch {
	case s.cost():
		u.run, u.pieces = max(min(u.run+u.parts, 2*maxFree)-maxFree, 0), 0
		if u.parts > maxFree {
			return took
		}
		return 0
	case s.isPiece():
		u.pieces += took
		return 0
	}
	u.run = min(u.run+u.parts+1+u.size>>10, 2*maxFree) // the others were answered for
	if u.run <= maxFree {
		took = 0
	}
	took, u.pieces = took+u.pieces, 0
	return took
}

// cost tells whether the last message had something done in the database, or collected something for it.
func (s *session) cost() bool {
	steps := s.batch.x.Steps
	return s.sent != s.free.sent || len(steps) > s.free.steps && costs(steps[len(steps)-1].Verb)
}

// costs tells whether a step counts for itself. A description mostly is known; where Postgres is asked for it, the exchange
// tells so.
func costs(verb proxy.StepVerb) bool {
	return verb != proxy.Say && verb != proxy.Copied && verb != proxy.Describe && verb != proxy.DescribePortal
}

// isPiece tells whether the last message was data of a COPY for a row that is not all there.
func (s *session) isPiece() bool {
	u, now := &s.free, s.pending()
	return u.kind == frame.CopyData && u.size >= leastPiece && now == u.data+u.size && now <= maxPending
}

// pending is how many bytes there are of a row of a COPY that is not all there.
func (s *session) pending() int {
	if s.copied == nil {
		return 0
	}
	return len(s.copied.data)
}

// apart leaves what began at start out of what the message took: meanwhile it was waited for.
func (s *session) apart(start time.Time) {
	if !s.free.since.IsZero() {
		s.free.waited += time.Since(start)
	}
}

// lookEvery is how often a client that pauses looks whether it is to end.
const lookEvery = 50 * time.Millisecond

// pause has the client wait, unless its transaction, its COPY or the service is to end. The service ends for it as for
// who is waited for in that state: at once, since a client that always has sent its next message is never waited for.
func (s *session) pause(span time.Duration, state proxy.State) error {
	if span <= 0 {
		return nil
	}
	s.recorder().Short("messages", "server")
	for end := time.Now().Add(span); span > 0 && !s.mustGoOn(state); span = time.Until(end) {
		select {
		case <-time.After(min(span, lookEvery)):
		case <-s.base.Done():
			return errShutdown
		}
	}
	if s.c.server.ends(waitingIn(state)) {
		return errShutdown
	}
	return nil
}

// mustGoOn tells whether a client that pauses is to be ended, or its transaction or COPY.
func (s *session) mustGoOn(state proxy.State) bool {
	c := s.c
	return c.isOver() || c.stopped != nil && c.stopped.Load() || c.server.ends(waitingIn(state))
}
