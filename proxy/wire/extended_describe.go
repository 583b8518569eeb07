package wire

import (
	"fmt"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// describe tells the columns of a statement or a portal.
func (s *session) describe(body []byte) error {
	return about("DESCRIBE", body, s.describeStatement, s.describePortal)
}

// about reads a message about a statement or a portal, and has it done.
func about(message string, body []byte, statement, portal func(name string) error) error {
	scan := frame.NewScan(body)
	kind, name := scan.Byte(), view(scan.Text())
	if !scan.Whole() {
		return errMessageBroken
	}
	switch kind {
	case frame.Statement:
		return statement(name)
	case frame.Portal:
		return portal(name)
	}
	return pgError("08P01", fmt.Sprintf("invalid %s message subtype %d", message, kind))
}

func (s *session) describeStatement(name string) error {
	of := s.prepared.find(name)
	if of == nil {
		return unknownStatement(name)
	}
	s.about.text = of.text
	if !s.tx.failed() || !of.rowless() {
		if err := s.renew(of); err != nil {
			return err
		}
	}
	if !of.local() {
		if !s.placed {
			if err := s.pay(); err != nil {
				return err
			}
			of.paid = true
		}
		if of.command().Verb == policy.Fetch { // Postgres is asked each time
			if err := s.payAgain(); err != nil {
				return err
			}
		}
		s.batch.add(proxy.Step{Verb: proxy.Describe, Prepared: of.approved}, note{text: s.about.text})
		return nil
	}
	s.say(func(w *frame.Writer) {
		at := w.Open(frame.ParameterDescription)
		w.Int16(0)
		w.Shut(at)
		s.describeLocal(w, of, nil)
	})
	return nil
}

// havePlace makes sure that a statement which was paid for before can be described.
func (s *session) havePlace() error {
	if s.placed {
		return nil
	}
	return s.pay()
}

func (s *session) describePortal(name string) error {
	found, there := s.portals.find(name)
	if !there {
		return unknownPortal(name)
	}
	s.about.text = found.of.text
	if err := s.mayRun(found.of.command().Verb); err != nil && !found.of.rowless() {
		return err
	}
	if !found.of.local() {
		return s.describeBound(found, name)
	}
	s.say(func(w *frame.Writer) { s.describeLocal(w, found.of, found.formats) })
	return nil
}

// describeBound has the link tell the columns of a portal.
func (s *session) describeBound(found portal, name string) error {
	step := proxy.Step{Verb: proxy.DescribePortal, Portal: s.kept(name), Approved: found.approved.Approved}
	if found.made >= s.portals.before { // its formats are still there
		step.Prepared, step.Formats = found.approved, found.results
	} else if err := s.payAgain(); err != nil { // Postgres is asked
		return err
	}
	s.batch.add(step, note{text: s.about.text})
	return nil
}

// kept gives a name so that it is valid until the exchange was run.
func (s *session) kept(name string) string {
	if name == "" {
		return ""
	}
	return view(s.batch.keep([]byte(name)))
}
