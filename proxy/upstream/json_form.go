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

// prepareJSON finds the statement's form, as the connection knows it, as another one does, or by asking Postgres, and gives the
// name under which the statement is prepared.
func (e *exchange) prepareJSON() (name string, err error) {
	j, w := e.json, &e.json.st.wanted
	p := e.planOf(w)
	if p != nil && p.form != nil {
		j.form = p.form
		return p.name, nil
	}
	if p == nil {
		if d, known := e.link.pool.descriptions.get(w.key()); known {
			w.announced = &d
		}
	}
	d, err := e.learn(w, nil)
	if err != nil {
		return "", err
	}
	for { // a type may be forgotten meanwhile
		if j.form = newForm(d, e.link.pool.types); j.form != nil {
			break
		}
		if err := e.askTypes(e.link.pool.types.Missing(&d.Description)); err != nil {
			return "", err
		}
	}
	if p != nil {
		p.form = j.form
	}
	return e.ensure(w, nil), nil
}

// askTypes asks Postgres about types.
func (e *exchange) askTypes(oids []uint32) error {
	w := &e.s.wire
	w.parse("", values.RowsSQL)
	at := w.bind("", 1)
	w.array(len(oids), func(dst []byte, i int) []byte { return strconv.AppendUint(dst, uint64(oids[i]), 10) })
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
