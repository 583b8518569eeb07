package upstream

import (
	"net"

	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// wire is the client's side of Postgres' protocol, version 3 (PostgreSQL manual, "Message
// Flow"), on a connection that pgconn has opened. pgconn's own pipeline would cost a
// statement ten microseconds, and its rows a copy. A run writes messages into out
// (session_frames.go), sends them with flush, and reads the answers one by one. Between two runs the
// connection is pgconn's: nothing may be left in here then (idle).
type wire struct {
	conn net.Conn
	out  frame.Writer // messages to be sent
	in   frame.Reader // from conn, as pgconn reads it: after a slow write it may have read ahead
	sent bool         // since begin
	// unnamed counts the unnamed statements that were written: the last one is there.
	unnamed int
	// state is the transaction's, as the server told it last; 0 while something is sent that it
	// has not answered to the end.
	state     proxy.State
	discard   int  // bytes of an error that are still to come, and not wanted
	truncated bool // the message that came last is such an error
	// reported are the parameters that the server says it has changed, as they are now.
	reported map[string]string
}

const (
	receiveSize = 32 << 10 // of the buffer that a connection keeps, in bytes
	sendSize    = 16 << 10 // likewise
)

// begin makes the wire ready for a run.
func (w *wire) begin() {
	w.out.Buf, w.sent = w.out.Buf[:0], false
	if w.in.Buf == nil {
		w.in.Buf = make([]byte, receiveSize)
	}
}

// flush sends what was written.
func (w *wire) flush() error {
	w.state = 0
	n, err := w.conn.Write(w.out.Buf)
	w.sent = w.sent || n > 0
	w.out.Buf = w.out.Buf[:0]
	return err
}

// next gives the next message that is about the run: its type and what follows its length,
// valid until the next call. After a timeout it can be called again.
func (w *wire) next() (kind byte, body []byte, err error) {
	for {
		kind, body, err = w.message()
		if err == nil && kind == frame.ReadyForQuery && len(body) == 1 {
			w.state = proxy.State(body[0])
		}
		if err != nil || !isAside(kind) && kind != frame.NotificationResponse {
			return kind, body, err
		}
		w.noteAside(kind, body)
	}
}

// noteAside notes what a message says that is about no statement (PostgreSQL manual, "Asynchronous
// Operations").
func (w *wire) noteAside(kind byte, body []byte) {
	if kind != frame.ParameterStatus {
		return
	}
	if w.reported == nil {
		w.reported = map[string]string{}
	}
	scan := frame.NewScan(body)
	name, value := string(scan.Text()), string(scan.Text())
	w.reported[name] = value
}

// message gives the next message, and of an error that is longer than anything may be its begin:
// it quotes a value that a client has sent.
func (w *wire) message() (kind byte, body []byte, err error) {
	for w.discard > 0 {
		if err := w.in.Need(1); err != nil {
			return 0, nil, err
		}
		n := min(w.discard, w.in.Unread())
		w.in.At, w.discard = w.in.At+n, w.discard-n
	}
	kind, length, err := w.in.Head()
	w.truncated = err == nil && kind == frame.ErrorResponse && length > max(w.in.Most, keptError)
	if !w.truncated {
		return w.in.Next()
	}
	if err := w.in.Need(headSize + keptError); err != nil {
		return 0, nil, err
	}
	body = w.in.Buf[w.in.At+headSize:][:keptError]
	clear(body[keptError-2:]) // the field ends here, and the message
	w.in.At, w.discard = w.in.At+headSize+keptError, length-keptError
	return kind, body, nil
}

// keptError is what is kept of a long error, in bytes: its message, which is shortened, comes early.
const keptError = 4 << 10

// isAside tells the messages that may come at any time and are about no statement.
func isAside(kind byte) bool { return kind == frame.NoticeResponse || kind == frame.ParameterStatus }

// idle ends a run: it gives back what was large, and tells whether nothing but whole
// messages that concern nobody was received. What else there is would be taken for the
// answer to the next statement.
func (w *wire) idle() bool {
	if w.discard > 0 {
		return false
	}
	for w.in.Unread() > 0 {
		kind, _, whole := frame.Peek(w.in.Buf[w.in.At:w.in.End])
		if !whole || !isAside(kind) {
			return false
		}
		kind, body, _ := w.in.Next() // it is whole
		w.noteAside(kind, body)
	}
	w.in.At, w.in.End = 0, 0
	if len(w.in.Buf) > receiveSize {
		w.in.Buf = nil
	}
	if cap(w.out.Buf) > sendSize {
		w.out.Buf = nil
	}
	return true
}
