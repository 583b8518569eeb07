package wire

import (
	"errors"
	"strings"

	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// fatal ends a connection and is told to its client. Nothing in it is a secret.
type fatal struct {
	state   string // SQLSTATE
	message string
	hint    string
	code    proxy.Code // the interface's, for DETAIL; "" where it has none
	cause   error      // for the log
}

// Error tells what the client is told, and the cause.
func (f *fatal) Error() string {
	if f.cause != nil {
		return f.message + ": " + f.cause.Error()
	}
	return f.message
}

// Unwrap gives the cause.
func (f *fatal) Unwrap() error { return f.cause }

// What ends a connection.
var (
	errTooMany          = &fatal{state: "53300", message: "too many clients are connected", hint: "Try again, or keep connections in a pool.", code: proxy.Overloaded}
	errTooManyThere     = &fatal{state: "53300", message: "too many clients are connected from this address", hint: "Keep connections in a pool.", code: proxy.RateLimited}
	errTooManyOfServer  = &fatal{state: "53300", message: "too many clients are connected as this server", hint: "Keep connections in a pool.", code: proxy.RateLimited}
	errTooManyOfProject = &fatal{state: "53300", message: "too many clients are connected as servers of this project", hint: "Keep connections in a pool.", code: proxy.RateLimited}
	errLoginTooLong     = &fatal{state: "08006", message: "authentication took too long"}
	errReadTooLong      = &fatal{state: "08006", message: "the rest of a message did not come"}
	errIdleTooLong      = &fatal{state: "57P05", message: "terminating connection due to idle-session timeout"}
	errOpenTooLong      = &fatal{state: "25P03", message: "terminating connection due to idle-in-transaction timeout"}
	errTooOld           = &fatal{state: "25P04", message: "terminating connection due to transaction timeout", hint: "A transaction holds a connection to the database: keep it short."}
	errContended        = &fatal{state: "25P04", message: "terminating connection due to transaction timeout while others wait for a connection", hint: "A transaction holds a connection to the database: keep it short, and hold fewer at a time."}
	errShutdown         = &fatal{state: "57P01", message: "terminating connection because the service shuts down", hint: "Connect again.", code: proxy.ShuttingDown}
	errMessageLong      = &fatal{state: "08P01", message: "a message is longer than it may be", code: proxy.BodyTooLarge}
	errMessageBroken    = &fatal{state: "08P01", message: "a message is malformed"}
	errNoMemory         = &fatal{state: "53200", message: "too many long messages are being received", hint: "Send shorter ones, or try again.", code: proxy.Overloaded}
	errInternal         = &fatal{state: "XX000", message: "an internal error occurred", code: "internal"}
)

// errCancelled is the cause of a context that a cancel request has ended.
var errCancelled = errors.New("canceling statement due to user request")

// fatalOf makes a fatal of what a Gate says.
func fatalOf(err error) *fatal {
	e := proxy.AsError(err)
	if _, known := proxy.Codes[e.Code]; !known || e.Code == errInternal.code {
		return errInternal.because(err)
	}
	return &fatal{state: e.State(), message: e.Message, hint: e.Hint, code: e.Code, cause: e.Cause}
}

// because gives the same with a cause.
func (f *fatal) because(err error) *fatal {
	with := *f
	with.cause = err
	return &with
}

// write writes an ErrorResponse (PostgreSQL manual, "Error and Notice Message Fields").
func (f *fatal) write(w *frame.Writer) {
	at := w.Open(frame.ErrorResponse)
	field := func(kind byte, text string) {
		if text != "" {
			w.Byte(kind)
			w.Text(strings.ReplaceAll(text, "\x00", " "))
		}
	}
	field('S', "FATAL")
	field('V', "FATAL")
	field('C', f.state)
	field('M', f.message)
	field('D', string(f.code))
	field('H', sentence(f.hint))
	w.Byte(0)
	w.Shut(at)
}
