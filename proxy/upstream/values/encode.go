package values

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/tenantgate/tenantgate/proxy/frame"
)

// Encoder appends values as JSON to a buffer. It serves one statement. It stops with
// ErrLimit before a value that would make the buffer longer than Most, give or take
// some short ones: an escape makes one byte six, and a row can be as long as the limit
// before them.
type Encoder struct {
	Int8AsString bool // asks for int8 and numeric as JSON strings, inside arrays too
	Most         int  // length of the buffer, in bytes

	scratch []byte // an array element without its escapes
}

// ErrLimit is the error of a value that would make the buffer too long.
var ErrLimit = errors.New("beyond the limits")

// long is the length from which on a text is measured before it is encoded, in bytes.
const long = 64 << 10

// Fits tells whether the buffer may grow by n bytes.
func (e *Encoder) Fits(dst []byte, n int) bool { return len(dst)+n <= e.Most }

// AppendHead appends the names of the columns and opens the rows.
func AppendHead(dst []byte, columns []frame.Column) []byte {
	dst = append(dst, `"columns":[`...)
	for i, c := range columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, []byte(c.Name))
	}
	return append(dst, `],"rows":[`...)
}

// Row appends one row, a DataRow's content, as an array.
func (e *Encoder) Row(dst []byte, columns []Type, row []byte) ([]byte, error) {
	n, row, err := cells(row)
	if err == nil && n != len(columns) {
		err = fmt.Errorf("encoding a row: %d values for %d columns", n, len(columns))
	}
	if err != nil {
		return dst, err
	}
	dst = append(dst, '[')
	for i, t := range columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		var v []byte
		if v, row, err = cell(row); err != nil {
			return dst, err
		}
		if dst, err = e.value(dst, t, v); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

// value appends one value; nil is null.
func (e *Encoder) value(dst []byte, t Type, v []byte) ([]byte, error) {
	switch {
	case v == nil:
		return append(dst, "null"...), nil
	case t.kind == arrayKind:
		return e.array(dst, t, v)
	default:
		return e.scalar(dst, t.kind, v)
	}
}

// scalar appends a value that is neither null nor an array.
func (e *Encoder) scalar(dst []byte, k kind, v []byte) ([]byte, error) {
	if k != byteaKind && !e.Fits(dst, len(v)) {
		return dst, ErrLimit
	}
	switch k {
	case boolKind:
		return appendBool(dst, v)
	case numberKind:
		return appendNumber(dst, v, false), nil
	case exactKind:
		return appendNumber(dst, v, e.Int8AsString), nil
	case jsonKind:
		return append(dst, v...), nil
	case byteaKind:
		return e.bytea(dst, v)
	case timestampKind, timestamptzKind:
		return appendTimestamp(dst, v, k == timestamptzKind), nil
	default:
		return e.text(dst, v)
	}
}

// text appends a text of any length as a JSON string.
func (e *Encoder) text(dst, v []byte) ([]byte, error) {
	if len(v) >= long {
		n := stringLen(v)
		if !e.Fits(dst, n) {
			return dst, ErrLimit
		}
		dst = slices.Grow(dst, n)
	}
	return appendString(dst, v), nil
}

func appendBool(dst, v []byte) ([]byte, error) {
	switch string(v) {
	case "t":
		return append(dst, "true"...), nil
	case "f":
		return append(dst, "false"...), nil
	default:
		return dst, fmt.Errorf("encoding a bool: %d bytes that are neither t nor f", len(v))
	}
}

// appendNumber appends Postgres' digits, which JSON's grammar admits as they are; NaN
// and the infinities have no number in JSON and become strings.
func appendNumber(dst, v []byte, quoted bool) []byte {
	last := len(v) - 1
	if !quoted && last >= 0 && v[last] >= '0' && v[last] <= '9' {
		return append(dst, v...)
	}
	return appendString(dst, v)
}

// appendTimestamp turns Postgres' "2026-01-31 09:15:00.5+00" into ISO 8601. Infinities
// and years before Christ, which ISO 8601 can't say alike, stay Postgres' text.
func appendTimestamp(dst, v []byte, zoned bool) []byte {
	blank := bytes.IndexByte(v, ' ')
	if blank < 0 || v[len(v)-1] == 'C' {
		return appendString(dst, v)
	}
	dst = append(dst, '"')
	dst = append(dst, v[:blank]...)
	dst = append(dst, 'T')
	rest := v[blank+1:]
	if clock, utc := bytes.CutSuffix(rest, []byte("+00")); zoned && utc {
		dst = append(append(dst, clock...), 'Z')
	} else {
		dst = append(dst, rest...)
	}
	return append(dst, '"')
}

// bytea turns hex into standard base64 (RFC 4648 §4), in pieces on the stack.
func (e *Encoder) bytea(dst, v []byte) ([]byte, error) {
	digits, ok := bytes.CutPrefix(v, []byte(`\x`))
	if !ok {
		return dst, fmt.Errorf("encoding a bytea: not in hex")
	}
	var piece [768]byte // a multiple of 3, so that only the last piece is padded
	length := base64.StdEncoding.EncodedLen(len(digits)/2) + 2
	if !e.Fits(dst, length) {
		return dst, ErrLimit
	}
	dst = slices.Grow(dst, length)
	dst = append(dst, '"')
	for len(digits) > 0 {
		n, err := hex.Decode(piece[:], digits[:min(len(digits), 2*len(piece))])
		if err != nil {
			return dst, fmt.Errorf("encoding a bytea: its hex is broken")
		}
		dst = base64.StdEncoding.AppendEncode(dst, piece[:n])
		digits = digits[2*n:]
	}
	return append(dst, '"'), nil
}
