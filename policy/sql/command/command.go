package command

// Verb is what a command does. The zero value says that a statement is none.
type Verb uint8

// The verbs. Those up to RollbackTo are about the transaction, up to Unlisten about the
// session, up to CloseCursor about cursors, and the last two copy rows.
const (
	NoCommand Verb = iota
	Begin
	Commit
	Rollback
	Savepoint
	Release
	RollbackTo

	SetTransaction // the modes of the transaction that is open
	SetSession     // the modes of transactions to come: SET SESSION CHARACTERISTICS
	Set
	Reset // to the value of the session's start; Name "" for RESET ALL
	Show  // Name "all" for SHOW ALL
	Discard
	Deallocate // Name "" for ALL
	Unlisten   // has no effect: nobody listens

	Declare
	Fetch
	Move
	CloseCursor // Name "" for ALL

	CopyOut
	CopyIn
)

// Command is what a statement asks for that is not one on rows, in the words of the grammar:
// names are folded as Postgres folds them.
type Command struct {
	Verb  Verb
	Name  string    // of the savepoint, setting (lower case), cursor or prepared statement; of Discard: all, plans, sequences or temp
	Value string    // of Set, as the text that the setting is given; "" with Default
	Local bool      // Set until the end of the transaction
	Reset bool      // Set … TO DEFAULT
	Chain bool      // Commit and Rollback … AND CHAIN
	Modes Modes     // of Begin, SetTransaction and SetSession
	Copy  CopyStyle // of CopyOut and CopyIn
}

// Modes are those of a transaction; what is "" or nil was not given.
type Modes struct {
	Isolation  string // lower case, as "repeatable read"
	ReadOnly   *bool
	Deferrable *bool
}

// CopyStyle is how COPY writes rows, or reads them.
type CopyStyle struct {
	Format    CopyFormat
	Delimiter byte   // of text and CSV
	Null      string // likewise
	Header    bool   // likewise; of CopyIn: the first line is left out
	Quote     byte   // of CSV
	Escape    byte   // of CSV
	Columns   int    // of CopyIn: of the rows, as the client has them
}

// CopyFormat is a format of COPY.
type CopyFormat uint8

// The formats.
const (
	CopyText CopyFormat = iota
	CopyCSV
	CopyBinary
)
