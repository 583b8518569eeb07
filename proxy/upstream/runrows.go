package upstream

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// rows reads and encodes the statement's rows until they end or go beyond the limits.
func (r *run) rows(p *plan, dst []byte) (Result, error) {
	res := Result{Body: append(dst, p.head...)}
	r.enc.most = len(dst) + r.st.limits.MaxResultBytes - responseTail
	for {
		kind, body, err := r.next()
		if r.first.IsZero() {
			r.first = time.Now()
		}
		switch {
		case err != nil:
			return res, err
		case kind == frame.DataRow:
			if err := r.row(&res, p, body); err != nil {
				return res, err
			}
		case kind == frame.CommandComplete:
			return res, r.complete(&res, p, body)
		case kind == frame.BindComplete:
			r.executed = true
		default:
			r.broken = true
			return res, fmt.Errorf("reading rows: a message of type %q: %w", kind, frame.ErrMalformed)
		}
	}
}

func (r *run) row(res *Result, p *plan, row []byte) error {
	if res.Rows >= r.st.limits.MaxRows {
		return r.tooLarge(strconv.Itoa(r.st.limits.MaxRows) + " rows")
	}
	if res.Rows > 0 {
		res.Body = append(res.Body, ',')
	}
	body, err := r.enc.row(res.Body, p.columns, row)
	switch {
	case errors.Is(err, errLimit), err == nil && !r.enc.fits(body, 0):
		return r.tooLong()
	case err != nil:
		return r.unreadable(err)
	}
	if err := r.haveRoom(cap(body)); err != nil {
		return err
	}
	res.Body = body
	res.Rows++
	return nil
}

// haveRoom stops the statement where there is no room for its result.
func (r *run) haveRoom(bytes int) error {
	if r.enc.Room == nil {
		return nil
	}
	err := r.enc.Room.Have(bytes)
	if err != nil {
		r.stop()
		return proxy.AsError(err)
	}
	return nil
}

// complete ends the rows.
func (r *run) complete(res *Result, p *plan, tag []byte) error {
	if len(p.columns) > 0 && !r.enc.fits(res.Body, 0) {
		return r.tooLong() // without a row: the names alone
	}
	r.reached = completed
	res.Body = append(res.Body, ']')
	res.RowsAffected = affected(tag, r.st.kind)
	return nil
}

// affected is the count that ends the command tag ("INSERT 0 5", "UPDATE 5"); that of SELECT
// counts rows that were read.
func affected(tag []byte, kind policy.Kind) int64 {
	tag = bytes.TrimSuffix(tag, []byte{0})
	if kind == policy.Select || bytes.HasPrefix(tag, []byte("SELECT")) {
		return 0
	}
	var n int64
	for _, c := range tag[bytes.LastIndexByte(tag, ' ')+1:] {
		if c < '0' || c > '9' {
			return 0
		}
		n = 10*n + int64(c-'0')
	}
	return n
}

// record tells how long the stages took, and whether Postgres parsed the text for this run.
func (r *run) record(rec Recorder) {
	if r.unknown {
		rec.StatementParsed()
	}
	if r.first.IsZero() {
		rec.Stage("upstream", r.end.Sub(r.start).Seconds())
		return
	}
	rec.Stage("upstream", r.first.Sub(r.start).Seconds())
	rec.Stage("encode", r.end.Sub(r.first).Seconds())
}
