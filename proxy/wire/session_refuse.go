package wire

import (
	"errors"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// refuse tells why a message is not done, once what came before it was answered: an error of
// that takes its place. An error that is no refusal is given back, and ends the session.
func (s *session) refuse(err error) error {
	refusal := refusalIn(err)
	if refusal == nil {
		return err
	}
	if before := s.exchange(false); before != nil { // s.text is what that is about
		if refusal = refusalIn(before); refusal == nil {
			return before
		}
	}
	s.error(refusal)
	s.fail()
	return nil
}

// fail has the transaction fail. What was set since its last savepoint, or its beginning, is
// undone at once. Whom the gate does not know, or not now, holds no connection: he could not
// even roll back.
func (s *session) fail() {
	s.tx.ending = policy.NoCommand
	if !s.tx.block() {
		s.undo()
		return
	}
	s.tx.on(txBreaks)
	s.tx.unended = false
	if s.identity.Server.ID == "" { // nor can it go back to a savepoint, for that is refused too
		s.rollback()
		s.tx.on(txLoses)
	}
	s.set.now, s.set.kept = s.set.base, s.set.base
	if n := len(s.tx.points); n > 0 {
		s.set.now, s.set.kept = s.tx.points[n-1].now, s.tx.points[n-1].kept
	}
}

// error writes an ErrorResponse (PostgreSQL manual, "Error and Notice Message Fields").
func (s *session) error(e *proxy.Error) {
	e = ofText(s.about.taken, e)
	position := 0
	if e.Position > 0 {
		position = e.Position + s.about.offset
	}
	w := &s.c.out
	at := w.Open(frame.ErrorResponse)
	field(w, 'S', "ERROR")
	field(w, 'V', "ERROR")
	field(w, 'C', e.State())
	field(w, 'M', e.Message)
	field(w, 'D', string(e.Code))
	field(w, 'H', sentence(e.Hint))
	if position > 0 {
		field(w, 'P', number(position))
	}
	field(w, 'W', s.about.where)
	field(w, 't', e.Table)
	field(w, 'n', e.Constraint)
	if errors.Is(e, proxy.ErrResultChanged) {
		field(w, 'R', "RevalidateCachedQuery") // by which JDBC's driver knows that it must prepare the statement anew
	}
	w.Byte(0)
	w.Shut(at)
	s.logError(e, position)
	s.about.offset, s.about.where, s.about.taken, s.about.text = 0, "", nil, ""
}

// field writes one field of an error; an empty one is left out.
func field(w *frame.Writer, kind byte, text string) {
	if text == "" {
		return
	}
	w.Byte(kind)
	if strings.IndexByte(text, 0) >= 0 {
		text = strings.ReplaceAll(text, "\x00", " ")
	}
	w.Text(text)
}

// sentence writes a hint as Postgres does: with a capital and a full stop.
func sentence(hint string) string {
	if hint == "" {
		return ""
	}
	if strings.HasSuffix(hint, ".") {
		return strings.ToUpper(hint[:1]) + hint[1:]
	}
	return strings.ToUpper(hint[:1]) + hint[1:] + "."
}

// notice tells a warning of Postgres'.
func (s *session) notice(state, message string) {
	s.say(func(w *frame.Writer) {
		at := w.Open(frame.NoticeResponse)
		field(w, 'S', "WARNING")
		field(w, 'V', "WARNING")
		field(w, 'C', state)
		field(w, 'M', message)
		w.Byte(0)
		w.Shut(at)
	})
}

// say answers something, behind what was collected.
func (s *session) say(write func(*frame.Writer)) {
	if len(s.batch.x.Steps) == 0 {
		write(&s.c.out)
		return
	}
	var w frame.Writer
	write(&w)
	s.batch.add(proxy.Step{Verb: proxy.Say, Text: w.Buf}, note{})
}

// tag answers that a command is done.
func (s *session) tag(tag string) {
	s.say(func(w *frame.Writer) { w.Complete(tag) })
}

// pgError is an error that Postgres itself would tell, with its SQLSTATE.
func pgError(state, message string) *proxy.Error {
	return &proxy.Error{Code: policy.QueryFailed, SQLState: state, Message: message}
}

// unsupported refuses what Postgres has and tenantgate has not.
func unsupported(message, hint string) *proxy.Error {
	return &proxy.Error{Code: policy.StatementNotAllowed, SQLState: "0A000", Message: message, Hint: hint}
}

// errNoParameters is for a Query message whose statement has parameters: it brings no values.
func errNoParameters() *proxy.Error {
	e := pgError("42P02", "there is no parameter $1")
	e.Hint = "write the values in the text, or have the client send them beside it, as drivers do and psql with \\bind"
	return e
}

// errCursorAlone is for a cursor that would end as soon as it is there.
func errCursorAlone() *proxy.Error {
	return pgError("25P01", "DECLARE CURSOR can only be used in transaction blocks")
}

// errFailed is for whatever is asked for in a transaction that has failed.
func errFailed() *proxy.Error {
	return pgError("25P02", "current transaction is aborted, commands ignored until end of transaction block")
}
