package upstream

import (
	"crypto/rand"
	"encoding/binary"
	"strconv"
)

// seeds are what the generator of random() begins transactions with, one after the other. The operating
// system is asked for many of them at once, since to ask takes longer than all else here.
type seeds struct {
	bytes [512]byte
	left  int // of bytes
}

// appendNext writes the next one as setseed takes it: a number between -1 and 1, of which Postgres
// uses 53 bits (pg_prng_fseed).
func (s *seeds) appendNext(dst []byte) []byte {
	const size = 8
	if s.left == 0 {
		_, _ = rand.Read(s.bytes[:]) // it never fails
		s.left = len(s.bytes)
	}
	s.left -= size
	bits := binary.LittleEndian.Uint64(s.bytes[s.left:])
	if bits>>63 == 1 {
		dst = append(dst, '-')
	}
	return append(strconv.AppendUint(dst, bits%1e18, 10), "e-18"...)
}
