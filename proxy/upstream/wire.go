package upstream

import (
	"net"

	"github.com/tenantgate/tenantgate/proxy/frame"
)

// wire is the client's side of Postgres' protocol, version 3 (PostgreSQL manual, "Message
// Flow"), on a connection that pgconn has opened. pgconn's own pipeline would cost a
// statement ten microseconds, and its rows a copy. A run writes messages into out
// (frames.go), sends them with flush, and reads the answers one by one. Between two runs the
// connection is pgconn's: nothing may be left in here then (idle).
type wire struct {
	conn net.Conn
	out  frame.Writer // messages to be sent
	in   frame.Reader // from conn, as pgconn reads it: after a slow write it may have read ahead
	sent bool         // since begin
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
	n, err := w.conn.Write(w.out.Buf)
	w.sent = w.sent || n > 0
	w.out.Buf = w.out.Buf[:0]
	return err
}

// next gives the next message that is about the run: its type and what follows its length,
// valid until the next call. After a timeout it can be called again.
func (w *wire) next() (kind byte, body []byte, err error) {
	for {
		kind, body, err = w.in.Next()
		if err != nil || !aside(kind) && kind != frame.NotificationResponse {
			return kind, body, err
		}
	}
}

// aside tells the messages that may come at any time and are about no statement.
func aside(kind byte) bool { return kind == frame.NoticeResponse || kind == frame.ParameterStatus }

// idle ends a run: it gives back what was large, and tells whether nothing but whole
// messages that concern nobody was received. What else there is would be taken for the
// answer to the next statement.
func (w *wire) idle() bool {
	for w.in.Unread() > 0 {
		kind, _, whole := frame.Peek(w.in.Buf[w.in.At:w.in.End])
		if !whole || !aside(kind) {
			return false
		}
		_, _, _ = w.in.Next() // it is whole
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
