package policy

// ArgKind is the JSON kind of an argument. The zero value is Null.
type ArgKind uint8

// The kinds of an argument.
const (
	Null ArgKind = iota
	Bool
	Number
	String
	Array
	Object
	Binary // in the Postgres dialect only, where String is Postgres' text format
)

// Arg is one argument of a statement as the caller gave it.
type Arg struct {
	Kind ArgKind
	// Text is the value: for String its characters; for Bool "true" or "false"; for
	// Number the digits of the body, unchanged; for Array and Object the JSON text; for Binary
	// the bytes of Postgres' binary format.
	Text string
}
