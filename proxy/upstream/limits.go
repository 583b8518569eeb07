package upstream

import (
	"errors"
	"slices"
	"strconv"

	"github.com/tenantgate/tenantgate/proxy"
)

// errLimit is in the chain of a refusal because of the result's size.
var errLimit = errors.New("beyond the limits")

// responseTail is kept free, in bytes, for what the limit counts and is not made here: the
// response's braces, the last bracket, "rowsAffected", "executionTime" and "success".
const responseTail = 96

// bound has a message refused, before it is read, that is longer than a row within the
// limit could be on the wire. The allowance is for what is no row, and for the lengths
// that a row's values have before them.
func (r *run) bound(columns []valueType) {
	const allowance, most = 1 << 20, 1 << 30
	length := min(r.st.limits.MaxResultBytes, most/4)
	if slices.ContainsFunc(columns, valueType.wide) {
		length *= 2
	}
	r.s.wire.in.Most = length + allowance
}

// tooLarge stops the statement: the rest of its rows is not wanted.
func (r *run) tooLarge(what string) *proxy.Error {
	r.stop()
	return tooLarge(what)
}

// unreadable stops the statement: a value is not what Postgres prints.
func (r *run) unreadable(err error) *proxy.Error {
	r.stop()
	return proxy.AsError(err)
}

// tooLong is tooLarge for the length of the response.
func (r *run) tooLong() error {
	return r.tooLarge(strconv.Itoa(r.st.limits.MaxResultBytes) + " bytes")
}

func tooLarge(what string) *proxy.Error {
	return &proxy.Error{
		Code: proxy.ResultTooLarge, Message: "the result has more than " + what,
		Hint: "ask for fewer rows or columns, for example with LIMIT", Cause: errLimit,
	}
}
