package proxy

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
)

// Panicked is a panic as an error. Its text names the value's type alone, for the value
// may be a secret or a piece of a statement.
type Panicked struct {
	text  string
	Stack string // for the log
}

// Error tells the type of what was panicked with; of a runtime error, what went wrong.
func (e *Panicked) Error() string { return e.text }

// Recovered makes an error of what recover gave; it is called where that was.
func Recovered(cause any) error {
	text := fmt.Sprintf("panic with a %T", cause)
	var runtimeError runtime.Error
	if err, ok := cause.(error); ok && errors.As(err, &runtimeError) {
		text = "panic: " + runtimeError.Error()
	}
	return &Panicked{text: text, Stack: string(debug.Stack())}
}
