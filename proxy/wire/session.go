package wire

import (
	"context"
	"errors"
	"strconv"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// session serves one client that has authenticated. It belongs to the client's goroutine.
type session struct {
	c    *client
	gate Gate
	link Link
	base context.Context // ends with the service

	subject proxy.Subject
	asked   bool // the gate was asked who the subject is, since the last exchange
	place   proxy.Place
	placed  bool // there is a place to give back
	paid    bool // the next statement was taken off the budget already

	tx       txn
	set      settings
	prepared prepared
	portals  portals
	batch    batch
	round    uint64   // counts the exchanges
	skipping bool     // an error was told: what comes up to the next Sync is left out
	offset   int      // of the text that the next error is about, in characters of the message's
	copied   *copying // the COPY FROM STDIN that goes on; nil: none does
	where    string   // the context of the next error; "" for none
	present  *presence
	alone    [1]part              // the statement of a Query message, where there is one
	taken    *policy.Parametrized // what the refusal that is told next is about; nil: the client's own text
	whole    bool                 // whose constants stay in the text
	before   int64                // bytes that the client was sent when the message came
}

func newSession(c *client) *session {
	cfg := &c.server.cfg
	return &session{
		c: c, gate: cfg.Gate, link: cfg.Open(c.serverID),
		subject: proxy.Subject{Frontend: Frontend, Dialect: policy.Postgres, Server: proxy.Server{ID: c.serverID}},
	}
}

// run serves the client until it says that it ends, and gives nil then. What is open is
// rolled back in any case.
func (s *session) run(ctx context.Context) error {
	s.base = ctx
	defer s.end()
	if err := s.greet(); err != nil {
		return err
	}
	for {
		if s.c.in.Unread() == 0 {
			s.rest()
		}
		kind, body, err := s.c.next(s.waiting())
		switch {
		case err != nil:
			return err
		case kind == frame.Terminate:
			return nil
		}
		if err := s.answer(kind, body); err != nil {
			return err
		}
	}
}

// rest lets go of what a client need not have while it is waited for.
func (s *session) rest() {
	if len(s.batch.x.Steps) == 0 {
		s.batch.rest()
	}
}

// answer does what one message asks for. A refusal is told, and is no error.
func (s *session) answer(kind byte, body []byte) error {
	err := s.relay(kind, body)
	if err == nil && s.batch.full() {
		err = s.exchange(false)
	}
	if err != nil {
		if err = s.refuse(err); err != nil {
			return err
		}
		s.skipping = true
		return s.c.out.Flush() // the client may not have sent what it waits for an answer to
	}
	if len(s.c.out.Buf) > mostSaid {
		return s.c.out.Flush()
	}
	return nil
}

// mostSaid is how many bytes of answers come together before they are sent unasked.
const mostSaid = 16 << 10

// greet tells what the session begins with.
func (s *session) greet() error {
	fault := s.set.start(s.c.serverID, s.c.server.version(), s.c.asked)
	s.c.asked = nil
	if fault != nil {
		return fault
	}
	w := &s.c.out
	s.set.greet(w)
	at := w.Open(frame.BackendKeyData)
	w.Int32(int(s.c.process))
	w.Int32(int(s.c.secret))
	w.Shut(at)
	return s.ready()
}

// end gives everything back.
func (s *session) end() {
	s.link.Rollback()
	s.place.Release()
}

// ready ends a cycle: it tells what changed and the transaction's state.
func (s *session) ready() error {
	s.paid, s.asked = false, false
	if !s.tx.open() {
		s.settle(true)
		s.place.Release()
		s.placed = false
	}
	w := &s.c.out
	s.set.tell(w)
	s.c.openTimeout = s.set.now.idle
	at := w.Open(frame.ReadyForQuery)
	w.Byte(byte(s.tx.state()))
	w.Shut(at)
	return w.Flush()
}

// waiting is the state for the wait for the next message: whoever has a connection of the
// database's is in a transaction.
func (s *session) waiting() proxy.State {
	if s.tx.implicit {
		return proxy.Open
	}
	return s.tx.state()
}

// identify asks the gate who the client is now, once for each exchange.
func (s *session) identify() error {
	if s.asked {
		return nil
	}
	server, err := s.gate.Holder(s.base, s.c.serverID, s.c.key)
	if err != nil {
		refusal := proxy.AsError(err)
		if refusal.Code == proxy.Unauthorized {
			return fatalOf(refusal)
		}
		return s.rejected(refusal)
	}
	if !server.Active {
		return s.rejected(proxy.Refuse(proxy.ServerInactive, "this server is not active"))
	}
	s.subject.Server, s.asked = server, true
	return nil
}

// pay takes one statement off the server's budget, and a place among its running ones
// where the client has none.
func (s *session) pay() (err error) {
	if s.placed {
		err = s.gate.Pace(s.subject)
	} else if s.place, err = s.gate.Admit(s.base, s.subject); err == nil {
		s.placed = true
	}
	if err != nil {
		return s.rejected(err)
	}
	s.paid = true
	return nil
}

// payOnce pays for what is run, if its Parse has not done so just before.
func (s *session) payOnce() error {
	if !s.paid {
		if err := s.pay(); err != nil {
			return err
		}
	}
	s.paid = false
	return nil
}

// check has the gate decide on a text, for one statement of the budget; texts that only
// begin and end transactions are free.
func (s *session) check(text string, types ...uint32) (*policy.Approved, error) {
	if err := s.payFor(text); err != nil {
		return nil, err
	}
	return s.decide(text, types...)
}

// payFor pays for a text, if it is not free.
func (s *session) payFor(text string) error {
	if err := s.identify(); err != nil || free(text) {
		return err
	}
	return s.pay()
}

// decide has the gate decide on a text, with the types that the client gives its parameters.
func (s *session) decide(text string, types ...uint32) (*policy.Approved, error) {
	if err := s.identify(); err != nil {
		return nil, err
	}
	s.subject.Types = types
	approved, err := s.gate.Check(s.base, s.subject, text)
	s.subject.Types = nil
	if err != nil {
		return nil, s.rejected(err)
	}
	return approved, nil
}

// bound binds a statement for the client's server.
func (s *session) bound(approved *policy.Approved, args []policy.Arg) (policy.Bound, error) {
	bound, reason := approved.Bind(s.subject.Server.ID, args)
	if reason != nil {
		return policy.Bound{}, s.rejected(proxy.FromReason(*reason))
	}
	if n := bound.Overridden(); n > 0 {
		s.recorder().Overridden(n)
	}
	return bound, nil
}

func (s *session) recorder() Recorder { return s.c.server.cfg.Recorder }

// rejected counts a statement that does not run. An empty one is no refusal to a client of
// Postgres.
func (s *session) rejected(err error) error {
	refusal := proxy.AsError(err)
	if refusal.Code == policy.EmptyQuery {
		return refusal
	}
	s.recorder().Rejected(string(refusal.Code), Frontend)
	if refusal.Code == policy.ForeignServerID {
		s.recorder().Overridden(1) // refused, not replaced
	}
	return refusal
}

// refusalIn gives the refusal that err is, if it is one: anything else ends the session.
func refusalIn(err error) *proxy.Error {
	if err == nil {
		return nil
	}
	var ends *fatal
	var refusal *proxy.Error
	if errors.As(err, &ends) || !errors.As(err, &refusal) {
		return nil
	}
	return refusal
}

// number writes a count into a message for the client.
func number(n int) string { return strconv.Itoa(n) }

// version is what clients are told that the database's is; "" where it is not known.
func (s *Server) version() string {
	if s.cfg.ServerVersion == nil {
		return ""
	}
	return s.cfg.ServerVersion()
}
