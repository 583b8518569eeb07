package upstream

import (
	"bytes"
	"errors"
	"strconv"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
	"github.com/tenantgate/tenantgate/proxy/upstream/values"
)

// responseTail is kept free, in bytes, for what the limit counts and is not made here: the
// response's braces, the last bracket, "rowsAffected", "executionTime" and "success".
const responseTail = 96

// encodeRows reads the statement's rows and writes them as JSON, until they end or go beyond the limits.
func (e *exchange) encodeRows() error {
	j := e.json
	j.Result = Result{Body: append(j.dst, j.form.head...)}
	j.enc.Most = len(j.dst) + j.st.limits.MaxResultBytes - responseTail
	for {
		kind, body, err := e.next()
		if j.first.IsZero() {
			j.first = time.Now()
		}
		switch {
		case err != nil:
			return err
		case kind == frame.DataRow:
			if err := e.jsonRow(body); err != nil {
				return err
			}
		case kind == frame.CommandComplete:
			return e.jsonEnd(body)
		default:
			return e.unexpected(kind)
		}
	}
}

func (e *exchange) jsonRow(row []byte) error {
	j := e.json
	if j.Rows >= j.st.limits.MaxRows {
		return e.tooLarge(strconv.Itoa(j.st.limits.MaxRows) + " rows")
	}
	if j.Rows > 0 {
		j.Body = append(j.Body, ',')
	}
	body, err := j.enc.Row(j.Body, j.form.columns, row)
	switch {
	case errors.Is(err, values.ErrLimit), err == nil && !j.enc.Fits(body, 0):
		return e.tooLong()
	case err != nil:
		return e.unreadable(err)
	}
	if err := e.haveRoom(cap(body)); err != nil {
		return err
	}
	j.Body = body
	j.Rows++
	return nil
}

// haveRoom stops the statement where there is no room for its result.
func (e *exchange) haveRoom(bytes int) error {
	if e.json.room == nil {
		return nil
	}
	err := e.json.room.Have(bytes)
	if err != nil {
		e.stop()
		return proxy.AsError(err)
	}
	return nil
}

// jsonEnd ends the rows.
func (e *exchange) jsonEnd(tag []byte) error {
	j := e.json
	if len(j.form.columns) > 0 && !j.enc.Fits(j.Body, 0) {
		return e.tooLong() // without a row: the names alone
	}
	e.reached = completed
	j.Body = append(j.Body, ']')
	j.RowsAffected = affected(tag, j.st.kind)
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

// tooLong is tooLarge for the length of the response.
func (e *exchange) tooLong() error {
	return e.tooLarge(strconv.Itoa(e.json.st.limits.MaxResultBytes) + " bytes")
}

// unreadable stops the statement: a value is not what Postgres prints.
func (e *exchange) unreadable(err error) *proxy.Error {
	e.stop()
	return proxy.AsError(err)
}
