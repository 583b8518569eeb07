package wire

import (
	"strings"
	"unicode/utf8"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// maxParts bounds the statements of a Query message.
const maxParts = 1000

// parts cuts a text into statements and has each of them decided on. None runs where one is
// no SQL, as in Postgres, which reads all of a text before it runs any of it.
func (s *session) parts(text string) ([]part, error) {
	if len(text) > maxScript {
		return nil, &proxy.Error{Code: policy.QueryTooLong, Message: "the text of a query message is longer than 1 MiB", Hint: "Send fewer statements at once."}
	}
	if !utf8.ValidString(text) {
		return nil, pgError("22021", `invalid byte sequence for encoding "UTF8"`)
	}
	if p, alone := s.first(text); alone {
		return p, nil
	}
	text = strings.Clone(text) // a COPY among the statements reads further messages
	var parts []part
	chars, rest, more := 0, text, true // chars are those before the rest
	for more {
		var cut string
		cut, rest, more = policy.Cut(rest)
		p := part{text: cut, offset: chars, whole: s.msg.asWritten, answer: answered(cut)}
		chars += utf8.RuneCountInString(cut) + 1
		if isBlank(cut) {
			s.free.parts++
			continue
		}
		if s.judge(&p); refusalIn(p.refusal) == nil && p.refusal != nil || stops(p.refusal) {
			s.about.offset, s.about.text = p.offset, p.text
			return nil, p.refusal
		}
		if isEmpty(p.refusal) {
			continue
		}
		if len(parts) == maxParts {
			return nil, &proxy.Error{Code: policy.QueryTooLong, Message: "a query message holds more than " + number(maxParts) + " statements", Hint: "Send fewer statements at once."}
		}
		parts = append(parts, p)
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
	s.msg.alone[0] = part{text: text, whole: s.msg.asWritten, answer: answered(text)}
	p := &s.msg.alone[0]
	if p.answer == nil && strings.IndexByte(text, ';') >= 0 && strings.IndexByte(strings.TrimRight(text, "; \t\r\n"), ';') >= 0 {
		return nil, false
	}
	s.judge(p)
	if isEmpty(p.refusal) {
		return nil, true
	}
	return s.msg.alone[:], true
}

// isEmpty tells a text in which there is nothing to do.
func isEmpty(err error) bool {
	refusal := refusalIn(err)
	return refusal != nil && refusal.Code == policy.EmptyQuery
}

// judge has a part decided on, unless there is an answer to it.
func (s *session) judge(p *part) {
	if p.refusal = s.identify(); p.refusal != nil {
		return
	}
	if p.answer != nil {
		p.refusal = s.payForAnswer()
		return
	}
	if !p.whole { // else it was paid for without its constants
		p.refusal = s.payFor(p.text)
	}
	if p.refusal == nil && !s.parametrize(p) {
		p.approved, p.refusal = s.decide(p.text)
	}
}
