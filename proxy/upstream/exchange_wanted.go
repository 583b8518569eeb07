package upstream

import (
	"bytes"
	"encoding/binary"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// wanted is a statement that is to be prepared, and what its description must be.
type wanted struct {
	approved  approval
	sql       string          // what Postgres parses, where values stand in it; "": what was approved
	exact     string          // what a connection knows that by; "": the approval's key
	prepared  *proxy.Prepared // nil: the client has not prepared it
	announced *described      // what is taken to be known, its parameters' types declared by it; nil: nothing
}

// approval is what is needed of a *policy.Approved to prepare its statement.
type approval interface {
	Rewritten() string
	Key() string
	Declared() policy.GivenTypes
	Tables() []policy.TableName
	Fleeting() bool
	PlanBytes() int
	RecordBytes() int
}

// wantedOf is the statement that runs, with those values in its text that are no parameters.
func wantedOf(b policy.Bound) wanted {
	a := b.Approved()
	if b.Key() == a.Key() {
		return wanted{approved: a}
	}
	return wanted{approved: a, sql: b.SQL(), exact: b.Key()}
}

// text is what Postgres parses.
func (w *wanted) text() string {
	if w.sql != "" || w.approved == nil {
		return w.sql
	}
	return w.approved.Rewritten()
}

// tables are those that the text names; nil: any.
func (w *wanted) tables() []policy.TableName {
	if w.approved == nil {
		return nil
	}
	return w.approved.Tables()
}

// key is what the descriptions know it by: the same for all values.
func (w *wanted) key() string { return w.approved.Key() }

// expected is what the client was told of the statement, or how its values are sent; nil: nothing yet.
func (w *wanted) expected() *frame.Description {
	switch {
	case w.announced != nil:
		return &w.announced.Description
	case w.prepared != nil:
		return w.prepared.Told.Said
	}
	return nil
}

// canDiffer tells whether Postgres may say something else of the statement than was told. Of one without rows only its
// parameters' types can differ, and not where they are declared.
func (w *wanted) canDiffer() bool {
	told := w.expected()
	return told != nil && (w.announced == nil || told.Row != nil)
}

// paramTypes are the types that Postgres is to give the parameters; it finds those that are not there.
func (w *wanted) paramTypes() []uint32 {
	if w.announced != nil {
		return w.announced.Params
	}
	return w.approved.Declared()
}

// planKey is what the connections know a statement by. Postgres reads the constants of dates,
// times and intervals when it parses a text, under the settings of then: so those of a client
// that has set something else than a connection has are its own.
func (e *exchange) planKey(w *wanted) string {
	if w.exact != "" {
		return w.exact + e.link.inForce
	}
	return w.key() + e.link.inForce
}

// writeParameterDescription writes the types of the caller's parameters: of each that became a parameter of
// the final text the one that Postgres found, else what the engine knows of it.
func writeParameterDescription(out *frame.Writer, a *policy.Approved, said *frame.Description) {
	at := out.Open(frame.ParameterDescription)
	n := a.NumArgs()
	out.Int16(n)
	first := len(out.Buf)
	for i := range n {
		out.Int32(int(a.ArgType(i)))
	}
	for i, oid := range said.Params {
		if arg := a.ArgOf(i); arg >= 0 && arg < n {
			binary.BigEndian.PutUint32(out.Buf[first+4*arg:], oid)
		}
	}
	out.Shut(at)
}

// writeRowDescription writes the columns of a result in formats: none is text for all, one is for
// all of them.
func writeRowDescription(out *frame.Writer, said *frame.Description, formats []int16) error {
	if said.Row == nil {
		out.Empty(frame.NoData)
		return nil
	}
	at := out.Open(frame.RowDescription)
	from := len(out.Buf)
	out.Raw(said.Row)
	if err := setFormats(out.Buf[from:], formats); err != nil {
		return err
	}
	out.Shut(at)
	return nil
}

// setFormats writes the format codes into the content of a RowDescription.
func setFormats(row []byte, formats []int16) error {
	if len(formats) == 0 {
		return nil
	}
	at := 2
	for i := range int(binary.BigEndian.Uint16(row)) {
		at += bytes.IndexByte(row[at:], 0) + 1 + 18 // its name, and what is of fixed length
		format := formats[0]
		if len(formats) > 1 {
			if i >= len(formats) {
				return frame.ErrMalformed
			}
			format = formats[i]
		}
		if at > len(row) {
			return frame.ErrMalformed
		}
		binary.BigEndian.PutUint16(row[at-2:], uint16(format)) //nolint:gosec // 0 or 1
	}
	return nil
}
