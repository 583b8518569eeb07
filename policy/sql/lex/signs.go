package lex

import (
	"fmt"
	"strings"

	"github.com/tenantgate/tenantgate/policy/sql/refusal"
)

// maxParam is the highest parameter number that a statement can carry: the protocol
// counts parameters in 16 bits. Postgres' scanner itself reads $4294967297 as $1.
const maxParam = 65_535

// param reads $n; digits is the offset behind the sign. Leading zeros are allowed.
func (l *lexer) param(digits int) {
	end := digits
	for IsDigit(l.peek(end)) {
		end++
	}
	if isIdentStart(l.peek(end)) {
		// Postgres refuses it since 15; the library's grammar would read $1and as $1 AND.
		l.refuse(SyntaxError(l.pos, "trailing junk after parameter"))
		return
	}
	if n := ParamNumber(l.text[digits:end]); n < 1 || n > maxParam {
		l.refuse(SyntaxError(l.pos, fmt.Sprintf("a parameter's number must be from 1 to %d", maxParam)))
		return
	}
	l.emit(Param, end)
}

// ParamNumber reads decimal digits; what is beyond maxParam comes out as more than it.
func ParamNumber(digits string) int {
	n := 0
	for i := 0; i < len(digits) && n <= maxParam; i++ {
		n = n*10 + int(digits[i]-'0')
	}
	return n
}

// number reads a numeric constant. Two dots end an integer: 1..2 is 1, .. and 2.
func (l *lexer) number() {
	if l.text[l.pos] == '0' && strings.IndexByte("xob", l.peek(l.pos+1)|0x20) >= 0 {
		l.radix()
		return
	}
	end := l.digits(l.pos, IsDigit)
	if l.peek(end) == '.' && (end == l.pos || l.peek(end+1) != '.') {
		end = l.digits(end+1, IsDigit)
	}
	if l.peek(end)|0x20 == 'e' {
		exp := end + 1
		if sign := l.peek(exp); sign == '+' || sign == '-' {
			exp++
		}
		if IsDigit(l.peek(exp)) {
			end = l.digits(exp, IsDigit)
		}
	}
	l.emitNumber(end)
}

// radix reads 0x1F, 0o17 or 0b11.
func (l *lexer) radix() {
	in := func(c byte) bool { return IsDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }
	switch l.text[l.pos+1] | 0x20 {
	case 'o':
		in = func(c byte) bool { return c >= '0' && c <= '7' }
	case 'b':
		in = func(c byte) bool { return c == '0' || c == '1' }
	}
	start := l.pos + 2
	if l.peek(start) == '_' {
		start++
	}
	if !in(l.peek(start)) {
		l.refuse(SyntaxError(l.pos, "invalid hexadecimal, octal or binary integer"))
		return
	}
	l.emitNumber(l.digits(start, in))
}

// digits passes digits, among which single underscores may stand.
func (l *lexer) digits(at int, in func(byte) bool) int {
	if !in(l.peek(at)) {
		return at
	}
	for in(l.peek(at)) || l.peek(at) == '_' && in(l.peek(at+1)) {
		at++
	}
	return at
}

// emitNumber adds a number unless a name is glued to it. A name can't start with $,
// but 1_0$ and 1e5$ are junk too: to Postgres the names _0$ and e5$ behind a 1.
func (l *lexer) emitNumber(end int) {
	next := l.peek(end)
	if isIdentStart(next) || IsDigit(next) || next == '$' && nameInside(l.text[l.pos:end]) {
		l.refuse(SyntaxError(l.pos, "trailing junk after numeric literal"))
		return
	}
	l.emit(Number, end)
}

// nameInside tells whether the end of a number could be read as a name.
func nameInside(number string) bool {
	tail := number[strings.LastIndexAny(number, ".+-")+1:]
	return strings.IndexFunc(tail, func(r rune) bool { return r < '0' || r > '9' }) >= 0
}

// operator reads an operator or, with marks, a placeholder.
func (l *lexer) operator() {
	if l.isMark(l.pos) {
		l.emit(Param, l.pos+1)
		return
	}
	end := l.signsEnd(l.pos)
	if end-l.pos > l.guard.MaxOperator || !l.run.start(l, l.pos) {
		l.refuse(refusal.Unsupported(l.pos, fmt.Sprintf("at most %d operator signs may stand in a row", l.guard.MaxOperator)))
		return
	}
	end = l.pos + operatorLength(l.text[l.pos:end])
	kind := Operator
	if l.text[l.pos:end] == "=>" {
		kind = Punct
	}
	l.emit(kind, end)
}

// isMark tells whether a lone ? stands at an offset, where the pairs before it have
// been passed.
func (l *lexer) isMark(at int) bool {
	return l.marks && l.peek(at) == '?' && l.peek(at+1) != '?'
}

// signsEnd gives the end of the operator signs at an offset: before a comment, and
// with marks before a placeholder, which pairs of ?? from the left leave over.
func (l *lexer) signsEnd(at int) int {
	for at < len(l.text) && isSign(l.text[at]) && !l.isMark(at) {
		switch l.text[at:min(at+2, len(l.text))] {
		case "/*", "--":
			return at
		case "??":
			if l.marks {
				at++
			}
		}
		at++
	}
	return at
}

// operatorLength tells how many of the signs are one operator. As in SQL, =- is = and
// -: a trailing + or - belongs to it only beside a sign that SQL's operators lack.
func operatorLength(signs string) int {
	n := len(signs)
	if strings.ContainsAny(signs, "~!@#^&|`?%") {
		return n
	}
	for n > 1 && (signs[n-1] == '+' || signs[n-1] == '-') {
		n--
	}
	return n
}

// signRun counts how often tokens and comments start in one unbroken run of operator
// signs. At each such start the C scanner looks through the rest of the run again, so
// /**//**//**/… would take it quadratic time.
type signRun struct{ end, starts int }

// start notes a start at an offset; false where the run has too many.
func (r *signRun) start(l *lexer, at int) bool {
	if at >= r.end {
		r.starts, r.end = 0, at
		for isSign(l.peek(r.end)) {
			r.end++
		}
	}
	r.starts++
	return r.starts <= l.guard.MaxOperator
}
