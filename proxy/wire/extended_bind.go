package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// bindMessage is a Bind; all is a view of the batch's memory.
type bindMessage struct {
	portal, statement string
	formats           []byte // of the arguments, two bytes each
	args              []policy.Arg
	results           []int16
}

// bind makes a portal. One with a name may need the room of one whose Close stands before it, so that Close is run first; not before
// a Bind so large that no copy of it may be held.
func (s *session) bind(body []byte) error {
	if s.portals.closing > 0 && len(body) < maxMemory && len(body) > 0 && body[0] != 0 {
		body = bytes.Clone(body) // what was read may be gone after the exchange
		if err := s.exchange(false); err != nil {
			return err
		}
	}
	m, err := s.readBind(s.batch.keep(body))
	if err != nil {
		return err
	}
	of := s.prepared.find(m.statement)
	if of == nil {
		return unknownStatement(m.statement)
	}
	s.about.text = of.text
	if err := s.renew(of); err != nil {
		return err
	}
	made := portal{of: of, values: len(body) + of.planBytes(), after: len(s.batch.x.Steps)}
	if of.local() {
		made.formats = of.formats(m.results)
	}
	if m.portal == "" {
		s.portals.remove("")
	} else if err := s.portals.room(m.portal, &made); err != nil {
		return err
	}
	if err := of.fits(m); err != nil {
		return err
	}
	if of.local() {
		if err := s.portals.add(m.portal, made); err != nil {
			return err
		}
		s.sayEmpty(frame.BindComplete)
		return nil
	}
	return s.bindRows(made, m)
}

// bindRows completes a portal of a statement that the link runs.
func (s *session) bindRows(made portal, m bindMessage) error {
	prepared := made.of.approved
	if err := s.payOnce(made.of); err != nil {
		return err
	}
	bound, err := s.bound(prepared.Approved, m.args)
	if err != nil {
		return err
	}
	made.approved, made.kind, made.results = prepared, bound.Kind(), m.results
	if err := s.portals.add(m.portal, made); err != nil {
		return err
	}
	s.batch.add(proxy.Step{Verb: proxy.Bind, Prepared: prepared, Bound: bound, Portal: m.portal, Formats: m.results}, note{text: s.about.text})
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
		return pgError("08P01", fmt.Sprintf("bind message has %d result formats but query has %d columns", len(m.results), columns))
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
		value := scan.Value()
		s.batch.args = append(s.batch.args, argOf(value, value == nil, m.binary(i)))
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
		return m, pgError("08P01", fmt.Sprintf("bind message has %d parameter formats but %d parameters", formats, count))
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
			return pgError("22023", "unsupported format code: "+strconv.Itoa(int(code)))
		}
	}
	if i := slices.IndexFunc(m.results, func(code int16) bool { return code != 0 && code != 1 }); i >= 0 {
		return pgError("22023", "unsupported format code: "+strconv.Itoa(int(m.results[i])))
	}
	return nil
}

// argOf gives a value as an argument. Whether it is NULL its bytes don't tell: where there are
// none, nil is as good as any.
func argOf(value []byte, isNull, isBinary bool) policy.Arg {
	switch {
	case isNull:
		return policy.Arg{Kind: policy.Null}
	case isBinary:
		return policy.Arg{Kind: policy.Binary, Text: view(value)}
	}
	return policy.Arg{Kind: policy.String, Text: view(value)}
}
