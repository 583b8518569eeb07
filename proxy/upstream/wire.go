package upstream

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
)

// wire is the client's side of Postgres' protocol, version 3 (PostgreSQL manual, "Message
// Flow"), on a connection that pgconn has opened. pgconn's own pipeline would cost a
// statement ten microseconds, and its rows a copy. A run writes messages into out
// (frames.go), sends them with flush, and reads the answers one by one. Between two runs the
// connection is pgconn's: nothing may be left in here then (idle).
type wire struct {
	conn net.Conn
	in   io.Reader // conn, as pgconn reads it: after a slow write it may have read ahead
	out  []byte    // messages to be sent
	buf  []byte    // what was received; from at to end it is unread
	at   int
	end  int
	most int  // length of the longest message that is taken, in bytes
	sent bool // since begin
}

const (
	receiveSize = 32 << 10 // of the buffer that a connection keeps, in bytes
	sendSize    = 16 << 10 // likewise
)

var (
	errTooLong   = errors.New("a message is longer than the result may be")
	errMalformed = errors.New("a message is malformed")
)

// begin makes the wire ready for a run.
func (w *wire) begin() {
	w.out, w.sent = w.out[:0], false
	if w.buf == nil {
		w.buf = make([]byte, receiveSize)
	}
}

// flush sends what was written.
func (w *wire) flush() error {
	n, err := w.conn.Write(w.out)
	w.sent = w.sent || n > 0
	w.out = w.out[:0]
	return err
}

// next gives the next message that is about the run: its type and what follows its length,
// valid until the next call. After a timeout it can be called again.
func (w *wire) next() (kind byte, body []byte, err error) {
	for {
		kind, body, err = w.message()
		if err != nil || kind != noticeResponse && kind != parameterStatus && kind != notificationResponse {
			return kind, body, err
		}
	}
}

func (w *wire) message() (kind byte, body []byte, err error) {
	const head = 5
	if err := w.need(head); err != nil {
		return 0, nil, err
	}
	length := int(binary.BigEndian.Uint32(w.buf[w.at+1:])) - 4 // it counts itself
	switch {
	case length < 0:
		return 0, nil, errMalformed
	case length > w.most:
		return 0, nil, errTooLong
	}
	if err := w.need(head + length); err != nil {
		return 0, nil, err
	}
	kind, body = w.buf[w.at], w.buf[w.at+head:w.at+head+length]
	w.at += head + length
	return kind, body, nil
}

// need makes sure that n bytes are there unread.
func (w *wire) need(n int) error {
	if w.end-w.at >= n {
		return nil
	}
	buf := w.buf
	if n > len(buf) {
		buf = make([]byte, n)
	}
	w.end = copy(buf, w.buf[w.at:w.end])
	w.at, w.buf = 0, buf
	for w.end < n {
		got, err := w.in.Read(w.buf[w.end:])
		w.end += got
		if err != nil && w.end < n {
			return err
		}
	}
	return nil
}

// idle ends a run: it gives back what was large, and tells whether nothing but whole
// messages that concern nobody was received. What else there is would be taken for the
// answer to the next statement.
func (w *wire) idle() bool {
	for w.at < w.end {
		kind, _, whole := peek(w.buf[w.at:w.end])
		if !whole || kind != noticeResponse && kind != parameterStatus {
			return false
		}
		_, _, _ = w.message() // it is whole
	}
	w.at, w.end = 0, 0
	if len(w.buf) > receiveSize {
		w.buf = nil
	}
	if cap(w.out) > sendSize {
		w.out = nil
	}
	return true
}

// peek tells whether b begins with a whole message, and which.
func peek(b []byte) (kind byte, length int, whole bool) {
	if len(b) < 5 {
		return 0, 0, false
	}
	length = int(binary.BigEndian.Uint32(b[1:]))
	return b[0], length, length >= 4 && len(b) > length
}
