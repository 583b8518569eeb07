package upstream

import (
	"strconv"

	"github.com/tenantgate/tenantgate/proxy/frame"
)

// describe has the statement parsed and learns its types, all within the transaction that
// it will run in: behind a pooler, another transaction may be on another connection.
func (r *run) describe() (*plan, error) {
	name, epoch := r.name(), r.descriptions.epoch.Load()
	d, err := r.described(name)
	var p *plan
	for err == nil && p == nil {
		if d, err = r.known(name, d); err == nil {
			p = newPlan(r.st.exact, name, d, r.types)
		}
	}
	if err != nil {
		r.kept().close(name) // it may exist all the same
		return nil, err
	}
	if p.bytes = r.st.plan; name != "" {
		p.of = r.st.account()
		r.kept().put(p)
	}
	r.descriptions.put(r.st.key, d, epoch)
	return p, nil
}

// name gives the name under which the connection keeps the statement: none to one that nobody
// has asked for before, since it may be the last time.
func (r *run) name() string {
	if _, asked := r.descriptions.get(r.st.key); !asked {
		return ""
	}
	return r.kept().name()
}

// known makes sure that all types of the description are known.
func (r *run) known(name string, d described) (described, error) {
	missing := r.types.missing(d)
	if len(missing) == 0 {
		return d, nil
	}
	if err := r.learn(missing); err != nil {
		return d, err
	}
	if name != "" {
		return d, nil
	}
	return r.described(name) // learning took the unnamed statement's place
}

func (r *run) described(name string) (d described, err error) {
	w := &r.s.wire
	r.s.grown.add(r.st.plan, r.st.records)
	w.parse(name, r.st.sql, r.st.declared...)
	w.describe(name)
	w.askNow()
	if err := r.flush(); err != nil {
		return d, err
	}
	if err := r.opening(); err != nil {
		return d, err
	}
	return r.description()
}

// description reads what Postgres says of a statement that it has parsed.
func (r *run) description() (d described, err error) {
	r.at = analysing
	for {
		kind, body, err := r.next()
		switch {
		case err != nil:
			return d, err
		case kind == frame.ParameterDescription:
			err = d.readParams(body)
		case kind == frame.RowDescription:
			err = d.readColumns(body)
		}
		if err != nil {
			r.broken = true
			return d, err
		}
		if kind == frame.RowDescription || kind == frame.NoData {
			r.at, d.tables = running, r.st.tables
			return d, nil
		}
	}
}

// learn asks the database about types.
func (r *run) learn(oids []uint32) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	w := &r.s.wire
	w.parse("", typesSQL)
	at := w.bind("", 1)
	from := w.out.OpenValue()
	w.out.Buf = append(w.out.Buf, '{')
	for i, oid := range oids {
		w.separate(i)
		w.out.Buf = strconv.AppendUint(w.out.Buf, uint64(oid), 10)
	}
	w.out.Buf = append(w.out.Buf, '}')
	w.out.ShutValue(from)
	w.execute(at)
	w.askNow()
	if err := r.flush(); err != nil {
		return err
	}
	rows := map[uint32]pgType{}
	for {
		kind, body, err := r.next()
		switch {
		case err != nil:
			return err
		case kind == frame.DataRow:
			oid, t, err := parsePgType(body)
			if err != nil {
				return r.unreadable(err)
			}
			rows[oid] = t
		case kind == frame.CommandComplete:
			r.types.learn(oids, rows)
			return nil
		}
	}
}
