package upstream

import "encoding/binary"

// The messages that a run sends (PostgreSQL manual, "Message Formats").

// frame begins a message; whoever has written its content closes it.
func (w *wire) frame(kind byte) (at int) {
	w.out = append(w.out, kind, 0, 0, 0, 0)
	return len(w.out) - 4
}

// close fills in the length, in bytes, of what begins at the place of it; the length counts
// its own four.
func (w *wire) close(at int) {
	binary.BigEndian.PutUint32(w.out[at:], uint32(len(w.out)-at)) //nolint:gosec // far below
}

func (w *wire) text(s string) { w.out = append(append(w.out, s...), 0) }

// parse has a text prepared under a name; "" is the unnamed statement. Postgres finds the
// types of parameters that are not given.
func (w *wire) parse(name, sql string, types ...uint32) {
	at := w.frame('P')
	w.text(name)
	w.text(sql)
	w.out = binary.BigEndian.AppendUint16(w.out, uint16(len(types))) //nolint:gosec // as many as parameters
	for _, oid := range types {
		w.out = binary.BigEndian.AppendUint32(w.out, oid)
	}
	w.close(at)
}

// describe asks for the types of a prepared statement.
func (w *wire) describe(name string) {
	at := w.frame('D')
	w.out = append(w.out, 'S')
	w.text(name)
	w.close(at)
}

// deallocate closes a prepared statement, if there is one of that name.
func (w *wire) deallocate(name string) {
	at := w.frame('C')
	w.out = append(w.out, 'S')
	w.text(name)
	w.close(at)
}

// bind begins to bind a prepared statement to the unnamed portal. So many values follow, by
// value or null, then run.
func (w *wire) bind(name string, values int) (at int) {
	at = w.frame('B')
	w.text("")
	w.text(name)
	w.out = append(w.out, 0, 0)                                  // all values in text format
	w.out = binary.BigEndian.AppendUint16(w.out, uint16(values)) //nolint:gosec // the manual's limit is a statement's
	return at
}

// value writes one value in text format.
func (w *wire) value(v []byte) {
	w.out = binary.BigEndian.AppendUint32(w.out, uint32(len(v))) //nolint:gosec // far below
	w.out = append(w.out, v...)
}

func (w *wire) null() { w.out = append(w.out, 0xff, 0xff, 0xff, 0xff) }

// open begins a value that is appended to out; shut ends it.
func (w *wire) open() (at int) {
	w.out = append(w.out, 0, 0, 0, 0)
	return len(w.out) - 4
}

func (w *wire) shut(at int) {
	binary.BigEndian.PutUint32(w.out[at:], uint32(len(w.out)-at-4)) //nolint:gosec // far below
}

// execute ends what bind began and has the portal run to its end; the rows are to come in
// text format.
func (w *wire) execute(at int) {
	w.out = append(w.out, 0, 0)
	w.close(at)
	at = w.frame('E')
	w.text("")
	w.out = append(w.out, 0, 0, 0, 0)
	w.close(at)
}

// sync ends the transaction; askNow has what was sent answered without that.
func (w *wire) sync()   { w.close(w.frame('S')) }
func (w *wire) askNow() { w.close(w.frame('H')) }
