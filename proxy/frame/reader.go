package frame

import (
	"encoding/binary"
	"errors"
	"io"
)

// What a Reader says of a message that it does not take.
var (
	ErrTooLong   = errors.New("a message is longer than it may be")
	ErrMalformed = errors.New("a message is malformed")
)

// Reader reads messages from From into Buf, which its owner gives; a message that does not
// fit makes it grow, up to Most. From At to End it is unread.
type Reader struct {
	From io.Reader
	Buf  []byte
	At   int
	End  int
	Most int // length of the longest content that is taken, in bytes
}

// Next gives the next message: its type and its content, valid until the next call. After a
// timeout it can be called again.
func (r *Reader) Next() (kind byte, body []byte, err error) {
	kind, length, err := r.Head()
	if err != nil {
		return 0, nil, err
	}
	if length > r.Most {
		return 0, nil, ErrTooLong
	}
	if err := r.Need(head + length); err != nil {
		return 0, nil, err
	}
	body = r.Buf[r.At+head : r.At+head+length]
	r.At += head + length
	return kind, body, nil
}

// Head gives the type of the next message and the length of its content, and leaves it
// unread.
func (r *Reader) Head() (kind byte, length int, err error) {
	if err := r.Need(head); err != nil {
		return 0, 0, err
	}
	length = int(binary.BigEndian.Uint32(r.Buf[r.At+1:])) - 4 // it counts itself
	if length < 0 {
		return 0, 0, ErrMalformed
	}
	return r.Buf[r.At], length, nil
}

// Need makes sure that n bytes are there unread. What was read before may be moved.
func (r *Reader) Need(n int) error {
	if r.End-r.At >= n {
		return nil
	}
	buf := r.Buf
	if n > len(buf) {
		buf = make([]byte, n)
	}
	r.End = copy(buf, r.Buf[r.At:r.End])
	r.At, r.Buf = 0, buf
	for r.End < n {
		got, err := r.From.Read(r.Buf[r.End:])
		r.End += got
		if err != nil && r.End < n {
			return err
		}
	}
	return nil
}

// Unread is how many bytes were received and not read.
func (r *Reader) Unread() int { return r.End - r.At }

// Peek tells whether b begins with a whole message, its type and how long it is in all.
func Peek(b []byte) (kind byte, size int, whole bool) {
	if len(b) < head {
		return 0, 0, false
	}
	length := int(binary.BigEndian.Uint32(b[1:]))
	return b[0], 1 + length, length >= 4 && len(b) > length
}
