package upstream

import (
	"crypto/rand"
	"encoding/binary"
	"math"
)

// seeds are what the generator of random() begins transactions with, one after the other. The operating
// system is asked for many of them at once, since to ask takes longer than all else here.
type seeds struct {
	bytes [512]byte
	left  int // of bytes
}

// appendNext writes the next one as setseed takes it in binary format: a number from -1 to 1, of which Postgres
// uses 53 bits (pg_prng_fseed).
func (s *seeds) appendNext(dst []byte) []byte {
	const size = 8
	if s.left == 0 {
		_, _ = rand.Read(s.bytes[:]) // it never fails
		s.left = len(s.bytes)
	}
	s.left -= size
	n := float64(int64(binary.LittleEndian.Uint64(s.bytes[s.left:]))) / (1 << 63) //nolint:gosec // any bits will do
	return binary.BigEndian.AppendUint64(dst, math.Float64bits(n))
}
