package upstream

import (
	"context"
	"errors"
	"fmt"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// explain turns the failure into what the caller is told.
func (f *failure) explain(ctx context.Context, st *statement) *proxy.Error {
	switch {
	case f.refused != nil:
		return f.refused
	case errors.Is(f.err, frame.ErrTooLong):
		return f.orUncertain(st, tooLarge(fmt.Sprintf("%d bytes", st.limits.MaxResultBytes)), "the answer was too long to be read")
	case ctx.Err() != nil:
		return f.orUncertain(st, contextEnded(ctx), "the statement was cut off")
	}
	if pg := f.server(); pg != nil {
		return f.explainServer(st, pg)
	}
	if f.outlived {
		what := fmt.Sprintf("the statement took longer than %s", st.limits.StatementTimeout)
		e := &proxy.Error{Code: proxy.StatementTimeout, Message: what + " and was given up", Hint: slowHint, SQLState: queryCanceled, Cause: f.err}
		return f.orUncertain(st, e, what)
	}
	return f.connectionLost(st, "the connection to the database was lost")
}

// connectionLost tells of a connection that ended under a statement.
func (f *failure) connectionLost(st *statement, what string) *proxy.Error {
	cause := f.err
	if pg := f.server(); pg != nil {
		cause = forLog(pg)
	}
	return f.orUncertain(st, unavailable(what, cause), what)
}

// orUncertain gives e for a statement that left nothing behind. Of a write that may have been
// committed it tells just that, after what happened: e's own words may be to try again, and
// its SQLSTATE one that clients repeat a statement for.
func (f *failure) orUncertain(st *statement, e *proxy.Error, what string) *proxy.Error {
	if f.undone(st) {
		return e
	}
	return &proxy.Error{
		Code: e.Code, Message: what + "; whether the statement took effect is not known", SQLState: resolutionUnknown, Unsettled: true, Cause: e,
	}
}

// contextEnded tells that the caller's context ended. A cause that is meant for the caller (the
// service shuts down) is told as it is, which is right only of a statement that left
// nothing behind.
func contextEnded(ctx context.Context) *proxy.Error {
	cause := context.Cause(ctx)
	var told *proxy.Error
	switch {
	case errors.As(cause, &told):
		return told
	case errors.Is(cause, context.DeadlineExceeded):
		return &proxy.Error{Code: proxy.StatementTimeout, Message: "the request ran out of time", SQLState: queryCanceled, Cause: cause}
	default:
		return &proxy.Error{Code: policy.QueryFailed, Message: "the statement was cancelled because its caller went away", SQLState: queryCanceled, Cause: cause}
	}
}

func unavailable(message string, cause error) *proxy.Error {
	return &proxy.Error{Code: proxy.UpstreamUnavailable, Message: message + "; try again later", Retryable: true, RetryAfter: retryAfter, Cause: cause}
}

func overloaded(message, hint string, cause error) *proxy.Error {
	return &proxy.Error{Code: proxy.Overloaded, Message: message + "; try again later", Hint: hint, Retryable: true, RetryAfter: retryAfter, Cause: cause}
}
