package upstream

import (
	"fmt"
	"strconv"

	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// reach is how far an exchange certainly came, by what the server answered.
type reach uint8

const (
	unbegun   reach = iota // nothing was answered
	begun                  // the prelude ran: the statement may have begun
	completed              // a statement ran to its end; it is committed by the Sync
)

// phase is what an answer is about. The zero value is the one that tells a caller least.
type phase uint8

const (
	running   phase = iota // binding, planning and executing: rows may have been read
	analysing              // Postgres reads the text and the catalog, and no row
	checking               // the shapes of the tables
	settling               // the client's settings
)

// answerKind is what is to come for something that was written, or to be said without.
type answerKind uint8

const (
	sendText           answerKind = iota // nothing comes: a text of the front end's
	sendCopied                           // nothing comes: how many rows a COPY inserted
	sendParseComplete                    // nothing comes: ParseComplete
	sendStatementTypes                   // nothing comes: the types of a statement's parameters and columns
	sendNoTypes                          // nothing comes: no parameters and no columns
	sendPortalColumns                    // nothing comes: a portal's columns
	sendColumns                          // nothing comes: the columns of a Query's result
	sendCloseComplete                    // nothing comes: CloseComplete
	skipRun                              // BindComplete to CommandComplete of what the client knows nothing of
	skipParseComplete                    // ParseComplete, likewise
	skipBindComplete                     // BindComplete, likewise
	skipCloseComplete                    // CloseComplete, likewise
	readTypes                            // rows of values.RowsSQL
	readDescription                      // ParseComplete and what Postgres says of the statement
	passFetchTypes                       // ParseComplete and what it says of a FETCH, for the client
	passBindComplete                     // BindComplete
	passPortalColumns                    // RowDescription or NoData
	passCloseComplete                    // CloseComplete
	passRows                             // rows to CommandComplete or PortalSuspended
	skipRows                             // rows to CommandComplete of what the client knows nothing of
	encodeRows                           // rows to CommandComplete, as JSON
	readReady                            // ReadyForQuery
)

// executing tells whether the statement has its values when the answer comes: an error may then be one of its run.
func (k answerKind) executing() bool {
	switch k {
	case passRows, skipRows, encodeRows, readReady:
		return true
	}
	return false
}

// answer is what is to come for something that was written.
type answer struct {
	kind   answerKind
	at     phase
	step   *proxy.Step // nil: it belongs to no step
	wanted *wanted
	plan   *plan
	epoch  uint64
}

// answer reads what comes, and gives the client what is its.
func (e *exchange) answer(a *answer) error {
	e.at = a.at
	switch a.kind {
	case sendText:
		e.markEnd()
		return e.pass(a.step.Text)
	case sendCopied:
		e.markEnd()
		e.out.Complete("COPY " + strconv.FormatInt(a.step.Before+e.request.Inserted, 10))
		return nil
	case sendParseComplete, sendStatementTypes, sendNoTypes, sendPortalColumns, sendColumns, sendCloseComplete:
		return e.report(a)
	case skipRun:
		return e.skipRun()
	case skipParseComplete:
		e.at = analysing
		return e.only(frame.ParseComplete)
	case skipBindComplete:
		e.link.portions.forget("")
		return e.only(frame.BindComplete)
	case skipCloseComplete:
		return e.only(frame.CloseComplete)
	case readTypes:
		return e.readTypes()
	case readDescription:
		return e.readDescription(a)
	case passFetchTypes:
		return e.passFetchTypes()
	case passBindComplete:
		e.link.portions.forget(a.step.Portal)
		return e.passOne(frame.BindComplete)
	case passCloseComplete:
		e.link.portions.forget(a.step.Portal)
		return e.passOne(frame.CloseComplete)
	case passPortalColumns:
		return e.passPortalColumns()
	case passRows, skipRows:
		return e.passResult(a)
	case encodeRows:
		return e.encodeRows()
	}
	return e.readReady()
}

// report says what is known without asking. It can be much longer than what was asked, so what
// was said before is sent where it is long.
func (e *exchange) report(a *answer) error {
	if err := e.pass(nil); err != nil {
		return err
	}
	out := e.out
	switch a.kind {
	case sendParseComplete:
		if a.wanted != nil { // the values that the client sends from now on are of the types that it has now
			d, known := e.known(a.wanted)
			if !known {
				return defect("a statement's types are not known")
			}
			a.wanted.prepared.Told.Said = &d.Description
		}
		out.Empty(frame.ParseComplete)
	case sendCloseComplete:
		out.Empty(frame.CloseComplete)
	case sendNoTypes:
		writeParameterDescription(out, a.step.Prepared.Approved, &frame.Description{})
		out.Empty(frame.NoData)
	case sendStatementTypes:
		told := a.step.Prepared.Told.Said // also where the connection knows others by now: values that are on their way are of these
		if told == nil {
			return defect("a statement's types are not known")
		}
		writeParameterDescription(out, a.step.Prepared.Approved, told)
		return writeRowDescription(out, told, nil)
	case sendPortalColumns:
		return e.sendRowDescription(a, a.step.Formats)
	default:
		return e.sendRowDescription(a, nil)
	}
	return nil
}

// sendRowDescription tells the columns of a statement that is bound.
func (e *exchange) sendRowDescription(a *answer, formats []int16) error {
	d, known := e.known(a.wanted)
	if !known {
		return defect("a result's columns are not known")
	}
	return writeRowDescription(e.out, &d.Description, formats)
}

// known gives what Postgres says of a statement: what the connection was told comes first.
func (e *exchange) known(w *wanted) (described, bool) {
	if p := e.planOf(w); p != nil {
		return p.description, true
	}
	if e.unnamed != nil && e.unnamed.sql == e.planKey(w) {
		return e.unnamed.description, true
	}
	if told := w.expected(); told != nil {
		return described{Description: *told}, true
	}
	return e.link.pool.descriptions.get(w.key())
}

// skipRun reads what the client knows nothing of.
func (e *exchange) skipRun() error {
	if err := e.skip(frame.CommandComplete); err != nil {
		return err
	}
	if e.reached == unbegun {
		e.reached = begun
	}
	return nil
}

// only reads a message of one type, and drops it.
func (e *exchange) only(want byte) error {
	kind, _, err := e.next()
	if err == nil && kind != want {
		return e.unexpected(kind)
	}
	return err
}

func (e *exchange) unexpected(kind byte) error {
	e.broken = true
	return fmt.Errorf("a message of type %q came: %w", kind, frame.ErrMalformed)
}

// passOne passes a message without content on.
func (e *exchange) passOne(want byte) error {
	if err := e.only(want); err != nil {
		return err
	}
	e.out.Empty(want)
	return nil
}

// pass gives the client bytes.
func (e *exchange) pass(b []byte) error {
	err := e.out.Pass(b)
	if err == nil {
		return nil
	}
	e.clientErr = fmt.Errorf("writing to the client: %w", err)
	if e.s != nil {
		e.stop()
	}
	return e.clientErr
}

// readReady reads the end of the exchange and what became of the transaction.
func (e *exchange) readReady() error {
	kind, body, err := e.next()
	switch {
	case err != nil:
		return err
	case kind != frame.ReadyForQuery || len(body) != 1:
		return e.unexpected(kind)
	}
	e.applyState(proxy.State(body[0]))
	if e.broken {
		return fmt.Errorf("the transaction has not ended: %w", frame.ErrMalformed)
	}
	return nil
}

// applyState draws the consequences of the transaction's state.
func (e *exchange) applyState(state proxy.State) {
	l := e.link
	switch {
	case e.json != nil && state != proxy.Idle: // its Sync ends a transaction
		e.broken = true
	case state == proxy.Idle:
		l.explicit, l.failed, l.changed = false, false, false
		l.opened = false
		e.free = true
	case state == proxy.Open:
		l.explicit = true // a chained one is not opened yet
	default:
		l.explicit, l.opened, l.settingsLost, l.failed = true, true, true, true
	}
}
