package wire

import (
	"context"
	"errors"
	"strconv"
	"time"

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

	subject   proxy.Subject
	identity  proxy.Session // who the client is
	place     proxy.Place
	rechecked bool // holding was looked at, since the last exchange
	placed    bool // there is a place to give back
	repeats   uint // what was asked for once more; see payAgain

	tx            txn
	pointsCounted int // savepoints that count against the server's share
	set           settings
	prepared      prepared
	portals       portals
	batch         batch
	round         uint64 // counts the exchanges
	sent          uint64 // and those of which the link has sent something, or waited to
	free          freeMessages
	copied        *copying // the COPY FROM STDIN that goes on; nil: none does
	present       *presence
	skipToSync    bool    // an error was told: what comes up to the next Sync is left out
	msg           message // the Query message that is worked on
	about         errorContext
}

// message is what is known of the Query message that is worked on.
type message struct {
	alone           [1]part // the statement of a Query message, where there is one
	sentAtStart     int64   // bytes that the client was sent when the message came
	bufferedAtStart int     // and those that were to be
	asWritten       bool    // its statement runs once more, with the constants in its text
	fresh           bool    // no transaction was open when the message came, and nothing was set for the next one
	several         bool    // the Query message holds several statements, which are a transaction

	began time.Time // when a Query message came
	again bool      // its statement is to run once more (runsAgain)
}

// errorContext is what the next error is about.
type errorContext struct {
	offset int                  // of the text that the next error is about, in characters of the message's
	where  string               // the context of the next error; "" for none
	text   string               // of the statement that it is about, for the log; "" for none. It may be a view of the message
	taken  *policy.Parametrized // what the refusal that is told next is about; nil: the client's own text
}

func newSession(c *client) *session {
	cfg := &c.server.cfg
	return &session{
		c: c, gate: cfg.Gate, link: cfg.Open(proxy.Account{Project: c.projectID, Server: c.serverID}),
		subject: proxy.Subject{Frontend: Frontend, Dialect: policy.Postgres, Server: proxy.Server{ID: c.serverID, ProjectID: c.projectID}},
	}
}

// run serves the client until it says that it ends, and gives nil then. What is open is
// rolled back in any case.
func (s *session) run(ctx context.Context) error {
	s.base = ctx
	s.prepared.keeps = &keeping{of: s.c.server.ledger, account: s.c.account()}
	s.portals.keeps = s.prepared.keeps
	defer s.end()
	if err := s.greet(); err != nil {
		return err
	}
	for {
		if s.c.in.Unread() == 0 {
			s.rest()
		}
		kind, body, err := s.next(s.waiting())
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
		s.skipToSync = true
		return s.c.out.Flush() // the client may not have sent what it waits for an answer to
	}
	if len(s.c.out.Buf) > maxSaid {
		return s.c.out.Flush()
	}
	return nil
}

// maxSaid is how many bytes of answers come together before they are sent unasked.
const maxSaid = 16 << 10

// greet tells what the session begins with.
func (s *session) greet() error {
	s.set.longest = s.c.server.cfg.LockTimeout
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

// end gives everything back, even where the link panics: what is shared with others would be taken for ever.
func (s *session) end() {
	if s.present != nil {
		defer s.present.end(nil)
	}
	defer s.prepared.dropAll()
	defer s.portals.drop()
	defer func() { s.tx.points = nil; s.countSavepoints() }()
	defer s.place.Release()
	s.link.Rollback()
}

// ready ends a cycle: it tells what changed and the transaction's state.
func (s *session) ready() error {
	s.rechecked = false
	if !s.tx.any() {
		s.transactionEnded(true)
		s.place.Release()
		s.placed = false
	}
	w := &s.c.out
	s.set.report(w)
	s.c.openTimeout = s.set.now.idle
	at := w.Open(frame.ReadyForQuery)
	w.Byte(byte(s.tx.told()))
	w.Shut(at)
	return w.Flush()
}

// waiting is the state for the wait for the next message: whoever has a connection of the
// database's, or a place among the statements that run, is in a transaction.
func (s *session) waiting() proxy.State {
	if s.tx.implicit() || s.placed && !s.tx.block() {
		return proxy.Open
	}
	return s.tx.told()
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
