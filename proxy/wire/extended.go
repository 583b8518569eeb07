package wire

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// parse prepares a statement.
func (s *session) parse(body []byte) error {
	scan := frame.NewScan(body)
	name, text := view(scan.Text()), view(scan.Text())
	types := scan.Bytes(4 * scan.Int16())
	if !scan.Whole() {
		return errMessageBroken
	}
	if err := nameFits(name); err != nil {
		return err
	}
	s.about.text = text
	made, err := s.prepare(name, text, typesOf(types))
	if err != nil { // it is left out where something before it fails
		if before := s.exchange(false); before != nil {
			return before
		}
	}
	was := s.prepared.unnamed
	if name == "" {
		s.prepared.drop(was) // whatever becomes of the new one
	}
	switch {
	case err != nil:
		return err
	case name != "" && s.prepared.find(name) != nil:
		return pgError("42P05", fmt.Sprintf("prepared statement %q already exists", printable(name)))
	}
	if err := s.prepared.add(made); err != nil {
		return err
	}
	if made.local() {
		s.sayEmpty(frame.ParseComplete)
	} else {
		s.batch.add(proxy.Step{Verb: proxy.Prepare, Prepared: made.approved}, note{text: made.text})
	}
	s.noteMade(made, was)
	return nil
}

// typesOf reads the types that a client gives to its parameters.
func typesOf(b []byte) []uint32 {
	var types []uint32
	for ; len(b) >= 4; b = b[4:] {
		types = append(types, binary.BigEndian.Uint32(b))
	}
	return types
}

// sayEmpty answers a message without content.
func (s *session) sayEmpty(kind byte) {
	if len(s.batch.x.Steps) == 0 {
		s.c.out.Empty(kind)
		return
	}
	s.say(func(w *frame.Writer) { w.Empty(kind) })
}

// execute runs a portal.
func (s *session) execute(body []byte) error {
	scan := frame.NewScan(body)
	name, most := view(scan.Text()), scan.Int32()
	if !scan.Whole() {
		return errMessageBroken
	}
	found, there := s.portals.find(name)
	if !there {
		return unknownPortal(name)
	}
	s.about.text = found.of.text
	if found.of.empty() {
		s.sayEmpty(frame.EmptyQueryResponse)
		return nil
	}
	if err := s.mayRun(found.of.command().Verb); err != nil {
		return err
	}
	if err := s.identify(); err != nil { // its key may be revoked since the Bind
		return err
	}
	switch of := found.of; {
	case of.local() && found.ran:
		return s.rerun(of, name)
	case of.local():
		s.portals.run(name)
		return s.runLocal(of, found.formats)
	case of.command().Verb == policy.Declare && !s.tx.block():
		return errCursorAlone()
	}
	if !found.ran {
		s.portals.run(name)
	} else if err := s.payAgain(); err != nil {
		return err
	}
	s.batch.add(proxy.Step{Verb: proxy.Execute, Portal: s.kept(name), Approved: found.approved.Approved, Most: int32(max(most, 0))}, note{kind: found.kind, text: s.about.text}) //nolint:gosec // it was 32 bits
	return nil
}

// rerun is for a portal that was run: its rows have all been had, and what has none is not done
// twice.
func (s *session) rerun(of *statement, name string) error {
	switch {
	case of.rowless():
		return pgError("55000", fmt.Sprintf("portal %q cannot be run", printable(name)))
	case of.answer != nil:
		s.tag("SELECT 0")
	default:
		s.tag("SHOW")
	}
	return nil
}

// runLocal answers what the link never hears of, or does a prepared command, which costs each
// time.
func (s *session) runLocal(of *statement, formats []int16) error {
	if !freeVerb(of.command().Verb) {
		if err := s.payOnce(of); err != nil {
			return err
		}
	}
	if of.answer != nil {
		s.say(func(w *frame.Writer) { of.answer.rows(w, s, formats) })
		return nil
	}
	return s.perform(of.approved.Approved, of.text)
}

// close forgets a statement or a portal; one that is not there is none, as in Postgres.
func (s *session) close(body []byte) error {
	return about("CLOSE", body, s.closeStatement, s.closePortal)
}

// closeStatement forgets a statement, once it is sure that nothing before it fails: it would
// stay then.
func (s *session) closeStatement(name string) error {
	if of := s.prepared.find(name); of != nil {
		if err := s.exchange(false); err != nil {
			return err
		}
		s.prepared.drop(of)
	}
	s.sayEmpty(frame.CloseComplete)
	return nil
}

// closePortal forgets a portal. One with a name counts, and so as for a statement it must be sure that nothing before it fails.
func (s *session) closePortal(name string) error {
	found, there := s.portals.find(name)
	if there && name != "" {
		name = strings.Clone(name) // what was read may be gone after the exchange
		if err := s.exchange(false); err != nil {
			return err
		}
	}
	if !there || found.of.local() || s.tx.txState == txLost {
		s.portals.remove(name)
		s.sayEmpty(frame.CloseComplete)
		return nil
	}
	s.portals.close(name)
	s.batch.add(proxy.Step{Verb: proxy.ClosePortal, Portal: s.kept(name)}, note{})
	return nil
}

func unknownStatement(name string) error {
	if name == "" {
		return pgError("26000", "unnamed prepared statement does not exist")
	}
	return pgError("26000", fmt.Sprintf("prepared statement %q does not exist", printable(name)))
}

func unknownPortal(name string) error {
	return pgError("34000", fmt.Sprintf("portal %q does not exist", printable(name)))
}
