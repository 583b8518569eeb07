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
	ended  bool // by the marker of the text format
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
			if l.done++; l.done < len(data) && data[l.done] == '.' { // else it ends no line, whatever it is
				return l.marker(data, last)
			}
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

// marker ends the data of the text format, and the line that it stands behind. The '.' of it is
// where next has come to.
func (l *lines) marker(data []byte, last bool) (line []byte, taken int, err error) {
	after := l.done + 1
	switch {
	case after == len(data) && !last:
		l.done--
		return nil, 0, nil
	case after == len(data), data[after] != '\n' && data[after] != '\r':
		return nil, 0, badCopy("end-of-copy marker corrupt")
	}
	l.ended = true
	return data[:l.done-1], after, nil
}

// inQuotes passes one character, or an escaped one, of a quoted value. It is false where
// more data is needed.
func (l *lines) inQuotes(data []byte, last bool) bool {
	b, after := data[l.done], l.done+1
	if b == l.escape {
		if after == len(data) && !last {
			return false
		}
		if after < len(data) && (data[after] == l.quote || data[after] == l.escape) {
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

// lineRows reads the formats of COPY whose rows are lines.
type lineRows struct {
	lines
	style policy.CopyStyle
	begun bool
	// value reads a value of a line, and tells whether there is one more.
	value func(style *policy.CopyStyle, line []byte, r *rowValues) (rest []byte, more bool)
}

// endOfData is a line that ends the data of the CSV format.
var endOfData = []byte(`\.`)

func (l *lineRows) row(data []byte, last bool, r *rowValues) (taken int, err error) {
	if len(data) == 0 || l.ended {
		return -1, nil
	}
	line, taken, err := l.next(data, last)
	switch {
	case err != nil || taken == 0:
		return 0, err
	case l.ended && len(line) == 0, l.csv && bytes.Equal(line, endOfData):
		return -1, nil
	case !l.begun && l.style.Header:
		l.begun, r.header = true, true
		return taken, nil
	}
	l.begun = true
	for more := true; more; {
		line, more = l.value(&l.style, line, r)
		if len(r.ends) > l.style.Columns {
			break
		}
	}
	return taken, checkCount(len(r.ends), l.style.Columns)
}
