package upstream

import (
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/upstream/values"
)

// tooLarge stops the statement: the rest of its rows is not wanted.
func (e *exchange) tooLarge(what string) *proxy.Error {
	e.stop()
	return tooLarge(what)
}

func tooLarge(what string) *proxy.Error {
	return &proxy.Error{
		Code: proxy.ResultTooLarge, Message: "the result has more than " + what,
		Hint: "ask for fewer rows or columns, for example with LIMIT", Cause: values.ErrLimit,
	}
}
