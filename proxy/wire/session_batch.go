package wire

import (
	"unsafe"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// What is collected before it is run unasked, and what of its memory an idle client keeps.
const (
	maxSteps    = 64
	maxMemory   = 16 << 10 // bytes of messages
	keptSteps   = 8
	keptMemory  = 1 << 10 // bytes
	keptArgs    = 32
	keptFormats = 16
)

// batch collects the messages up to a Sync or a Flush as an exchange. What must live until
// it was run is copied out of the receive buffer, which the next message takes; but what is
// long stays there, and is run before the next message is read.
type batch struct {
	x       proxy.Exchange
	notes   []note // one for each step
	memory  []byte
	args    []policy.Arg
	formats []int16
	bytes   int  // bytes of memory, with those of former pieces
	mustRun bool // it must be run before the next message is read
}

// note is what the session has to know of a step once it was run.
type note struct {
	kind   policy.Kind          // of what was handed over; "" where nothing is counted
	made   *statement           // that the step has prepared; nil: none
	was    *statement           // the unnamed one before, which may be the same; nil: there was none
	told   proxy.Told           // what its client was told of that
	text   string               // of the statement that it is a step of, for the log; a Simple's may be a view of the message
	offset int                  // of its text in the client's, in characters
	line   int                  // of COPY's data; 0: none
	taken  *policy.Parametrized // what the step is about: a text without its constants; nil: a text
}

// add collects a step.
func (b *batch) add(step proxy.Step, n note) {
	b.x.Steps = append(b.x.Steps, step)
	b.notes = append(b.notes, n)
}

// full tells whether what was collected must be run.
func (b *batch) full() bool {
	return b.mustRun || len(b.x.Steps) >= maxSteps || b.bytes >= maxMemory
}

// keep gives a message's content so that it is valid until the exchange was run.
func (b *batch) keep(body []byte) []byte {
	if len(body) >= maxMemory {
		b.mustRun = true
		return body
	}
	if cap(b.memory)-len(b.memory) < len(body) { // what is there already stays where it is
		b.memory = make([]byte, 0, max(keptMemory, min(2*cap(b.memory), maxMemory), len(body)))
	}
	start := len(b.memory)
	b.bytes += len(body)
	b.memory = append(b.memory, body...)
	return b.memory[start:len(b.memory):len(b.memory)]
}

// reset makes the batch ready for the next exchange, and lets go of what it refers to.
func (b *batch) reset() {
	steps, notes := b.x.Steps, b.notes
	clear(steps)
	clear(notes)
	b.x = proxy.Exchange{Steps: within(steps, maxSteps)}
	b.notes = within(notes, maxSteps)
	clear(b.args)
	b.args, b.formats = within(b.args, 4*keptArgs), within(b.formats, 4*keptFormats)
	b.memory, b.bytes, b.mustRun = within(b.memory, maxMemory), 0, false
}

// rest lets go of memory that an idle client need not have.
func (b *batch) rest() {
	b.x.Steps, b.notes = within(b.x.Steps, keptSteps), within(b.notes, keptSteps)
	b.args, b.formats = within(b.args, keptArgs), within(b.formats, keptFormats)
	b.memory = within(b.memory, keptMemory)
}

// within empties a slice, and lets go of it where it has room for more than most.
func within[T any](s []T, most int) []T {
	if cap(s) > most {
		return nil
	}
	return s[:0]
}

// view gives bytes as a string without a copy: it is valid as long as they are.
func view(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // of its own length
}
