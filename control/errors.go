package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/proxy"
)

// readError tells a failed read in the interface's terms. It can always be repeated.
func readError(doing string, err error) error {
	e := asError(doing, err)
	if e.Code == proxy.UpstreamUnavailable {
		e.Retryable = true
	}
	return e
}

// writeError tells a failed change. It can be repeated only when it was certainly not sent.
func writeError(doing string, err error) error {
	e := asError(doing, err)
	if e.Code == proxy.UpstreamUnavailable {
		e.Retryable = pgconn.SafeToRetry(err)
	}
	return e
}

func asError(doing string, err error) *proxy.Error {
	var told *proxy.Error
	if errors.As(err, &told) {
		return told
	}
	cause := &step{doing, err}
	if unavailable(err) {
		return unreachable(cause)
	}
	if sqlState(err) == "23514" { // check_violation: a name or id that a front end let pass
		return &proxy.Error{Code: proxy.InvalidRequest, Message: "a value has a length or a character that is not allowed", Cause: cause}
	}
	return proxy.AsError(cause)
}

// unreachable says that a database does not answer, without saying which or where.
func unreachable(cause error) *proxy.Error {
	return &proxy.Error{
		Code:       proxy.UpstreamUnavailable,
		Message:    "a database that this request needs does not answer; repeat the request later",
		RetryAfter: retryAfter,
		Cause:      cause,
	}
}

// overloaded says that too much waits for a database already.
func overloaded() *proxy.Error {
	return &proxy.Error{
		Code:       proxy.Overloaded,
		Message:    "too many requests wait for a database; repeat the request later",
		Hint:       "keep connections open instead of making a new one for each statement",
		Retryable:  true,
		RetryAfter: retryAfter,
	}
}

// errAway is the cause of what was not even tried, or not waited for.
var errAway = fmt.Errorf("the store did not answer a moment ago: %w", context.DeadlineExceeded)

// step is an error with what was being done.
type step struct {
	doing string
	err   error
}

func (s *step) Error() string { return s.doing + ": " + s.err.Error() }
func (s *step) Unwrap() error { return s.err }

// unavailable tells whether err is trouble with reaching Postgres rather than Postgres'
// answer to a statement. A refused login counts: it is about the connection.
func unavailable(err error) bool {
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		return true
	}
	if state := sqlState(err); state != "" {
		return unavailableState(state)
	}
	var network net.Error
	return errors.As(err, &network) || pgconn.SafeToRetry(err) || slices.ContainsFunc([]error{
		io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, pgconn.ErrConnClosed, context.DeadlineExceeded, context.Canceled,
	}, func(broken error) bool { return errors.Is(err, broken) })
}

// unavailableState tells the SQLSTATEs of a server that can't serve now: connection
// exceptions, resources, shutdown and recovery, and a primary that became a standby.
func unavailableState(state string) bool {
	switch {
	case strings.HasPrefix(state, "08"), strings.HasPrefix(state, "53"), strings.HasPrefix(state, "57P"):
		return true
	case state == "25006", state == "57014":
		return true
	}
	return false
}

func sqlState(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// isUnavailable tells whether an error of this package says that the store can't be reached.
func isUnavailable(err error) bool { return hasCode(err, proxy.UpstreamUnavailable) }

// isNotFound tells whether an error of this package is NotFound.
func isNotFound(err error) bool { return hasCode(err, proxy.NotFound) }

func hasCode(err error, code proxy.Code) bool {
	var e *proxy.Error
	return errors.As(err, &e) && e.Code == code
}
