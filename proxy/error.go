package proxy

import (
	"errors"
	"time"

	"github.com/tenantgate/tenantgate/policy"
)

// Error is a refusal or failure in the interface's terms. Every field but Cause may
// be shown to the caller, so none of them ever holds anything of another server, of
// the rewritten text or of the network behind tenantgate.
type Error struct {
	Code       Code
	Message    string        // what is wrong and what to do
	Hint       string        // optional
	SQLState   string        // Postgres' code, where it raised the error or one of its own fits better than Code's
	Position   int           // 1-based character of the caller's text; 0: none
	Constraint string        // the constraint that was violated
	Table      string        // its table, where the caller's text names that
	Unsettled  bool          // whether a change took effect is not known
	Retryable  bool          // the same request may succeed when repeated, and did not take effect
	RetryAfter time.Duration // when to come back; 0: not told
	Cause      error         // for the log only
}

// Error tells code and message, and the cause where there is one.
func (e *Error) Error() string {
	if e.Cause != nil {
		return string(e.Code) + ": " + e.Message + ": " + e.Cause.Error()
	}
	return string(e.Code) + ": " + e.Message
}

// size is about how many bytes a refusal keeps in memory, beside its text.
func (e *Error) size() int { return 384 + len(e.Message) + len(e.Hint) }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// State is the SQLSTATE: Postgres' own or one that fits better, else that of the code.
func (e *Error) State() string {
	if e.SQLState != "" {
		return e.SQLState
	}
	if state := Codes[e.Code].SQLState; state != "" {
		return state
	}
	return Codes[policy.Internal].SQLState
}

// Refuse makes an Error from a code and a message.
func Refuse(code Code, message string) *Error { return &Error{Code: code, Message: message} }

// AsError gives err as an *Error. Whatever is not one becomes Internal with the
// cause kept for the log.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: policy.Internal, Message: "an internal error occurred; the request id finds it in the service's log", Cause: err}
}

// Unreached is the one answer for a project or server that does not exist and for one
// that the credentials do not reach: nobody can tell them apart.
func Unreached() *Error {
	return Refuse(NotFound, "there is no such project or server, or the credentials do not reach it")
}

// Deactivated is the answer for a server that its operator has switched off.
func Deactivated() *Error {
	return Refuse(ServerInactive, "this server is deactivated; its operator can activate it again")
}

// HeldBack is the answer for a server that Work holds back: the same whether a text was to be checked or to run.
func HeldBack(cause error) *Error {
	return &Error{Code: Overloaded, Retryable: true, RetryAfter: time.Second, Cause: cause,
		Message: "this server's statements have used more than its share of the database, which it shares with other servers, so this one could not begin in time; try again later",
		Hint:    "send fewer statements at a time"}
}

// FromRefusal turns a policy's reason into an Error.
func FromRefusal(r policy.Refusal) *Error {
	return &Error{Code: r.Code, Message: r.Message, Hint: r.Hint, SQLState: r.SQLState, Position: r.Position}
}

// ErrSchemaChanged is in the chain of an upstream error when the statement did not run
// because a table is no longer as the plan knew it: Refresh the gate, and if the schema
// changed since, Check again and run once more.
var ErrSchemaChanged = errors.New("the schema changed since the statement was approved")

// ErrResultChanged is in the chain of an error because a prepared statement's parameters or columns are not those that its client
// was told of. Prepared anew, it runs.
var ErrResultChanged = errors.New("the statement's result has another form than before")
