package upstream

import (
	"strconv"

	"github.com/tenantgate/tenantgate/proxy/frame"
	"github.com/tenantgate/tenantgate/proxy/upstream/values"
)

// form is how the values of a statement are sent, and how its rows are written as JSON.
type form struct {
	description described
	params      []values.Type
	columns     []values.Type
	head        []byte // the JSON up to the first row
}

// newForm gives nil where a type is not known.
func newForm(d described, t *values.Types) *form {
	f := &form{description: d, head: values.AppendHead(nil, d.Columns)}
	for _, oid := range d.Params {
		known, ok := t.Get(oid)
		if !ok {
			return nil
		}
		f.params = append(f.params, known)
	}
	for _, c := range d.Columns {
		known, ok := t.Get(c.OID)
		if !ok {
			return nil
		}
		f.columns = append(f.columns, known)
	}
	return f
}

// findForm finds the statement's form: as the connection knows it, as another one does, or by asking Postgres.
func (e *exchange) findForm() error {
	j, w := e.json, &e.json.st.wanted
	p := e.kept(w).get(e.planKey(w))
	if p != nil && p.form != nil {
		j.form = p.form
		return nil
	}
	d, err := e.describedFor(p)
	if err != nil {
		return err
	}
	for j.form = newForm(d, e.link.pool.types); j.form == nil; j.form = newForm(d, e.link.pool.types) { // a type may be forgotten meanwhile
		if err := e.askTypes(e.link.pool.types.Missing(&d.Description)); err != nil {
			return err
		}
	}
	if p != nil {
		p.form = j.form
	}
	return nil
}

// describedFor gives what Postgres says of the statement: on this connection, where p is its plan there, or on another one; or
// asks it.
func (e *exchange) describedFor(p *plan) (described, error) {
	w := &e.json.st.wanted
	if p != nil {
		return p.description, nil
	}
	if d, known := e.link.pool.descriptions.get(w.key()); known {
		w.announced = &d
		return d, nil
	}
	e.ensure(w, nil)
	if err := e.catchUp(); err != nil {
		return described{}, err
	}
	d, known := e.known(w)
	if !known {
		return described{}, defect("a statement's types are not known")
	}
	return d, nil
}

// askTypes asks Postgres about types.
func (e *exchange) askTypes(oids []uint32) error {
	w := &e.s.wire
	w.parse("", values.RowsSQL)
	at := w.bind("", 1)
	from := w.out.OpenValue()
	w.out.Byte('{')
	for i, oid := range oids {
		w.separate(i)
		w.out.Buf = strconv.AppendUint(w.out.Buf, uint64(oid), 10)
	}
	w.out.Byte('}')
	w.out.ShutValue(from)
	w.execute(at)
	e.json.asked, e.pending = oids, true
	e.expect(answer{kind: readTypes})
	return e.catchUp()
}

// readTypes reads what Postgres says of types.
func (e *exchange) readTypes() error {
	rows := map[uint32]values.Row{}
	for {
		kind, body, err := e.next()
		switch {
		case err != nil:
			return err
		case kind == frame.DataRow:
			oid, t, err := values.ParseRow(body)
			if err != nil {
				return e.unreadable(err)
			}
			rows[oid] = t
		case kind == frame.CommandComplete:
			e.link.pool.types.Learn(e.json.asked, rows)
			return nil
		}
	}
}
