package wire

import (
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// maxScript bounds the text of a Query message, in bytes; each statement in it is bounded
// by the policy.
const maxScript = 1 << 20

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
	s.prepared.drop(s.prepared.unnamed)
	s.portals.remove("")
	s.msg = message{
		began: time.Now(), sentAtStart: s.c.out.Sent, bufferedAtStart: len(s.c.out.Buf),
		fresh: !s.tx.any() && s.set.now == s.set.base && s.tx.modes == (policy.Modes{}),
	}
	err := s.script(text)
	if err != nil {
		err = s.refuse(err) // what was collected is done as the script would have
	}
	s.tx.wrap, s.msg = false, message{}
	if err != nil {
		return err
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
	s.msg.several = len(parts) > 1
	for i := range parts {
		s.tx.wrap = s.tx.wrap || len(parts) > 1 && parts[i].wraps()
	}
	for i := range parts {
		if err := s.part(&parts[i], len(parts) > 1); err != nil {
			return err
		}
		if i == len(parts)-1 {
			break // how the last one ended is told behind the commit
		}
		if err := s.relieve(); err != nil {
			return err
		}
	}
	s.batch.x.Query = true
	err = s.exchange(true)
	if s.msg.again {
		s.msg.asWritten, s.c.out.Buf = true, s.c.out.Buf[:s.msg.bufferedAtStart]
		s.about.offset, s.about.taken = 0, nil
		defer s.leave() // where it is refused before it runs
		return s.script(text)
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
	if len(s.c.out.Buf) > maxAnswers {
		return s.c.out.Flush()
	}
	return nil
}

// maxAnswers is how many bytes of answers of a Query message come together before they are
// sent.
const maxAnswers = 64 << 10

// part runs one statement, or collects it.
func (s *session) part(p *part, several bool) error {
	if err := s.flushPending(); err != nil {
		return err
	}
	s.about.text = p.text
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
	if several && (p.answer != nil || isLocal(verb)) {
		s.free.parts++
	}
	switch {
	case p.answer != nil:
		s.say(func(w *frame.Writer) {
			p.answer.describe(w, nil)
			p.answer.rows(w, s, nil)
		})
		return nil
	case verb == policy.Show:
		if err := s.knownSetting(p.approved.Command().Name); err != nil {
			return err
		}
		s.say(func(w *frame.Writer) { s.describeShow(w, p.approved.Command().Name, nil) })
		return s.perform(p.approved, p.text)
	case isLocal(verb):
		return s.perform(p.approved, p.text)
	case verb == policy.Declare && !s.tx.block() && !several:
		return errCursorAlone()
	}
	return s.simple(p)
}

// refusedPart gives the refusal of a part whose turn has come.
func (s *session) refusedPart(p *part) error {
	if err := s.exchange(false); err != nil {
		return err
	}
	s.about.offset = p.offset
	if free(p.text) { // a ROLLBACK is not refused for the transaction's having failed
		return p.refusal
	}
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
		return s.rejected(errNoParameters())
	}
	bound, err := s.bound(p.approved, args)
	if err != nil {
		return err
	}
	s.batch.add(proxy.Step{Verb: proxy.Simple, Bound: bound}, note{kind: bound.Kind(), text: s.about.text, offset: p.offset, taken: p.taken})
	return nil
}
