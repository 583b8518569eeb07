package wire

import (
	"bytes"

	"github.com/tenantgate/tenantgate/policy"
)

// lines cuts text into lines. It goes on where it left off, so that a long line which comes
// in pieces is looked at once.
type lines struct {
	csv           bool
	quote, escape byte // of CSV

	done   int // bytes of the line that were looked at
	quoted bool
	ending lineEnd
}

// lineEnd is how lines end: as the first one does.
type lineEnd uint8

const (
	unknownEnding lineEnd = iota
	newline
	carriage
	both
)

// next gives the first line of the data, and how many bytes it takes with its end; 0 where
// it is not all there.
func (l *lines) next(data []byte, last bool) (line []byte, taken int, err error) {
	for l.done < len(data) {
		b := data[l.done]
		switch {
		case l.csv && l.quoted:
			if !l.inQuotes(data, last) {
				return nil, 0, nil
			}
			continue
		case l.csv && b == l.quote:
			l.quoted = true
		case !l.csv && b == '\\':
			if l.done+1 == len(data) && !last {
				return nil, 0, nil
			}
			l.done++ // whatever it is, it ends no line
		case b == '\n' || b == '\r':
			taken, err := l.end(data, last)
			if taken == 0 || err != nil {
				return nil, 0, err
			}
			line = data[:l.done]
			l.done = 0
			return line, taken, nil
		}
		l.done++
	}
	switch {
	case !last:
		return nil, 0, nil
	case l.quoted:
		return nil, 0, badCopy("unterminated CSV quoted field")
	}
	l.done = 0
	return data, len(data), nil
}

// inQuotes passes one character, or an escaped one, of a quoted value. It is false where
// more data is needed.
func (l *lines) inQuotes(data []byte, last bool) bool {
	b, ahead := data[l.done], l.done+1
	if b == l.escape {
		if ahead == len(data) && !last {
			return false
		}
		if ahead < len(data) && (data[ahead] == l.quote || data[ahead] == l.escape) {
			l.done += 2
			return true
		}
	}
	if b == l.quote {
		l.quoted = false
	}
	l.done++
	return true
}

// end tells how many bytes the line takes that ends here.
func (l *lines) end(data []byte, last bool) (taken int, err error) {
	found := newline
	if data[l.done] == '\r' {
		if l.done+1 == len(data) && !last {
			return 0, nil
		}
		if found = carriage; l.done+1 < len(data) && data[l.done+1] == '\n' {
			found = both
		}
	}
	if l.ending == unknownEnding {
		l.ending = found
	}
	switch {
	case l.ending == carriage && found == both:
		return l.done + 1, nil // an empty line follows, which is faulty by itself
	case found != l.ending && found == newline:
		return 0, badCopy("literal newline found in data")
	case found != l.ending:
		return 0, badCopy("literal carriage return found in data")
	case found == both:
		return l.done + 2, nil
	}
	return l.done + 1, nil
}

// textRows reads the text format of COPY (PostgreSQL manual, COPY, "Text Format").
type textRows struct {
	lines
	style policy.CopyStyle
	begun bool
}

// endOfData is a line that ends the data.
var endOfData = []byte(`\.`)

func (t *textRows) row(data []byte, last bool, r *rowValues) (taken int, err error) {
	if len(data) == 0 {
		return -1, nil
	}
	line, taken, err := t.next(data, last)
	switch {
	case err != nil || taken == 0:
		return 0, err
	case bytes.Equal(line, endOfData):
		return -1, nil
	case !t.begun && t.style.Header:
		t.begun, r.header = true, true
		return taken, nil
	}
	t.begun = true
	for more := true; more; {
		line, more = t.value(line, r)
		if len(r.ends) > t.style.Columns {
			break
		}
	}
	return taken, checkCount(len(r.ends), t.style.Columns)
}

// value reads a value, and tells whether there is one more.
func (t *textRows) value(line []byte, r *rowValues) (rest []byte, more bool) {
	start, at := len(r.memory), 0
	for ; at < len(line) && line[at] != t.style.Delimiter; at++ {
		b := line[at]
		if b == '\\' && at+1 < len(line) {
			var took int
			b, took = unescape(line[at+1:])
			at += took
		}
		r.memory = append(r.memory, b)
	}
	null := string(line[:at]) == t.style.Null
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

// csvRows reads the CSV format of COPY (PostgreSQL manual, COPY, "CSV Format").
type csvRows struct {
	lines
	style policy.CopyStyle
	begun bool
}

func (c *csvRows) row(data []byte, last bool, r *rowValues) (taken int, err error) {
	if len(data) == 0 {
		return -1, nil
	}
	line, taken, err := c.next(data, last)
	switch {
	case err != nil || taken == 0:
		return 0, err
	case bytes.Equal(line, endOfData):
		return -1, nil
	case !c.begun && c.style.Header:
		c.begun, r.header = true, true
		return taken, nil
	}
	c.begun = true
	for more := true; more; {
		line, more = c.value(line, r)
		if len(r.ends) > c.style.Columns {
			break
		}
	}
	return taken, checkCount(len(r.ends), c.style.Columns)
}

// value reads a value, and tells whether there is one more. Quotes may begin and end
// anywhere in it.
func (c *csvRows) value(line []byte, r *rowValues) (rest []byte, more bool) {
	start, at, quoted, wasQuoted := len(r.memory), 0, false, false
	for ; at < len(line) && (quoted || line[at] != c.style.Delimiter); at++ {
		b := line[at]
		switch {
		case quoted && b == c.style.Escape && at+1 < len(line) && (line[at+1] == c.style.Quote || line[at+1] == c.style.Escape):
			at++
			r.memory = append(r.memory, line[at])
		case b == c.style.Quote:
			quoted, wasQuoted = !quoted, true
		default:
			r.memory = append(r.memory, b)
		}
	}
	null := !wasQuoted && string(line[:at]) == c.style.Null
	if null {
		r.memory = r.memory[:start]
	}
	r.shut(null)
	if at == len(line) {
		return nil, false
	}
	return line[at+1:], true
}
