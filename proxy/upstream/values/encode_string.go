package values

import (
	"encoding/binary"
	"math/bits"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// appendString appends s as a JSON string (RFC 8259 §7). s must be UTF-8, which Postgres
// guarantees for a session whose encoding it is.
func appendString(dst, s []byte) []byte {
	dst = append(dst, '"')
	dst = appendChars(dst, s)
	return append(dst, '"')
}

// stringLen is the length of s as a JSON string, in bytes.
func stringLen(s []byte) int {
	var escape [6]byte
	n := len(s) + 2
	for {
		clean := cleanPrefix(s)
		if clean == len(s) {
			return n
		}
		n += len(appendEscape(escape[:0], s[clean])) - 1
		s = s[clean+1:]
	}
}

// appendChars appends s with what a JSON string must escape escaped, without quotes.
func appendChars(dst, s []byte) []byte {
	for {
		clean := cleanPrefix(s)
		dst = append(dst, s[:clean]...)
		if clean == len(s) {
			return dst
		}
		dst = appendEscape(dst, s[clean])
		s = s[clean+1:]
	}
}

// cleanPrefix counts the bytes at the start of s that need no escape, eight at a time.
func cleanPrefix(s []byte) int {
	n := 0
	for ; n+8 <= len(s); n += 8 {
		if found := toEscape(binary.LittleEndian.Uint64(s[n:])); found != 0 {
			return n + bits.TrailingZeros64(found)/8
		}
	}
	rest := len(s) - n
	if n > 0 && rest > 0 { // the last eight once more, but for those that were seen
		found := toEscape(binary.LittleEndian.Uint64(s[len(s)-8:])) >> (8 * (8 - rest))
		if found != 0 {
			return n + bits.TrailingZeros64(found)/8
		}
		return len(s)
	}
	for n < len(s) && !mustEscape(s[n]) {
		n++
	}
	return n
}

// toEscape sets the high bit of each byte of w that is below 0x20, '"' or '\\'. Bytes above
// the first such one may be marked too.
func toEscape(w uint64) uint64 {
	quote, slash := w^(ones*'"'), w^(ones*'\\')
	return ((w-ones*0x20)&^w | (quote-ones)&^quote | (slash-ones)&^slash) & highs
}

func mustEscape(c byte) bool { return c < 0x20 || c == '"' || c == '\\' }

func appendEscape(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	default:
		return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
	}
}
