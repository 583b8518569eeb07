package values

import (
	"bytes"
	"errors"
	"slices"
)

// errArray says that a text is not what Postgres prints for an array.
var errArray = errors.New("encoding an array: its text is malformed")

// array appends an array as nested JSON arrays, one level per dimension. The text is
// array_out's: braces, elements that are quoted where needed, NULL, and before it all the
// bounds ("[2:3]={7,8}") where one does not start at 1. JSON has no bounds: they are left out.
func (e *Encoder) array(dst []byte, t Type, v []byte) ([]byte, error) {
	if len(v) > 0 && v[0] == '[' {
		v = v[bytes.IndexByte(v, '=')+1:]
	}
	if len(v) >= long {
		dst = slices.Grow(dst, max(0, min(len(v), e.Most-len(dst))))
	}
	var depth, n int
	var err error
	for i := 0; i < len(v); {
		switch c := v[i]; {
		case c == '{':
			depth++
			dst, i = append(dst, '['), i+1
		case depth == 0:
			return dst, errArray // something before or after the braces
		case c == '}':
			depth--
			dst, i = append(dst, ']'), i+1
		case c == t.delim:
			dst, i = append(dst, ','), i+1
		default:
			if dst, n, err = e.element(dst, t, v[i:]); err != nil {
				return dst, err
			}
			i += n
		}
	}
	if depth != 0 || len(v) == 0 {
		return dst, errArray
	}
	return dst, nil
}

// element appends the element that v starts with and tells its length in v.
func (e *Encoder) element(dst []byte, t Type, v []byte) ([]byte, int, error) {
	if v[0] != '"' {
		n := 0
		for n < len(v) && v[n] != t.delim && v[n] != '}' {
			n++
		}
		if string(v[:n]) == "NULL" {
			return append(dst, "null"...), n, nil
		}
		dst, err := e.scalar(dst, t.elem, v[:n])
		return dst, n, err
	}
	text, n, err := e.unquote(v)
	if err != nil {
		return dst, 0, err
	}
	dst, err = e.scalar(dst, t.elem, text)
	return dst, n, err
}

// unquote gives the text of the quoted element that v starts with, and its length in v,
// quotes included. The text is valid until the next call.
func (e *Encoder) unquote(v []byte) ([]byte, int, error) {
	end := closing(v)
	if end < 0 {
		return nil, 0, errArray
	}
	text := v[1:end]
	if bytes.IndexByte(text, '\\') < 0 {
		return text, end + 1, nil
	}
	e.scratch = slices.Grow(e.scratch[:0], len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' {
			i++ // closing saw that there is one more
		}
		e.scratch = append(e.scratch, text[i])
	}
	return e.scratch, end + 1, nil
}

// closing gives the place of the quotation mark that ends what the first one begins; -1
// when there is none.
func closing(v []byte) int {
	for i := 1; i < len(v); i++ {
		switch v[i] {
		case '"':
			return i
		case '\\':
			i++
		}
	}
	return -1
}
