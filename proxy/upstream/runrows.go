package upstream

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// describe has the statement parsed and learns its types, all within the transaction that
// it will run in: behind a pooler, another transaction may be on another connection.
func (r *run) describe(ctx context.Context) (*plan, [][]byte, error) {
	name := r.s.statements.name()
	p, err := r.plan(ctx, name)
	if err != nil {
		r.s.statements.close(name) // it may exist all the same
		return nil, nil, err
	}
	r.s.statements.put(p)
	values, refused := r.st.values(p.params)
	if refused != nil {
		return nil, nil, refused
	}
	return p, values, nil
}

// plan has the statement parsed under a name and described.
func (r *run) plan(ctx context.Context, name string) (*plan, error) {
	desc, err := r.described(name)
	if err != nil {
		return nil, err
	}
	if missing := r.types.missing(desc); len(missing) > 0 {
		if err := r.learn(ctx, missing); err != nil {
			return nil, err
		}
		if name == "" { // learning took the unnamed statement's place
			if desc, err = r.described(name); err != nil {
				return nil, err
			}
		}
	}
	return newPlan(r.st.sql, desc, r.types), nil
}

func (r *run) described(name string) (*pgconn.StatementDescription, error) {
	r.pl.SendPrepare(name, r.st.sql, nil)
	if err := r.flush(); err != nil {
		return nil, err
	}
	if err := r.opening(); err != nil {
		return nil, err
	}
	r.at = analysing
	answer, err := r.pl.GetResults()
	if err != nil {
		return nil, err
	}
	r.at = running
	desc, ok := answer.(*pgconn.StatementDescription)
	if !ok {
		return nil, fmt.Errorf("describing a statement: %T came instead", answer)
	}
	desc.Name = name
	return desc, nil
}

// learn asks the database about types.
func (r *run) learn(ctx context.Context, oids []uint32) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	list := []byte{'{'}
	for i, oid := range oids {
		if i > 0 {
			list = append(list, ',')
		}
		list = strconv.AppendUint(list, uint64(oid), 10)
	}
	r.pl.SendQueryParams(typesSQL, [][]byte{append(list, '}')}, nil, nil, nil)
	if err := r.flush(); err != nil {
		return err
	}
	reader, err := r.reader()
	if err != nil {
		return err
	}
	rows := map[uint32]pgType{}
	for reader.NextRow() {
		oid, t, err := parsePgType(reader.Values())
		if err != nil {
			return r.broken(err)
		}
		rows[oid] = t
	}
	if _, err := reader.Close(); err != nil {
		return err
	}
	r.types.learn(oids, rows)
	return nil
}

// rows reads and encodes the statement's rows until they end or go beyond the limits.
func (r *run) rows(p *plan, dst []byte) (Result, error) {
	reader, err := r.reader()
	r.first = time.Now()
	if err != nil {
		return Result{}, err
	}
	res := Result{Body: append(dst, p.head...)}
	r.enc.most = len(dst) + r.st.limits.MaxResultBytes - responseTail
	for reader.NextRow() {
		if res.Rows >= r.st.limits.MaxRows {
			return res, r.tooLarge(strconv.Itoa(r.st.limits.MaxRows) + " rows")
		}
		if err := r.row(&res, p, reader.Values()); err != nil {
			return res, err
		}
	}
	if len(p.columns) > 0 && !r.enc.fits(res.Body, 0) {
		return res, r.tooLong() // without a row: the names alone
	}
	tag, err := reader.Close()
	if err != nil {
		return res, err
	}
	r.reached = completed
	res.Body = append(res.Body, ']')
	res.RowsAffected = affected(tag, r.st.kind)
	return res, nil
}

func (r *run) row(res *Result, p *plan, values [][]byte) error {
	if res.Rows > 0 {
		res.Body = append(res.Body, ',')
	}
	body, err := r.enc.row(res.Body, p.columns, values)
	switch {
	case errors.Is(err, errLimit), err == nil && !r.enc.fits(body, 0):
		return r.tooLong()
	case err != nil:
		return r.broken(err)
	}
	res.Body = body
	res.Rows++
	return nil
}

// record tells how long the stages took.
func (r *run) record(rec Recorder) {
	if r.first.IsZero() {
		rec.Stage("upstream", r.end.Sub(r.start).Seconds())
		return
	}
	rec.Stage("upstream", r.first.Sub(r.start).Seconds())
	rec.Stage("encode", r.end.Sub(r.first).Seconds())
}
