package policy

import "github.com/tenantgate/tenantgate/policy/sql/command"

// Dialect says how a text writes its parameters, and what it may be beside a statement on
// rows. The zero value is the stricter one.
type Dialect uint8

// The dialects.
const (
	// REST is that of the service interface: parameters are ? or $n, the one of a scope
	// condition takes no argument, and there are statements on rows alone.
	REST Dialect = iota
	// Postgres is Postgres' own: parameters are $n, each takes a value, ? is a sign of
	// operators, and there are the commands of a session. See Command.
	Postgres
)

// placeholder is how messages write one.
func (d Dialect) placeholder() string {
	if d == Postgres {
		return "$n"
	}
	return "?"
}

// suppliedBy says what becomes of the value of a scope condition.
func (d Dialect) suppliedBy() string {
	if d == Postgres {
		return "a parameter's, for which the server's own id is taken; a constant does not count"
	}
	return "supplied by the service; a constant does not count"
}

// Command is what a statement of the Postgres dialect asks for that is not one on rows.
type Command = command.Command

// Verb is what a command does. The zero value says that a statement is none.
type Verb = command.Verb

// Modes are those of a transaction; what is "" or nil was not given.
type Modes = command.Modes

// CopyStyle is how COPY writes rows, or reads them.
type CopyStyle = command.CopyStyle

// CopyFormat is a format of COPY.
type CopyFormat = command.CopyFormat

// The verbs. Those up to RollbackTo are about the transaction, up to Unlisten about the
// session, up to CloseCursor about cursors, and the last two copy rows.
const (
	NoCommand      = command.NoCommand
	Begin          = command.Begin
	Commit         = command.Commit
	Rollback       = command.Rollback
	Savepoint      = command.Savepoint
	Release        = command.Release
	RollbackTo     = command.RollbackTo
	SetTransaction = command.SetTransaction
	SetSession     = command.SetSession
	Set            = command.Set
	Reset          = command.Reset
	Show           = command.Show
	Discard        = command.Discard
	Deallocate     = command.Deallocate
	Unlisten       = command.Unlisten
	Declare        = command.Declare
	Fetch          = command.Fetch
	Move           = command.Move
	CloseCursor    = command.CloseCursor
	CopyOut        = command.CopyOut
	CopyIn         = command.CopyIn
)

// The formats of COPY.
const (
	CopyText   = command.CopyText
	CopyCSV    = command.CopyCSV
	CopyBinary = command.CopyBinary
)
