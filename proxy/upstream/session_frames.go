package upstream

import "github.com/tenantgate/tenantgate/proxy/frame"

// The messages that a run sends (PostgreSQL manual, "Message Formats").

// parse has a text prepared under a name; "" is the unnamed statement. Postgres finds the
// types of parameters that are not given.
func (w *wire) parse(name, sql string, types ...uint32) {
	if name == "" {
		w.unnamed++
	}
	at := w.out.Open(frame.Parse)
	w.out.Text(name)
	w.out.Text(sql)
	w.out.Int16(len(types))
	for _, oid := range types {
		w.out.Int32(int(oid))
	}
	w.out.Shut(at)
}

// about writes a message about a prepared statement or a portal.
func (w *wire) about(message, what byte, name string) {
	at := w.out.Open(message)
	w.out.Byte(what)
	w.out.Text(name)
	w.out.Shut(at)
}

// describe asks for the types of a prepared statement.
func (w *wire) describe(name string) { w.about(frame.Describe, frame.Statement, name) }

// deallocate closes a prepared statement, if there is one of that name.
func (w *wire) deallocate(name string) { w.about(frame.Close, frame.Statement, name) }

// bind begins to bind a prepared statement to the unnamed portal. So many values follow in
// text format, then run.
func (w *wire) bind(name string, values int) (at int) { return w.bindPortal("", name, values) }

// bindPortal does so to any portal, and for values in these formats, one for each, where some are given.
func (w *wire) bindPortal(portal, name string, values int, formats ...int) (at int) {
	at = w.out.Open(frame.Bind)
	w.out.Text(portal)
	w.out.Text(name)
	w.out.Int16(len(formats))
	for _, f := range formats {
		w.out.Int16(f)
	}
	w.out.Int16(values)
	return at
}

// execute ends what bind began and has the portal run to its end; the rows are to come in
// text format.
func (w *wire) execute(at int) { w.run(at, "") }

func (w *wire) run(at int, portal string) {
	w.out.Int16(0)
	w.out.Shut(at)
	w.executePortal(portal, 0)
}

// executePortal has a portal run for so many rows; 0 is all.
func (w *wire) executePortal(portal string, most int32) {
	at := w.out.Open(frame.Execute)
	w.out.Text(portal)
	w.out.Int32(int(most))
	w.out.Shut(at)
}

// undo ends the transaction; in a failed batch it is passed over, as all is up to the Sync.
func (w *wire) undo() {
	w.parse("", "ROLLBACK")
	w.execute(w.bind("", 0))
}

// sync ends the transaction; askNow has what was sent answered without that.
func (w *wire) sync()   { w.out.Empty(frame.Sync) }
func (w *wire) askNow() { w.out.Empty(frame.Flush) }
