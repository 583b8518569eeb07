package upstream

import (
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// readDescription reads what Postgres says of a statement, and remembers it.
func (e *exchange) readDescription(a *answer) error {
	e.at = analysing
	if err := e.only(frame.ParseComplete); err != nil {
		return err
	}
	d, err := e.description()
	if err != nil {
		e.s.statements.close(a.plan.name) // it exists
		return err
	}
	d.tables = a.wanted.approved.Tables()
	a.plan.description = d
	if a.plan.name == "" {
		e.unnamed = a.plan
	} else {
		a.plan.owner = e.link.account()
		e.s.statements.put(a.plan)
	}
	e.link.pool.descriptions.put(a.wanted.key(), d, a.epoch)
	if told := a.wanted.expected(); told != nil && !told.Equal(&d.Description) {
		e.link.pool.descriptions.drop(a.wanted.key())
		switch {
		case a.wanted.announced == nil:
			return changedResult()
		case e.synced && e.changes(): // canDiffer knows of none, and it may be committed
			return e.unexpected(frame.RowDescription)
		}
		e.stop()
		return altered(proxy.ErrSchemaChanged)
	}
	return nil
}

// altered is for a table that is not as it was when the statement was decided.
func altered(cause error) *proxy.Error {
	return &proxy.Error{Code: proxy.SerializationFailure, Message: "a table was altered while the statement ran; repeat the statement", Retryable: true, Cause: cause}
}

// changedResult is what Postgres says where a prepared statement's result is of another form
// than the client was told.
func changedResult() *proxy.Error {
	return &proxy.Error{Code: policy.QueryFailed, SQLState: featureNotThere, Message: "cached plan must not change result type", Cause: proxy.ErrResultChanged}
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

// passFetchTypes tells the client what Postgres says of a FETCH.
func (e *exchange) passFetchTypes() error {
	if err := e.pass(nil); err != nil {
		return err
	}
	e.at = analysing
	if err := e.only(frame.ParseComplete); err != nil {
		return err
	}
	d, err := e.description()
	if err != nil {
		return err
	}
	writeParameterDescription(e.out, e.reading.step.Prepared.Approved, &d.Description)
	return writeRowDescription(e.out, &d.Description, nil)
}

// passPortalColumns passes on what Postgres says of a portal.
func (e *exchange) passPortalColumns() error {
	if err := e.pass(nil); err != nil {
		return err
	}
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
