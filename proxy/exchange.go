package proxy

import (
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// Exchange is what a client of the Postgres protocol asks for in one go: steps that are done
// in order, each with its answers, until one fails; the rest is left out then. It is plain
// data, made by the front end and run on a connection of package upstream. Everything in it
// may be a view of a buffer: it is valid until it was run.
type Exchange struct {
	Steps []Step
	// Commit ends the exchange with Postgres' Sync: what was not begun by Begin is one
	// transaction, and is committed. Otherwise it stays open for the next exchange.
	Commit bool
	// Query is that the client sent its statements as one message, where Postgres tells the end of
	// the last one behind the commit: a commit that fails takes its place.
	Query bool
	// Begin, unless it is the zero value, is a BEGIN that opens a transaction before the first step, which lasts until a step
	// ends it. Of what is open without one it makes such a transaction; none may be open by one.
	Begin policy.Bound
	// Settings are what the client has set otherwise than a connection has it. They are made
	// when a transaction is opened, end with it, and are made again in what the link has open
	// behind a COMMIT or a ROLLBACK, also TO a savepoint. An exchange of settings without a step
	// tells whether Postgres takes them.
	Settings []policy.Setting
	// Timeout bounds each statement, if it is shorter than the policy's; 0: the policy's.
	Timeout time.Duration
	// ReadOnly is that the client wants the transaction to take no writes: that it takes none is
	// then no fault of the database's.
	ReadOnly bool
	// Resettle has Settings made again before the first step, even where there is none: the
	// client has changed them since the transaction was opened. They are all there then, those
	// that are as a connection has them, too.
	Resettle bool
	// Done is the link's to set: how many of the steps were done. Where Run gives a *proxy.Error,
	// Steps[Done] is what failed.
	Done int
	// Unsent is the link's to set, too: nothing of it was sent to Postgres. It is false for every failure of an exchange that
	// began without a connection, for it may have waited for one; even for a refusal before it asked for any.
	Unsent bool
	// Executed is the link's to set as well: what failed had its values, and may have run. Where Postgres reported the
	// error, nothing of it is left but what no transaction takes back, such as a sequence's number.
	Executed bool
	// Inserted is the link's to set, too: how many rows its steps of verb Quiet inserted.
	Inserted int64
}

// Step is one thing to do. The answers that the client gets are Postgres' own messages, byte
// for byte, but for errors and what is about parameters, which are the caller's own.
type Step struct {
	Verb     StepVerb
	Prepared *Prepared        // of Prepare and Describe; of Bind for what was said of it: what runs is Bound; of DescribePortal, if Formats are there
	Bound    policy.Bound     // of Bind, Simple and Quiet
	Approved *policy.Approved // of Execute and DescribePortal: what is bound to the portal
	Portal   string           // of Bind, DescribePortal, Execute and ClosePortal; "" is the unnamed one
	Formats  []int16          // of Bind and its DescribePortal: those of the result's columns, as in Postgres' message
	Most     int32            // of Execute: rows at most; 0: all
	Text     []byte           // of Say
	Before   int64            // of Copied: how many rows earlier exchanges inserted
}

// StepVerb is what a step does, in terms of the messages of Postgres' protocol.
type StepVerb uint8

// The verbs of steps.
const (
	Say            StepVerb = iota // answers Text, and asks Postgres for nothing
	Prepare                        // ParseComplete
	Describe                       // ParameterDescription, then RowDescription or NoData
	Bind                           // BindComplete
	DescribePortal                 // RowDescription or NoData
	Execute                        // rows, then CommandComplete or PortalSuspended
	ClosePortal                    // CloseComplete
	Simple                         // runs Bound as a Query message: RowDescription if there are rows, rows, CommandComplete
	Quiet                          // runs Bound, and answers nothing
	Copied                         // CommandComplete of a COPY, with the number of rows that Quiet steps before it inserted
)

// Prepared is a statement that a client has prepared.
type Prepared struct {
	Approved *policy.Approved
	Types    []uint32 // OIDs that the client gave its parameters, from $1, for the gate; Postgres is given those of Approved
	Told     Told
}

// Told is what a client was told of a statement when it prepared it. The statement is described, and runs, only as long as that
// holds. The link sets it.
type Told struct {
	Said *frame.Description // by Postgres; nil: the statement is not prepared yet, or a command
	// Outdated tells that it was said of another decision, for which Postgres got another text or its parameters other
	// arguments. Such a statement runs if Postgres says the same of the new text. It is not described, until it is
	// prepared anew.
	Outdated bool
}

// State is that of a client's transaction, as ReadyForQuery tells it.
type State byte

// The states.
const (
	Idle   State = 'I'
	Open   State = 'T'
	Failed State = 'E'
)
