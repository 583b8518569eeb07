package refusal

// Code names a refusal towards the caller; package policy re-exports the codes and
// documents them.
type Code string

// The codes that this package raises.
const (
	QueryTooLong        Code = "query_too_long"
	EmptyQuery          Code = "empty_query"
	MultipleStatements  Code = "multiple_statements"
	MixedPlaceholders   Code = "mixed_placeholders"
	SyntaxError         Code = "syntax_error"
	StatementNotAllowed Code = "statement_not_allowed"
	ConstructNotAllowed Code = "construct_not_allowed"
	TableNotAllowed     Code = "table_not_allowed"
	ColumnNotAllowed    Code = "column_not_allowed"
	FunctionNotAllowed  Code = "function_not_allowed"
	TypeNotAllowed      Code = "type_not_allowed"
	MissingServerScope  Code = "missing_server_scope"
	QueryFailed         Code = "query_failed"
	Internal            Code = "internal"
)

// Refusal says why a text is refused, from the guard to the front ends.
type Refusal struct {
	Code     Code
	Message  string // one sentence: what is wrong
	Hint     string // what to do about it; may be empty
	SQLState string // Postgres' own code where it has one; else empty
	Position int    // 1-based character in the caller's text; 0 where there is none. The decision sets it
	Offset   int    // byte in the text that the raising function was given; -1 where there is no place

	// Of a column that does not exist:
	Near  []string // the columns that may stand there and are spelled alike, as SQL spells them
	Value bool     // its name stands without a qualifier where a value may stand
}

// Unsupported refuses what a statement is made of.
func Unsupported(at int, message string) *Refusal {
	return &Refusal{Code: ConstructNotAllowed, Message: message, Offset: at}
}

// Unplaced is the refusal where tree and text disagree: it must never be seen.
func Unplaced() *Refusal {
	return &Refusal{Code: Internal, Message: "the statement could not be rewritten", Offset: -1}
}
