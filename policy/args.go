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
)

// Arg is one argument of a statement as the caller gave it.
type Arg struct {
	Kind ArgKind
	// Text is the value: for String its characters; for Bool "true" or "false"; for
	// Number the digits of the body, unchanged; for Array and Object the JSON text.
	Text string
}
