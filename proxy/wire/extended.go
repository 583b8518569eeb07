package wire

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"

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
	made, err := s.prepare(name, text, typesOf(types))
	if name == "" {
		s.prepared.unnamed = nil // whatever becomes of the new one
	}
	switch {
	case err != nil:
		return err
	case name != "" && s.prepared.find(name) != nil:
		return told("42P05", fmt.Sprintf("prepared statement %q already exists", printable(name)))
	}
	if err := s.prepared.room(made.size()); name != "" && err != nil {
		return err
	}
	s.prepared.add(made)
	if made.local() {
		s.sayEmpty(frame.ParseComplete)
		return nil
	}
	s.batch.add(proxy.Step{Verb: proxy.Prepare, Prepared: made.approved}, note{made: made})
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

// bindMessage is a Bind; all is a view of the batch's memory.
type bindMessage struct {
	portal, statement string
	formats           []byte // of the arguments, two bytes each
	args              []policy.Arg
	results           []int16
}

// bind makes a portal.
func (s *session) bind(body []byte) error {
	m, err := s.readBind(s.batch.keep(body))
	if err != nil {
		return err
	}
	of := s.prepared.find(m.statement)
	if of == nil {
		return unknownStatement(m.statement)
	}
	if err := s.renew(of); err != nil {
		return err
	}
	made := portal{of: of}
	if of.local() {
		made.formats = of.formats(m.results)
	}
	if m.portal == "" {
		s.portals.remove("")
	} else if err := s.portals.room(m.portal, made.size(m.portal)); err != nil {
		return err
	}
	if err := of.fits(m); err != nil {
		return err
	}
	if of.local() {
		s.portals.add(m.portal, made)
		s.sayEmpty(frame.BindComplete)
		return nil
	}
	return s.bindRows(of, m)
}

// bindRows makes a portal of a statement that the link runs.
func (s *session) bindRows(of *statement, m bindMessage) error {
	if err := s.payOnce(); err != nil {
		return err
	}
	bound, err := s.bound(of.approved.Approved, m.args)
	if err != nil {
		return err
	}
	s.portals.add(m.portal, portal{of: of, approved: of.approved, kind: bound.Kind(), results: m.results, round: s.round})
	s.batch.add(proxy.Step{Verb: proxy.Bind, Prepared: of.approved, Bound: bound, Portal: m.portal, Formats: m.results}, note{})
	return nil
}

// fits tells whether there are as many arguments as the statement takes, and formats as it
// has columns where that is known here.
func (p *statement) fits(m bindMessage) error {
	takes := 0
	if p.approved != nil {
		takes = p.approved.Approved.NumArgs()
	}
	if isLocal(p.command().Verb) {
		takes = 0
	}
	if local, columns := p.local(), p.columns(); local && columns > 0 && len(m.results) > 1 && len(m.results) != columns {
		return told("08P01", fmt.Sprintf("bind message has %d result formats but query has %d columns", len(m.results), columns))
	}
	if len(m.args) != takes {
		return proxy.Refuse(policy.ArgumentCount, fmt.Sprintf("bind message supplies %d parameters, but prepared statement %q requires %d", len(m.args), printable(m.statement), takes))
	}
	return nil
}

// readBind reads a Bind.
func (s *session) readBind(body []byte) (m bindMessage, err error) {
	scan := frame.NewScan(body)
	m.portal, m.statement = view(scan.Text()), view(scan.Text())
	formats := scan.Int16()
	m.formats = scan.Bytes(2 * formats)
	count := scan.Int16()
	first := len(s.batch.args)
	for i := 0; i < count && !scan.Broken(); i++ {
		s.batch.args = append(s.batch.args, argOf(scan.Value(), m.binary(i)))
	}
	m.args = s.batch.args[first:len(s.batch.args):len(s.batch.args)]
	results := scan.Int16()
	firstFormat := len(s.batch.formats)
	for i := 0; i < results && !scan.Broken(); i++ {
		s.batch.formats = append(s.batch.formats, int16(scan.Int16())) //nolint:gosec // looked at below
	}
	m.results = s.batch.formats[firstFormat:len(s.batch.formats):len(s.batch.formats)]
	if !scan.Whole() {
		return m, errMessageBroken
	}
	if formats > 1 && formats != count {
		return m, told("08P01", fmt.Sprintf("bind message has %d parameter formats but %d parameters", formats, count))
	}
	return m, m.checkFormats()
}

// binary tells whether an argument is in the binary format.
func (m *bindMessage) binary(i int) bool {
	switch {
	case len(m.formats) == 2:
		i = 0
	case len(m.formats) < 2*i+2:
		return false
	}
	return m.formats[2*i+1] != 0
}

// checkFormats refuses what is neither text nor binary.
func (m *bindMessage) checkFormats() error {
	for i := 0; i+1 < len(m.formats); i += 2 {
		if code := binary.BigEndian.Uint16(m.formats[i:]); code > 1 {
			return told("22023", "unsupported format code: "+strconv.Itoa(int(code)))
		}
	}
	if i := slices.IndexFunc(m.results, func(code int16) bool { return code != 0 && code != 1 }); i >= 0 {
		return told("22023", "unsupported format code: "+strconv.Itoa(int(m.results[i])))
	}
	return nil
}

// argOf gives a value as an argument; nil is NULL.
func argOf(value []byte, isBinary bool) policy.Arg {
	switch {
	case value == nil:
		return policy.Arg{Kind: policy.Null}
	case isBinary:
		return policy.Arg{Kind: policy.Binary, Text: view(value)}
	}
	return policy.Arg{Kind: policy.String, Text: view(value)}
}

// describe tells the columns of a statement or a portal.
func (s *session) describe(body []byte) error {
	scan := frame.NewScan(body)
	kind, name := scan.Byte(), view(scan.Text())
	if !scan.Whole() {
		return errMessageBroken
	}
	switch kind {
	case frame.Statement:
		return s.describeStatement(name)
	case frame.Portal:
		return s.describePortal(name)
	}
	return told("08P01", fmt.Sprintf("invalid DESCRIBE message subtype %d", kind))
}

func (s *session) describeStatement(name string) error {
	of := s.prepared.find(name)
	if of == nil {
		return unknownStatement(name)
	}
	if err := s.renew(of); err != nil {
		return err
	}
	if !of.local() {
		if err := s.havePlace(); err != nil {
			return err
		}
		s.batch.add(proxy.Step{Verb: proxy.Describe, Prepared: of.approved}, note{})
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
	if err := s.mayRun(found.of.command().Verb); err != nil {
		return err
	}
	if !found.of.local() {
		step := proxy.Step{Verb: proxy.DescribePortal, Portal: s.kept(name), Approved: found.approved.Approved}
		if found.round == s.round { // its formats are still there
			step.Prepared, step.Formats = found.approved, found.results
		}
		s.batch.add(step, note{})
		return nil
	}
	s.say(func(w *frame.Writer) { s.describeLocal(w, found.of, found.formats) })
	return nil
}

// kept gives a name so that it is valid until the exchange was run.
func (s *session) kept(name string) string {
	if name == "" {
		return ""
	}
	return view(s.batch.keep([]byte(name)))
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
	if err := s.mayRun(found.of.command().Verb); err != nil {
		return err
	}
	switch of := found.of; {
	case of.empty():
		s.sayEmpty(frame.EmptyQueryResponse)
		return nil
	case of.answer != nil:
		s.say(func(w *frame.Writer) { of.answer.rows(w, s, found.formats) })
		return nil
	case of.local():
		return s.performAgain(of)
	case of.command().Verb == policy.Declare && !s.tx.block:
		return errCursorAlone()
	}
	s.batch.add(proxy.Step{Verb: proxy.Execute, Portal: s.kept(name), Approved: found.approved.Approved, Most: int32(max(most, 0))}, note{kind: found.kind}) //nolint:gosec // it was 32 bits
	return nil
}

// performAgain does a prepared command, which costs each time.
func (s *session) performAgain(of *statement) error {
	if !freeVerb(of.command().Verb) {
		if err := s.identify(); err != nil {
			return err
		}
		if err := s.payOnce(); err != nil {
			return err
		}
	}
	return s.perform(of.approved.Approved, of.text)
}

// close forgets a statement or a portal; one that is not there is none, as in Postgres.
func (s *session) close(body []byte) error {
	scan := frame.NewScan(body)
	kind, name := scan.Byte(), view(scan.Text())
	if !scan.Whole() {
		return errMessageBroken
	}
	switch kind {
	case frame.Statement:
		return s.closeStatement(name)
	case frame.Portal:
		return s.closePortal(name)
	}
	return told("08P01", fmt.Sprintf("invalid CLOSE message subtype %d", kind))
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

func (s *session) closePortal(name string) error {
	found, there := s.portals.find(name)
	s.portals.remove(name)
	if !there || found.of.local() || s.tx.failed {
		s.sayEmpty(frame.CloseComplete)
		return nil
	}
	s.batch.add(proxy.Step{Verb: proxy.ClosePortal, Portal: s.kept(name)}, note{})
	return nil
}

func unknownStatement(name string) error {
	if name == "" {
		return told("26000", "unnamed prepared statement does not exist")
	}
	return told("26000", fmt.Sprintf("prepared statement %q does not exist", printable(name)))
}

func unknownPortal(name string) error {
	return told("34000", fmt.Sprintf("portal %q does not exist", printable(name)))
}
