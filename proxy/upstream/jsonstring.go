package upstream

import "encoding/binary"

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
	for i := cleanPrefix(s); i < len(s); {
		c := s[i]
		i++
		if mustEscape(c) {
			n += len(appendEscape(escape[:0], c)) - 1
			i += cleanPrefix(s[i:])
		}
	}
	return n
}

// appendChars appends s with what a JSON string must escape escaped, without quotes.
func appendChars(dst, s []byte) []byte {
	done := 0
	for i := cleanPrefix(s); i < len(s); {
		c := s[i]
		if !mustEscape(c) {
			i++
			continue
		}
		dst = append(dst, s[done:i]...)
		dst = appendEscape(dst, c)
		i++
		done = i
		i += cleanPrefix(s[i:])
	}
	return append(dst, s[done:]...)
}

// cleanPrefix counts bytes at the start of s that need no escape, eight at a time; it
// may stop early.
func cleanPrefix(s []byte) int {
	n := 0
	for n+8 <= len(s) {
		w := binary.LittleEndian.Uint64(s[n:])
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		// The high bit of a byte is set where the byte is below 0x20, '"' or '\\'.
		dirty := (w-ones*0x20)&^w | (quote-ones)&^quote | (slash-ones)&^slash
		if dirty&highs != 0 {
			return n
		}
		n += 8
	}
	return n
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
