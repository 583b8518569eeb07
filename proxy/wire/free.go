package wire

import (
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// mostFree is how many messages that cost nothing are served at once, and between two that cost something. A session
// whose client has always sent the next one never waits, so a few of them would have the processors' time of all
// others; and only texts are paid for. Ordinary clients send fewer.
const mostFree = 20

// reading is what it takes to read a message, beside 1 ns for each byte.
const reading = time.Microsecond

// unpaid counts a client's messages that cost nothing: the session answered them itself, or left them out. What
// has the database do something is bounded by budgets, connections and proxy.Work.
type unpaid struct {
	row   int       // how many there were, and parts of texts; less mostFree for each that cost something
	round uint64    // the exchange, and the steps of the next one, when the last message came
	steps int       //
	size  int       // of the last message
	since time.Time // when it came, less what it took to read it; zero: it is not measured
}

// next waits for the client's next message. Who has sent many that cost nothing pauses before, for what its server
// took for them; meanwhile TCP holds the client back.
func (s *session) next(state proxy.State) (kind byte, body []byte, err error) {
	u := &s.unpaid
	if s.cost() {
		u.row = max(u.row-mostFree, 0)
	} else {
		u.row += 1 + u.size>>10
	}
	if u.row > mostFree && !u.since.IsZero() {
		s.pause(s.c.server.throttle.Spend(s.c.account(), time.Since(u.since)))
	}
	kind, body, err = s.c.next(state)
	u.round, u.steps, u.size, u.since = s.round, len(s.batch.x.Steps), len(body), time.Time{}
	if u.row >= mostFree {
		u.since = time.Now().Add(-reading - time.Duration(len(body)))
	}
	return kind, body, err
}

// cost tells whether the last message had something done in the database, or collected something for it.
func (s *session) cost() bool {
	steps := s.batch.x.Steps
	return s.round != s.unpaid.round || len(steps) > s.unpaid.steps && steps[len(steps)-1].Verb != proxy.Say
}

// lookEvery is how often a client that pauses looks whether it is to end.
const lookEvery = 50 * time.Millisecond

// pause has the client wait, unless its transaction, its COPY or the service is to end.
func (s *session) pause(span time.Duration) {
	if span <= 0 {
		return
	}
	s.recorder().Short("messages", "server")
	for end := time.Now().Add(span); span > 0 && !s.c.isOver() && (s.c.stopped == nil || !s.c.stopped.Load()); span = time.Until(end) {
		select {
		case <-time.After(min(span, lookEvery)):
		case <-s.base.Done():
			return
		}
	}
}
