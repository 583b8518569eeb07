package wire

import "github.com/tenantgate/tenantgate/policy"

// textValue reads a value of the text format (PostgreSQL manual, COPY, "Text Format").
func textValue(style *policy.CopyStyle, line []byte, r *rowValues) (rest []byte, more bool) {
	start, at := len(r.memory), 0
	for ; at < len(line) && line[at] != style.Delimiter; at++ {
		b := line[at]
		if b == '\\' {
			if at+1 == len(line) {
				continue // at the data's end it says nothing
			}
			var took int
			b, took = unescape(line[at+1:])
			at += took
		}
		r.memory = append(r.memory, b)
	}
	null := string(line[:at]) == style.Null
	if null {
		r.memory = r.memory[:start]
	}
	r.shut(null)
	if at == len(line) {
		return nil, false
	}
	return line[at+1:], true
}

// unescape gives the character that stands behind a backslash, and how many bytes say so.
func unescape(b []byte) (byte, int) {
	switch b[0] {
	case 'b':
		return '\b', 1
	case 'f':
		return '\f', 1
	case 'n':
		return '\n', 1
	case 'r':
		return '\r', 1
	case 't':
		return '\t', 1
	case 'v':
		return '\v', 1
	case 'x':
		if v, n := digits(b[1:], 16, 2); n > 0 {
			return v, 1 + n
		}
	case '0', '1', '2', '3', '4', '5', '6', '7':
		return digits(b, 8, 3)
	}
	return b[0], 1
}

// digits reads a number of at most so many digits.
func digits(b []byte, base, most int) (v byte, n int) {
	for n < len(b) && n < most {
		d := 255
		switch c := b[n]; {
		case c >= '0' && c <= '9':
			d = int(c - '0')
		case c >= 'a' && c <= 'f':
			d = int(c-'a') + 10
		case c >= 'A' && c <= 'F':
			d = int(c-'A') + 10
		}
		if d >= base {
			break
		}
		v = byte(int(v)*base + d) //nolint:gosec // it wraps around in Postgres, too
		n++
	}
	return v, n
}

// csvValue reads a value of the CSV format (PostgreSQL manual, COPY, "CSV Format"). Quotes may
// begin and end anywhere in it.
func csvValue(style *policy.CopyStyle, line []byte, r *rowValues) (rest []byte, more bool) {
	start, at, quoted, wasQuoted := len(r.memory), 0, false, false
	for ; at < len(line) && (quoted || line[at] != style.Delimiter); at++ {
		b := line[at]
		switch {
		case quoted && b == style.Escape && at+1 < len(line) && (line[at+1] == style.Quote || line[at+1] == style.Escape):
			at++
			r.memory = append(r.memory, line[at])
		case b == style.Quote:
			quoted, wasQuoted = !quoted, true
		default:
			r.memory = append(r.memory, b)
		}
	}
	null := !wasQuoted && string(line[:at]) == style.Null
	if null {
		r.memory = r.memory[:start]
	}
	r.shut(null)
	if at == len(line) {
		return nil, false
	}
	return line[at+1:], true
}
