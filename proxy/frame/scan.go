package frame

import (
	"bytes"
	"encoding/binary"
)

// Scan reads the content of a message from its begin to its end. What is not there reads
// as zero, and Whole tells of it: so a decoder reads all it wants and asks once.
type Scan struct {
	rest   []byte
	broken bool
}

// NewScan reads a content. What it gives is a view of it.
func NewScan(body []byte) Scan { return Scan{rest: body} }

// Whole tells whether everything that was read was there, and nothing is left.
func (s *Scan) Whole() bool { return !s.broken && len(s.rest) == 0 }

// Broken tells whether something that was read was not there.
func (s *Scan) Broken() bool { return s.broken }

// Bytes reads n bytes.
func (s *Scan) Bytes(n int) []byte {
	if n < 0 || n > len(s.rest) {
		s.broken, s.rest = true, nil
		return nil
	}
	b := s.rest[:n:n]
	s.rest = s.rest[n:]
	return b
}

// Byte reads one byte.
func (s *Scan) Byte() byte {
	if b := s.Bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// Int16 reads a 16-bit integer without a sign, as counts and format codes are.
func (s *Scan) Int16() int {
	if b := s.Bytes(2); b != nil {
		return int(binary.BigEndian.Uint16(b))
	}
	return 0
}

// Int32 reads a 32-bit integer with its sign, as lengths and counts of rows are.
func (s *Scan) Int32() int {
	if b := s.Bytes(4); b != nil {
		return int(int32(binary.BigEndian.Uint32(b))) //nolint:gosec // -1 is NULL
	}
	return 0
}

// Text reads up to a zero, and the zero.
func (s *Scan) Text() []byte {
	end := bytes.IndexByte(s.rest, 0)
	if end < 0 {
		s.broken, s.rest = true, nil
		return nil
	}
	text := s.Bytes(end)
	_ = s.Bytes(1)
	return text
}

// Value reads a value with its length; nil is NULL, or nothing that was there.
func (s *Scan) Value() []byte {
	switch n := s.Int32(); {
	case n >= 0:
		return s.Bytes(n)
	case n != -1:
		s.broken, s.rest = true, nil
	}
	return nil
}
