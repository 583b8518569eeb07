package upstream

import (
	"slices"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy/upstream/values"
)

// jsonResult is the one statement of an exchange whose rows become JSON.
type jsonResult struct {
	st    *statement
	enc   values.Encoder
	room  Room
	dst   []byte // what the result is appended to
	form  *form
	asked []uint32  // the types that Postgres was asked for
	first time.Time // when Postgres answered the statement; zero: it did not
	Result
}

// grace is what a statement may take beyond its time limit, which Postgres itself holds,
// before the connection counts as dead.
const grace = 2 * time.Second

// Result is what a statement answered.
type Result struct {
	Body         []byte // dst, with `"columns":[…],"rows":[…]` appended
	Rows         int    // rows in Body
	RowsAffected int64  // rows inserted, updated or deleted; 0 for SELECT
}

// writeJSON writes the statement whose rows become JSON. Its values are read, and its rows written, by their types: where
// nobody knows these yet, Postgres is asked first.
func (e *exchange) writeJSON() error {
	j := e.json
	j.st.announced, j.form, j.first = nil, nil, time.Time{} // of an attempt before
	e.mayMakeZones = j.st.bound.Valid() && j.st.bound.Approved().Zones()
	if err := e.need(policy.NoCommand); err != nil {
		return err
	}
	e.boundAnswers()
	name, err := e.prepareJSON()
	if err != nil {
		return err
	}
	e.boundAnswers()
	e.mayMakeZones = e.mayMakeZones || j.st.bound.Valid() && zoneIn(j.st.bound, j.form.description)
	return e.runJSON(name)
}

// runJSON writes the Bind of the prepared statement, and what follows it.
func (e *exchange) runJSON(name string) error {
	j, w := e.json, &e.s.wire
	if err := e.catchUpBefore(j.st.argBytes()); err != nil {
		return err
	}
	if err := j.st.bind(w, name, j.form.params); err != nil {
		return err
	}
	e.expect(answer{kind: skipBindComplete})
	e.checkShapes(j.st.shapes, nil)
	w.executePortal("", 0)
	e.expect(answer{kind: encodeRows})
	e.pending, e.unread, e.link.changed = true, e.unread || j.st.returns, j.st.mayWrite
	return nil
}

// boundAnswers has a message refused, before it is read, that is longer than a row within the limit could be on the wire. The
// allowance is for what is no row, and for the lengths that a row's values have before them.
func (e *exchange) boundAnswers() {
	const allowance, most = 1 << 20, 1 << 30
	length := min(e.json.st.limits.MaxResultBytes, most/4)
	if f := e.json.form; f != nil && slices.ContainsFunc(f.columns, values.Type.Wide) {
		length *= 2
	}
	e.s.wire.in.Most = length + allowance
}
