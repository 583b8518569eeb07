package policy

import (
	"fmt"
	"strings"
)

// Position is a place in a policy file. The zero value is no place.
type Position struct {
	Line   int // from 1
	Column int // from 1, in characters
}

// FileError is a mistake in a policy file, with its place.
type FileError struct {
	Position
	Message string // what is wrong and what to write instead
	Excerpt string // the lines around the place, with a mark; for a terminal
}

// Error tells place and message in one line.
func (e *FileError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// Mistake makes the error for a place in the file, for checks that need more than the
// file to find it.
func (f *File) Mistake(at Position, format string, args ...any) *FileError {
	return mistake(f.source, at, format, args...)
}

func mistake(source string, at Position, format string, args ...any) *FileError {
	if at.Line < 1 || at.Column < 1 {
		at = Position{Line: 1, Column: 1}
	}
	return &FileError{Position: at, Message: fmt.Sprintf(format, args...), Excerpt: excerpt(source, at)}
}

// excerpt shows the line of a place between its neighbours, with a mark beneath. Lines
// are cut, so that one mistake in a huge file is still a small message.
func excerpt(source string, at Position) string {
	const before, after, width = 2, 1, 120
	lines := strings.Split(newlines(source), "\n")
	var b strings.Builder
	for i := max(0, at.Line-1-before); i < min(len(lines), at.Line+after); i++ {
		mark := "  "
		if i+1 == at.Line {
			mark = "> "
		}
		fmt.Fprintf(&b, "%s%4d | %s\n", mark, i+1, cut(printable(lines[i]), width))
		if i+1 == at.Line && at.Column <= width {
			fmt.Fprintf(&b, "       | %s^\n", strings.Repeat(" ", at.Column-1))
		}
	}
	return b.String()
}

// newlines gives the text with each of YAML's three line ends as \n.
func newlines(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// printable replaces what would move the mark or the terminal's state.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r < ' ' || r == 0x7f:
			return '?'
		}
		return r
	}, s)
}

// cut shortens s to at most n characters.
func cut(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + "…"
}
