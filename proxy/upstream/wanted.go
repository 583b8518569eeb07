package upstream

import (
	"bytes"
	"encoding/binary"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// wanted is a statement as a client of the Postgres protocol wants it.
type wanted struct {
	approved *policy.Approved
	prepared *proxy.Prepared // nil: it is run and not prepared
	sql      string          // the text that runs, and its key, where values stand in it; else that which was approved
	exact    string
}

// told is what the client was told of the statement; nil: nothing yet.
func (w *wanted) told() *frame.Description {
	if w.prepared == nil {
		return nil
	}
	return w.prepared.Told
}

// key is what the descriptions know it by.
func (w *wanted) key() string { return w.approved.Key() }

// planKey is what the connections know a statement by. Postgres reads the constants of dates,
// times and intervals when it parses a text, under the settings of then: so those of a client
// that has set something else than a connection has are its own.
func (e *exchange) planKey(w *wanted) string {
	if w.exact != "" {
		return w.exact + e.link.inForce
	}
	return w.key() + e.link.inForce
}

// text is what Postgres parses.
func (w *wanted) text() string {
	if w.sql != "" {
		return w.sql
	}
	return w.approved.Rewritten()
}

// tellParams writes the types of the caller's parameters: of each that became a parameter of
// the final text the one that Postgres found, else what the engine knows of it.
func tellParams(out *frame.Writer, a *policy.Approved, said described) {
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

// tellColumns writes the columns of a result in formats: none is text for all, one is for
// all of them.
func tellColumns(out *frame.Writer, said described, formats []int16) error {
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
