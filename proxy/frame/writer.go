package frame

import (
	"encoding/binary"
	"io"
)

// Writer collects messages in Buf and sends them to To. The zero value of Buf is ready.
type Writer struct {
	To   io.Writer
	Buf  []byte // not yet sent
	Sent int64  // bytes that were handed to To, whether or not it took them all
}

// Open begins a message; who has written its content shuts it.
func (w *Writer) Open(kind byte) (at int) {
	w.Buf = append(w.Buf, kind, 0, 0, 0, 0)
	return len(w.Buf) - 4
}

// Shut fills in the length of a message, or of a value in one, that was opened at a place.
// A message's counts its own four bytes, a value's does not: see Value.
func (w *Writer) Shut(at int) {
	binary.BigEndian.PutUint32(w.Buf[at:], uint32(len(w.Buf)-at)) //nolint:gosec // far below
}

// Empty writes a message without content.
func (w *Writer) Empty(kind byte) { w.Shut(w.Open(kind)) }

// Complete writes a CommandComplete with a command's tag.
func (w *Writer) Complete(tag string) {
	at := w.Open(CommandComplete)
	w.Text(tag)
	w.Shut(at)
}

// Text writes a text and the zero that ends it; the text must hold none.
func (w *Writer) Text(s string) { w.Buf = append(append(w.Buf, s...), 0) }

// Byte writes one byte.
func (w *Writer) Byte(b byte) { w.Buf = append(w.Buf, b) }

// Int16 writes a 16-bit integer.
func (w *Writer) Int16(n int) {
	w.Buf = binary.BigEndian.AppendUint16(w.Buf, uint16(n)) //nolint:gosec // the protocol's own bounds
}

// Int32 writes a 32-bit integer.
func (w *Writer) Int32(n int) {
	w.Buf = binary.BigEndian.AppendUint32(w.Buf, uint32(n)) //nolint:gosec // the protocol's own bounds
}

// Value writes a value with its length.
func (w *Writer) Value(v []byte) {
	w.Int32(len(v))
	w.Buf = append(w.Buf, v...)
}

// Null writes the value that is none.
func (w *Writer) Null() { w.Int32(-1) }

// OpenValue begins a value that is appended to Buf; ShutValue ends it.
func (w *Writer) OpenValue() (at int) {
	w.Int32(0)
	return len(w.Buf)
}

// ShutValue fills in the length of a value.
func (w *Writer) ShutValue(at int) {
	binary.BigEndian.PutUint32(w.Buf[at-4:], uint32(len(w.Buf)-at)) //nolint:gosec // far below
}

// Raw writes bytes that are messages already.
func (w *Writer) Raw(b []byte) { w.Buf = append(w.Buf, b...) }

// Flush sends what was written.
func (w *Writer) Flush() error {
	if len(w.Buf) == 0 {
		return nil
	}
	b := w.Buf
	w.Buf = w.Buf[:0]
	return w.send(b)
}

// most is how many bytes Pass lets come together before it sends them.
const most = 16 << 10

// Pass writes messages, or parts of such, that came from elsewhere, and sends them where
// they are many: then without a copy.
func (w *Writer) Pass(b []byte) error {
	if len(w.Buf)+len(b) <= most {
		w.Raw(b)
		return nil
	}
	if err := w.Flush(); err != nil || len(b) == 0 {
		return err
	}
	return w.send(b)
}

func (w *Writer) send(b []byte) error {
	w.Sent += int64(len(b))
	_, err := w.To.Write(b)
	return err
}
