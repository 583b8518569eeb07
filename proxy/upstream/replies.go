package upstream

import (
	"fmt"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// answerKind is what is to come for something that was written, or to be said without.
type answerKind uint8

const (
	said          answerKind = iota // nothing comes: a text of the front end's
	toldParsed                      // nothing comes: ParseComplete
	toldStatement                   // nothing comes: the types of a statement's parameters and columns
	toldNothing                     // nothing comes: no parameters and no columns
	toldPortal                      // nothing comes: a portal's columns
	toldSimple                      // nothing comes: the columns of a Query's result
	toldClosed                      // nothing comes: CloseComplete
	ownRun                          // BindComplete to CommandComplete of what the client knows nothing of
	ownParsed                       // ParseComplete, likewise
	ownBound                        // BindComplete, likewise
	ownRows                         // rows to CommandComplete, likewise
	ownClosed                       // CloseComplete, likewise
	parsed                          // ParseComplete and what Postgres says of the statement
	fetched                         // ParseComplete and what it says of a FETCH, for the client
	bound                           // BindComplete
	portalTold                      // RowDescription or NoData
	rows                            // rows to CommandComplete or PortalSuspended
	closed                          // CloseComplete
	readied                         // ReadyForQuery
)

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
	case said:
		return e.pass(a.step.Text)
	case toldParsed, toldStatement, toldNothing, toldPortal, toldSimple, toldClosed:
		return e.tell(a)
	case ownRun:
		return e.ownRun()
	case ownParsed:
		e.at = analysing
		return e.only(frame.ParseComplete)
	case ownBound:
		return e.only(frame.BindComplete)
	case ownClosed:
		return e.only(frame.CloseComplete)
	case parsed:
		return e.parsed(a)
	case fetched:
		return e.fetched()
	case bound:
		return e.passOne(frame.BindComplete)
	case closed:
		return e.passOne(frame.CloseComplete)
	case portalTold:
		return e.portalTold()
	case rows, ownRows:
		return e.rows(a)
	}
	return e.readied()
}

// tell says what is known without asking.
func (e *exchange) tell(a *answer) error {
	out := e.out
	switch a.kind {
	case toldParsed:
		out.Empty(frame.ParseComplete)
	case toldClosed:
		out.Empty(frame.CloseComplete)
	case toldNothing:
		tellParams(out, a.step.Prepared.Approved, described{})
		out.Empty(frame.NoData)
	case toldStatement:
		d, known := e.known(a.wanted)
		if !known {
			return defect("a statement's types are not known")
		}
		tellParams(out, a.step.Prepared.Approved, d)
		return tellColumns(out, d, nil)
	case toldPortal:
		return e.tellColumns(a, a.step.Formats)
	default:
		return e.tellColumns(a, nil)
	}
	return nil
}

// tellColumns tells the columns of a statement that is bound.
func (e *exchange) tellColumns(a *answer, formats []int16) error {
	d, known := e.known(a.wanted)
	if !known {
		return defect("a result's columns are not known")
	}
	return tellColumns(e.out, d, formats)
}

// known gives what Postgres says of a statement: what the connection was told comes first.
func (e *exchange) known(w *wanted) (described, bool) {
	if e.s != nil {
		if p := e.kept(w).get(e.planKey(w)); p != nil {
			return p.said, true
		}
		if e.unnamed != nil && e.unnamed.sql == e.planKey(w) {
			return e.unnamed.said, true
		}
	}
	if w.told != nil {
		return *w.told, true
	}
	return e.link.pool.descriptions.get(w.key())
}

// ownRun reads what the client knows nothing of.
func (e *exchange) ownRun() error {
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
	e.client = fmt.Errorf("writing to the client: %w", err)
	if e.s != nil {
		e.stop()
	}
	return e.client
}

// parsed reads what Postgres says of a statement, and remembers it.
func (e *exchange) parsed(a *answer) error {
	e.at = analysing
	if err := e.only(frame.ParseComplete); err != nil {
		return err
	}
	d, err := e.description()
	if err != nil {
		e.s.statements.close(a.plan.name) // it exists
		return err
	}
	a.plan.said = d
	if a.plan.name == "" {
		e.unnamed = a.plan
	} else {
		e.s.statements.put(a.plan)
	}
	e.link.pool.descriptions.put(a.wanted.key(), d, a.epoch)
	if told := a.wanted.told; told != nil && !told.equal(d) {
		e.link.pool.descriptions.drop(a.wanted.key())
		return changedResult()
	}
	a.wanted.told = &d
	return nil
}

// changedResult is what Postgres says where a prepared statement's result is of another form
// than the client was told.
func changedResult() *proxy.Error {
	return &proxy.Error{Code: policy.QueryFailed, SQLState: featureNotThere, Message: "cached plan must not change result type", Cause: errStale}
}

// description reads the types of a statement's parameters and columns.
func (e *exchange) description() (d described, err error) {
	kind, body, err := e.next()
	if err == nil && kind != frame.ParameterDescription {
		err = e.unexpected(kind)
	}
	if err == nil {
		err = d.readParams(body)
	}
	if err != nil {
		return d, err
	}
	kind, body, err = e.next()
	switch {
	case err != nil:
		return d, err
	case kind == frame.RowDescription:
		return d, d.readColumns(body)
	case kind != frame.NoData:
		return d, e.unexpected(kind)
	}
	return d, nil
}

// fetched tells the client what Postgres says of a FETCH.
func (e *exchange) fetched() error {
	e.at = analysing
	if err := e.only(frame.ParseComplete); err != nil {
		return err
	}
	d, err := e.description()
	if err != nil {
		return err
	}
	tellParams(e.out, e.reading.step.Prepared.Approved, d)
	return tellColumns(e.out, d, nil)
}

// portalTold passes on what Postgres says of a portal.
func (e *exchange) portalTold() error {
	kind, body, err := e.next()
	switch {
	case err != nil:
		return err
	case kind == frame.NoData && e.reading.step.Verb == proxy.Simple:
		return nil
	case kind != frame.NoData && kind != frame.RowDescription:
		return e.unexpected(kind)
	}
	at := e.out.Open(kind)
	e.out.Raw(body)
	e.out.Shut(at)
	return nil
}

// readied reads the end of the exchange and what became of the transaction.
func (e *exchange) readied() error {
	kind, body, err := e.next()
	switch {
	case err != nil:
		return err
	case kind != frame.ReadyForQuery || len(body) != 1:
		return e.unexpected(kind)
	}
	e.became(proxy.State(body[0]))
	return nil
}

// became draws the consequences of the transaction's state.
func (e *exchange) became(state proxy.State) {
	l := e.link
	switch state {
	case proxy.Idle:
		l.explicit, l.failed, l.readOnly, l.wrote = false, false, false, false
		l.opened = false
		e.free = true
	case proxy.Open:
		l.explicit, l.opened = true, true
	default:
		l.explicit, l.opened, l.failed = true, true, true
	}
}
