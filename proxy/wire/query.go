package wire

import (
	"strings"
	"unicode/utf8"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// mostScript bounds the text of a Query message, in bytes; each statement in it is bounded
// by the policy.
const mostScript = 1 << 20

// mostParts bounds the statements of a Query message.
const mostParts = 1000

// part is one statement of a Query message, and what was decided on it.
type part struct {
	text     string
	offset   int // in characters of the message's text
	answer   *answer
	approved *policy.Approved // nil where refusal says why, or there is an answer
	refusal  error

	whole bool                 // its constants stay in the text
	taken *policy.Parametrized // what was decided on: the text without its constants; nil: the text
}

// wraps tells whether the implicit transaction of several statements must be begun by name:
// one becomes a block, or there is a cursor, which Postgres knows within a block alone.
func (p *part) wraps() bool {
	if p.approved == nil {
		return false
	}
	verb := p.approved.Command().Verb
	return verb == policy.Begin || verb == policy.Declare
}

// query runs the statements of a Query message as one implicit transaction, and ends the
// cycle, whatever becomes of them.
func (s *session) query(body []byte) error {
	scan := frame.NewScan(body)
	text := view(scan.Text())
	if !scan.Whole() {
		return errMessageBroken
	}
	if err := s.exchange(false); err != nil {
		return err
	}
	s.prepared.unnamed = nil
	s.portals.remove("")
	s.before = s.c.out.Sent
	err := s.script(text)
	s.tx.wrap, s.whole, s.alone[0] = false, false, part{}
	if err != nil {
		if err = s.refuse(err); err != nil {
			return err
		}
	}
	return s.ready()
}

// script runs the statements of a text.
func (s *session) script(text string) error {
	parts, err := s.parts(text)
	if err != nil {
		return err
	}
	if len(parts) == 0 {
		s.sayEmpty(frame.EmptyQueryResponse)
	}
	for i := range parts {
		s.tx.wrap = s.tx.wrap || len(parts) > 1 && parts[i].wraps()
	}
	for i := range parts {
		if err := s.part(&parts[i], len(parts) > 1); err != nil {
			return err
		}
		if err := s.relieve(); err != nil {
			return err
		}
	}
	err = s.exchange(true)
	if s.again(err, parts) {
		s.whole = true
		return s.script(parts[0].text)
	}
	return err
}

// relieve has the link do what was collected, and sends the answers, where they are many.
func (s *session) relieve() error {
	if s.batch.full() {
		if err := s.exchange(false); err != nil {
			return err
		}
	}
	if len(s.c.out.Buf) > mostAnswers {
		return s.c.out.Flush()
	}
	return nil
}

// mostAnswers is how many bytes of answers of a Query message come together before they are
// sent.
const mostAnswers = 64 << 10

// parts cuts a text into statements and has each of them decided on. None runs where one is
// no SQL, as in Postgres, which reads all of a text before it runs any of it.
func (s *session) parts(text string) ([]part, error) {
	if len(text) > mostScript {
		return nil, &proxy.Error{Code: policy.QueryTooLong, Message: "the text of a query message is longer than 1 MiB", Hint: "Send fewer statements at once."}
	}
	if !utf8.ValidString(text) {
		return nil, told("22021", `invalid byte sequence for encoding "UTF8"`)
	}
	if p, alone := s.first(text); alone {
		return p, nil
	}
	text = strings.Clone(text) // a COPY among the statements reads further messages
	var parts []part
	chars, rest, more := 0, text, true // chars are those before the rest
	for more {
		if len(parts) == mostParts {
			return nil, &proxy.Error{Code: policy.QueryTooLong, Message: "a query message holds more than " + number(mostParts) + " statements", Hint: "Send fewer statements at once."}
		}
		var cut string
		cut, rest, more = policy.Cut(rest)
		p := part{text: cut, offset: chars}
		chars += utf8.RuneCountInString(cut) + 1
		if isBlank(cut) {
			continue
		}
		if s.judge(&p); refusalIn(p.refusal) == nil && p.refusal != nil || stops(p.refusal) {
			s.offset = p.offset
			return nil, p.refusal
		}
		if !isEmpty(p.refusal) {
			parts = append(parts, p)
		}
	}
	return parts, nil
}

// isBlank tells a text without anything in it.
func isBlank(text string) bool { return strings.TrimLeft(text, " \t\r\n") == "" }

// stops tells refusals that are about the whole of a message.
func stops(err error) bool {
	refusal := refusalIn(err)
	return refusal != nil && (refusal.Code == policy.SyntaxError || refusal.SQLState == "42601" || refusal.Code == proxy.RateLimited)
}

// first decides on a text as a single statement, which it mostly is. Otherwise it has to be
// cut.
func (s *session) first(text string) (parts []part, alone bool) {
	s.alone[0] = part{text: text, whole: s.whole}
	p := &s.alone[0]
	if p.answer = answered(text); p.answer != nil {
		p.refusal = s.identify()
		return s.alone[:], true
	}
	if strings.IndexByte(text, ';') >= 0 && strings.IndexByte(strings.TrimRight(text, "; \t\r\n"), ';') >= 0 {
		return nil, false
	}
	s.judge(p)
	if isEmpty(p.refusal) {
		return nil, true
	}
	return s.alone[:], true
}

// isEmpty tells a text in which there is nothing to do.
func isEmpty(err error) bool {
	refusal := refusalIn(err)
	return refusal != nil && refusal.Code == policy.EmptyQuery
}

// judge has a part decided on.
func (s *session) judge(p *part) {
	if p.refusal = s.identify(); p.refusal != nil {
		return
	}
	if p.answer = answered(p.text); p.answer != nil {
		return
	}
	if p.refusal = s.payFor(p.text); p.refusal == nil && !s.parametrize(p) {
		p.approved, p.refusal = s.decide(p.text)
	}
}

// part runs one statement, or collects it.
func (s *session) part(p *part, several bool) error {
	if err := s.settled(); err != nil {
		return err
	}
	if p.refusal != nil {
		return s.refusedPart(p)
	}
	verb := policy.NoCommand
	if p.approved != nil {
		verb = p.approved.Command().Verb
	}
	if err := s.mayRun(verb); err != nil {
		return err
	}
	switch {
	case p.answer != nil:
		s.say(func(w *frame.Writer) {
			p.answer.describe(w, nil)
			p.answer.rows(w, s, nil)
		})
		return nil
	case verb == policy.Show:
		if err := s.shown(p.approved.Command().Name); err != nil {
			return err
		}
		s.say(func(w *frame.Writer) { s.describeShow(w, p.approved.Command().Name, nil) })
		return s.perform(p.approved, p.text)
	case isLocal(verb):
		return s.perform(p.approved, p.text)
	case verb == policy.Declare && !s.tx.block && !several:
		return errCursorAlone()
	}
	return s.simple(p)
}

// refusedPart gives the refusal of a part whose turn has come.
func (s *session) refusedPart(p *part) error {
	if err := s.exchange(false); err != nil {
		return err
	}
	s.offset = p.offset
	return s.unlessFailed(p.refusal)
}

// simple collects a statement to be run as of a Query message.
func (s *session) simple(p *part) error {
	if err := s.havePlace(); err != nil {
		return err
	}
	var args []policy.Arg
	switch {
	case p.taken != nil:
		args = p.taken.Args
	case p.approved.NumArgs() > 0:
		return s.rejected(told("42P02", "there is no parameter $1"))
	}
	bound, err := s.bound(p.approved, args)
	if err != nil {
		return err
	}
	s.batch.add(proxy.Step{Verb: proxy.Simple, Bound: bound}, note{kind: bound.Kind(), offset: p.offset, taken: p.taken})
	return nil
}
