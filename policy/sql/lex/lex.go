package lex

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tenantgate/tenantgate/policy/sql/refusal"
)

// TokenKind says what a token is, as far as editing a text needs to know.
type TokenKind uint8

// The kinds of tokens. They follow src/backend/parser/scan.l of Postgres 17.
const (
	Ident       TokenKind = iota + 1 // an unquoted name or keyword
	QuotedIdent                      // "…"
	String                           // '…' E'…' B'…' X'…' N'…' U&'…' $tag$…$tag$, with its continuation lines
	Number                           // 1 1.5 1e5 0x1F 1_000
	Param                            // $1
	Operator                         // + <= ->> ?|
	Punct                            // ( ) [ ] , ; : . and other single signs, :: := => ..
)

// Token is one token of a text: the bytes from Start up to and not including End.
// Comments and white space are no tokens. N'…' is one token, although Postgres reads
// the N as a keyword and gives the constant the place of its quote.
type Token struct {
	Kind       TokenKind
	Start, End int
}

// Guard bounds what a text may cost before it reaches the parser, which is C code that
// takes quadratic time for some texts and kills the process for others. A zero field
// stands for its default.
type Guard struct {
	MaxBytes        int // length of the text in bytes; 10,240
	MaxDepth        int // open brackets at any one place; 100
	MaxOperator     int // operator signs in one run, as Postgres' own limit of a name; 63
	MaxCommentDepth int // block comments inside each other; 8
	MaxChain        int // words and operators that may each nest the next one, as in 1+1+…; 3,000
}

// orDefaults gives the guard with its zero fields set. MaxChain is what keeps the C
// stack safe: a level takes some 350 bytes of it, so 3,000 levels take half of the
// 2 MiB that a thread has where the stack's size is unlimited. No honest text of 10 KB
// comes near, for it has commas, AND and OR, which end a chain.
func (g Guard) orDefaults() Guard {
	set := func(field *int, value int) {
		if *field == 0 {
			*field = value
		}
	}
	set(&g.MaxBytes, 10_240)
	set(&g.MaxDepth, 100)
	set(&g.MaxOperator, 63)
	set(&g.MaxCommentDepth, 8)
	set(&g.MaxChain, 3_000)
	return g
}

// lexer cuts a text into tokens in one pass, by the rules of Postgres' scanner with
// standard_conforming_strings on. Where Postgres, its grammar as a library and the
// releases in use would read a text differently, it refuses the text.
type lexer struct {
	text   string
	guard  Guard
	marks  bool // a lone ? is a placeholder and ?? the operator's ?
	pos    int
	tokens []Token
	nest   nesting
	run    signRun
	fault  *refusal.Refusal
}

// Scan gives the tokens of a text. With marks, placeholders are tokens of kind Param
// that hold the single byte '?'.
func Scan(text string, g Guard, marks bool) ([]Token, *refusal.Refusal) {
	g = g.orDefaults()
	if f := checkBytes(text, g.MaxBytes); f != nil {
		return nil, f
	}
	l := &lexer{text: text, guard: g, marks: marks, tokens: make([]Token, 0, min(len(text)/4, 4<<10)+1)}
	l.nest.frames = make([]frame, 1, 8)
	for l.skip() {
		l.token()
	}
	switch {
	case l.fault != nil:
		return nil, l.fault
	case len(l.tokens) == 0:
		return nil, &refusal.Refusal{Code: refusal.EmptyQuery, Message: "the text holds no statement", Offset: -1}
	}
	if f := checkCopies(text, l.tokens); f != nil {
		return nil, f
	}
	return l.tokens, nil
}

// checkBytes refuses what must not even be looked at: the length comes first, and a
// NUL would end the text for C.
func checkBytes(text string, most int) *refusal.Refusal {
	if len(text) > most {
		return &refusal.Refusal{Code: refusal.QueryTooLong, Offset: -1,
			Message: fmt.Sprintf("the text is %d bytes long; at most %d are allowed", len(text), most),
			Hint:    "send long values and long lists as parameters, a list as = ANY with an array, and many rows in several statements"}
	}
	if at := strings.IndexByte(text, 0); at >= 0 {
		return SyntaxError(at, "the text holds a NUL character")
	}
	if utf8.ValidString(text) {
		return nil
	}
	for at := 0; ; {
		r, size := utf8.DecodeRuneInString(text[at:])
		if r == utf8.RuneError && size == 1 {
			return SyntaxError(at, "the text is not valid UTF-8")
		}
		at += size
	}
}

// SyntaxError is the fault of a text that Postgres' grammar would not take either.
func SyntaxError(at int, message string) *refusal.Refusal {
	return &refusal.Refusal{Code: refusal.SyntaxError, SQLState: "42601", Message: message, Offset: at}
}

// refuse ends the scan. The first fault stays.
func (l *lexer) refuse(f *refusal.Refusal) {
	if l.fault == nil {
		l.fault = f
	}
	l.pos = len(l.text)
}

// peek gives the byte at an offset, 0 behind the end. The text itself holds no 0.
func (l *lexer) peek(at int) byte {
	if at < len(l.text) {
		return l.text[at]
	}
	return 0
}

// emit adds the token that starts at the current position and goes on behind it.
func (l *lexer) emit(kind TokenKind, end int) {
	l.tokens = append(l.tokens, Token{kind, l.pos, end})
	if f := l.nest.add(l); f != nil {
		l.refuse(f)
		return
	}
	l.pos = end
}

// token reads one token; the current position is at its first byte.
func (l *lexer) token() {
	switch c := l.text[l.pos]; {
	case isIdentStart(c):
		l.word()
	case IsDigit(c), c == '.' && IsDigit(l.peek(l.pos+1)):
		l.number()
	case c == '\'':
		l.quoted(l.pos+1, plainString)
	case c == '"':
		l.quotedIdent()
	case c == '$':
		l.dollar()
	case isSign(c):
		l.operator()
	default:
		l.punct(c)
	}
}

// word reads a name or keyword, or a string with a letter before its quote.
func (l *lexer) word() {
	switch c, next := l.text[l.pos]|0x20, l.peek(l.pos+1); {
	case next == '\'' && c == 'e':
		l.quoted(l.pos+2, escapeString)
	case next == '\'' && (c == 'b' || c == 'x'):
		l.quoted(l.pos+2, bitString)
	case next == '\'' && c == 'n':
		l.quoted(l.pos+2, plainString)
	case next == '&' && c == 'u' && l.peek(l.pos+2) == '\'':
		l.quoted(l.pos+3, plainString)
	case next == '&' && c == 'u' && l.peek(l.pos+2) == '"':
		// The name is written in escapes, whose sign a UESCAPE further on may change.
		// Names are what the isolation rests on, so each must be readable as it stands.
		l.refuse(refusal.Unsupported(l.pos, `a name with Unicode escapes (U&"…") is not supported`))
	default:
		l.emit(Ident, l.identEnd(l.pos))
	}
}

// identEnd gives the offset behind the name that starts at an offset.
func (l *lexer) identEnd(at int) int {
	for at < len(l.text) && isIdentPart(l.text[at]) {
		at++
	}
	return at
}

// punct reads a sign that is no part of an operator.
func (l *lexer) punct(c byte) {
	next := l.peek(l.pos + 1)
	switch {
	case c == ';':
		message, hint := "only one statement is allowed, without a semicolon", "send each statement by itself, and leave the semicolon out"
		if !l.marks {
			message, hint = "only one statement is allowed here", "send each statement by itself"
		}
		l.refuse(&refusal.Refusal{Code: refusal.MultipleStatements, Offset: l.pos, Message: message, Hint: hint})
	case c == ':' && (next == ':' || next == '='), c == '.' && next == '.':
		l.emit(Punct, l.pos+2)
	default:
		l.emit(Punct, l.pos+1)
	}
}

// isWord tells whether a token is a keyword, given in lower case. As in Postgres only the
// letters of ASCII have a case: to Unicode the long s is an s.
func isWord(token, word string) bool {
	if len(token) != len(word) {
		return false
	}
	for i := range len(word) {
		if c := token[i]; c != word[i] && (c < 'A' || c > 'Z' || c|0x20 != word[i]) {
			return false
		}
	}
	return true
}

// IsDigit tells a decimal digit of ASCII.
func IsDigit(c byte) bool { return c >= '0' && c <= '9' }

// isIdentStart takes every byte of a character beyond ASCII for a letter, as Postgres does.
func isIdentStart(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= utf8.RuneSelf
}

func isIdentPart(c byte) bool { return isIdentStart(c) || IsDigit(c) || c == '$' }

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// isSign tells whether operators are made of the byte.
func isSign(c byte) bool {
	switch c {
	case '~', '!', '@', '#', '^', '&', '|', '`', '?', '+', '-', '*', '/', '%', '<', '>', '=':
		return true
	}
	return false
}
