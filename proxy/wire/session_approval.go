package wire

import (
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// identify asks the gate who the client is now, once for each exchange, unless what it said
// last stands.
func (s *session) identify() error {
	if s.rechecked {
		return nil
	}
	if s.rechecked = s.identity.Valid(); s.rechecked {
		return nil
	}
	s.identity = proxy.Session{}
	start := time.Now()
	holding, err := s.gate.Recheck(s.base, s.c.serverID, s.c.key)
	s.apart(start)
	if err != nil {
		refusal := proxy.AsError(err)
		if refusal.Code == proxy.Unauthorized {
			return fatalOf(refusal)
		}
		return s.rejected(refusal)
	}
	if !holding.Server.Active {
		return s.rejected(proxy.Deactivated())
	}
	s.identity, s.subject.Server, s.rechecked = holding, holding.Server, true
	return nil
}

// pay takes one statement off the server's budget, and a place among its running ones
// where the client has none.
func (s *session) pay() (err error) {
	start := time.Now()
	if s.placed {
		err = s.gate.Pace(s.subject)
	} else if s.place, err = s.gate.Admit(s.base, s.subject); err == nil {
		s.placed = true
	}
	s.apart(start)
	if err != nil {
		return s.rejected(err)
	}
	return nil
}

// payOnce pays for one run of a prepared statement: its Parse has paid for the first, as long as the place lasts that a
// statement needs which is not answered here.
func (s *session) payOnce(of *statement) error {
	paid := of.paid && (s.placed || of.answer != nil)
	switch of.paid = false; {
	case paid:
		return nil
	case of.answer != nil:
		return s.payForAnswer()
	}
	return s.pay()
}

// payForAnswer pays for what is answered here: it takes of the budget, and no place among the statements that run.
func (s *session) payForAnswer() error {
	if err := s.gate.Pace(s.subject); err != nil {
		return s.rejected(err)
	}
	return nil
}

// payAgain is for what a client has Postgres do once more about a portal or a statement: nothing was paid for that. Clients
// that read long results in portions ask for it often, and it is less than a statement: each of mostFree is paid like one.
func (s *session) payAgain() (err error) {
	if s.repeats++; s.repeats%maxFree == 0 {
		err = s.pay()
	}
	return err
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
	err := s.pay()
	if err != nil && s.tx.failed() { // to wait would help nothing
		return errFailed()
	}
	return err
}

// decide has the gate decide on a text, with the types that the client gives its parameters.
func (s *session) decide(text string, types ...uint32) (*policy.Approved, error) {
	if err := s.identify(); err != nil {
		return nil, err
	}
	approved, err := s.ask(text, types)
	if err != nil {
		return nil, s.rejected(err)
	}
	return approved, nil
}

// ask is decide for a client that is known, and counts no refusal.
func (s *session) ask(text string, types []uint32) (*policy.Approved, error) {
	s.subject.Types, s.subject.InTransaction = types, s.tx.linked()
	defer func() { s.subject.Types = nil }()
	return s.gate.Check(s.base, s.subject, text) //nolint:wrapcheck // it is the gate's own
}

// bound binds a statement for the client's server.
func (s *session) bound(approved *policy.Approved, args []policy.Arg) (policy.Bound, error) {
	bound, reason := approved.Bind(s.subject.Server.ID, args)
	if reason != nil {
		return policy.Bound{}, s.rejected(proxy.FromRefusal(*reason))
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
