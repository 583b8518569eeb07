package policy

import (
	"strings"
	"unicode/utf8"

	"github.com/tenantgate/tenantgate/policy/sqltree"
)

// Statements cuts a text as Split does, at a cost that grows with its length alone: only so
// much of it is looked at for each statement. There may be at most so many, with those that are
// nothing but comments; it is false where there are more. What the lexer gives up on, or finds
// to be longer than any policy admits, is one piece with all that follows, for Decide to refuse.
// The pieces are substrings of the text.
func Statements(text string, most int) (pieces []string, ok bool) {
	for range most {
		if text = strings.TrimLeft(text, "; \t\r\n\f\v"); text == "" {
			return pieces, true
		}
		_, fault := sqltree.Translate(window(text), sqltree.Guard{MaxBytes: maxWindow})
		end, next := len(text), len(text)
		switch {
		case fault == nil || fault.Code != sqltree.MultipleStatements && fault.Code != sqltree.EmptyQuery:
		case fault.Code == sqltree.EmptyQuery && len(text) <= maxWindow:
			return pieces, true
		case fault.Code == sqltree.MultipleStatements:
			end, next = fault.Offset, fault.Offset+1
		}
		pieces = append(pieces, strings.TrimSpace(text[:end]))
		text = text[next:]
	}
	return pieces, strings.Trim(text, "; \t\r\n\f\v") == ""
}

// maxWindow is how much of a text is looked at for a statement, in bytes: more than any may have.
const maxWindow = 2 * maxStatementBytes

// window is the front of a text, cut between two characters.
func window(text string) string {
	if len(text) <= maxWindow {
		return text
	}
	end := maxWindow
	for end > maxWindow-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
