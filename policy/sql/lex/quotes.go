package lex

import (
	"strings"

	"github.com/tenantgate/tenantgate/policy/sql/refusal"
)

// quoteKind says how a string ends.
type quoteKind uint8

const (
	plainString  quoteKind = iota // '' is a quote
	escapeString                  // '' is a quote, and a backslash takes the next byte
	bitString                     // the first quote ends it: B'1''0' is two constants
)

// quoted reads a string; body is the offset behind its opening quote.
func (l *lexer) quoted(body int, kind quoteKind) {
	for at := body; at < len(l.text); at++ {
		switch c := l.text[at]; {
		case c == '\\' && kind == escapeString:
			at++
		case c != '\'':
		case kind != bitString && l.peek(at+1) == '\'':
			at++
		default:
			next, more := l.continued(at + 1)
			if l.fault != nil {
				return
			}
			if !more {
				l.emit(String, at+1)
				return
			}
			at = next // the kind stays: E'a' and '\'' on the next line are one E string
		}
	}
	l.refuse(SyntaxError(l.pos, "unterminated quoted string"))
}

// continued tells whether a string goes on behind its closing quote, as it does where
// another quote follows on a later line, and gives the offset of that quote. A comment
// in between is refused: Postgres takes it for white space, while the grammar that
// judges the text ends the string there, and the two would see different strings.
func (l *lexer) continued(at int) (quote int, ok bool) {
	newline, comment := false, -1
	for at < len(l.text) {
		switch c := l.text[at]; {
		case isSpace(c):
			newline = newline || c == '\n' || c == '\r'
			at++
		case c == '-' && l.peek(at+1) == '-':
			comment = at
			at = l.lineEnd(at)
		case c == '\'' && newline && comment >= 0:
			l.refuse(refusal.Unsupported(comment, "a comment inside a string constant that continues on a later line is not supported"))
			return 0, false
		default:
			return at, c == '\'' && newline
		}
	}
	return at, false
}

// quotedIdent reads "…". Postgres refuses an empty one.
func (l *lexer) quotedIdent() {
	for at := l.pos + 1; at < len(l.text); at++ {
		if l.text[at] != '"' {
			continue
		}
		if l.peek(at+1) == '"' {
			at++
			continue
		}
		if at == l.pos+1 {
			l.refuse(SyntaxError(l.pos, "zero-length delimited identifier"))
			return
		}
		l.emit(QuotedIdent, at+1)
		return
	}
	l.refuse(SyntaxError(l.pos, "unterminated quoted identifier"))
}

// dollar reads $1 or $tag$…$tag$; any other $ is a sign that no statement has a use for.
func (l *lexer) dollar() {
	at := l.pos + 1
	if IsDigit(l.peek(at)) {
		l.param(at)
		return
	}
	for isIdentStart(l.peek(at)) || IsDigit(l.peek(at)) {
		at++
	}
	if l.peek(at) != '$' {
		l.emit(Punct, l.pos+1)
		return
	}
	tag := l.text[l.pos : at+1]
	end := strings.Index(l.text[at+1:], tag)
	if end < 0 {
		l.refuse(SyntaxError(l.pos, "unterminated dollar-quoted string"))
		return
	}
	l.emit(String, at+1+end+len(tag))
}

// skip passes white space and comments; false at the end of the text.
func (l *lexer) skip() bool {
	for l.pos < len(l.text) {
		switch c, next := l.text[l.pos], l.peek(l.pos+1); {
		case isSpace(c):
			l.pos++
		case c == '-' && next == '-':
			l.pos = l.lineEnd(l.pos)
		case c == '/' && next == '*':
			l.comment()
		default:
			return true
		}
	}
	return false
}

// lineEnd gives the offset of the next end of line.
func (l *lexer) lineEnd(at int) int {
	if n := strings.IndexAny(l.text[at:], "\r\n"); n >= 0 {
		return at + n
	}
	return len(l.text)
}

// comment passes a block comment with those nested in it.
func (l *lexer) comment() {
	for at, depth := l.pos, 0; at < len(l.text); at++ {
		switch pair := l.text[at:min(at+2, len(l.text))]; {
		case pair == "/*":
			depth++
			if depth > l.guard.MaxCommentDepth || !l.run.start(l, at) {
				l.refuse(refusal.Unsupported(l.pos, "the comments are nested too deeply or too many in a row"))
				return
			}
			at++
		case pair == "*/":
			depth--
			at++
			if depth == 0 {
				l.pos = at + 1
				return
			}
		}
	}
	l.refuse(SyntaxError(l.pos, "unterminated /* comment"))
}

// Literal spells a text as a plain constant, in which a backslash is itself.
func Literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Unquoted gives the value of a string of one piece between plain quotation marks.
func Unquoted(token string) (string, bool) {
	if len(token) < 2 || token[0] != '\'' || token[len(token)-1] != '\'' {
		return "", false
	}
	inner := token[1 : len(token)-1]
	if strings.Count(inner, "'") != 2*strings.Count(inner, "''") { // pairs alone
		return "", false
	}
	return strings.ReplaceAll(inner, "''", "'"), true
}

// Quote spells an identifier so that it can mean nothing else.
func Quote(name string) string {
	out := make([]byte, 0, len(name)+2)
	out = append(out, '"')
	for i := 0; i < len(name); i++ {
		if name[i] == '"' {
			out = append(out, '"')
		}
		out = append(out, name[i])
	}
	return string(append(out, '"'))
}

// Spell spells an identifier as people write it: in quotation marks only if it is another one, or none, without them.
func Spell(name string) string {
	plain := func(c byte) bool { return isIdentPart(c) && (c < 'A' || c > 'Z') }
	if name == "" || !isIdentStart(name[0]) {
		return Quote(name)
	}
	for i := range len(name) {
		if !plain(name[i]) {
			return Quote(name)
		}
	}
	return name
}

// QuoteAll quotes each of the names.
func QuoteAll(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = Quote(n)
	}
	return out
}
