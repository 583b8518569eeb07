package lex

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/tenantgate/tenantgate/policy/sql/refusal"
)

// Style is the way in which a text writes its placeholders.
type Style uint8

// The styles. In all of them ?? is the operator ?, unless the text is a native one.
const (
	NoPlaceholders Style = iota
	QuestionMarks        // ?, numbered from left to right
	Numbered             // $1, $2, …
)

// Placeholder is one place in Translation.Text that takes an argument: the token from
// Start up to and not including End. Number is n of $n, or the ordinal of the ?, from 1.
type Placeholder struct {
	Number     int
	Start, End int
}

// Translation is a caller's text as Postgres reads it: placeholders are $n. It is made
// by Translate and never changed.
type Translation struct {
	Text         string
	Tokens       []Token       // of Text, in its order
	Placeholders []Placeholder // in the order of Text
	Style        Style
	callerLen    int
	spans        []span // in the order of Text
}

// span is a run of Text that came from the caller: byte for byte, or, as a
// placeholder, from a single '?'.
type span struct {
	text, caller, length int // offset in Text, offset in the caller's text, bytes of Text
	mark                 bool
}

// Translate checks a caller's text against the guard and gives it with $n for every
// placeholder. Offsets in its faults are the caller's. The text may be anything.
func Translate(text string, g Guard) (*Translation, *refusal.Refusal) {
	tokens, f := Scan(text, g, true)
	if f != nil {
		return nil, f
	}
	return translate(text, tokens, false)
}

// Native is Translate for a text as Postgres itself reads it: $n alone are placeholders, ?
// and ?? are signs of operators, and semicolons may follow the statement.
func Native(text string, g Guard) (*Translation, *refusal.Refusal) {
	tokens, f := Scan(text, g, false)
	if f != nil && f.Code == refusal.MultipleStatements && ended(text, f.Offset, g) {
		text = text[:f.Offset]
		tokens, f = Scan(text, g, false)
	}
	if f != nil {
		return nil, f
	}
	return translate(text, tokens, true)
}

// Semicolon gives the offset of the first semicolon that ends a statement, as Postgres' lexer
// sees it: -1 where there is none, or where a text can't be read so far.
func Semicolon(text string) int {
	l := &lexer{text: text, guard: Guard{}.orDefaults()}
	l.nest.frames = make([]frame, 1, 8)
	for l.skip() {
		if l.text[l.pos] == ';' {
			return l.pos
		}
		l.token()
	}
	return -1
}

// ended tells whether nothing but semicolons and comments stands behind an offset.
func ended(text string, at int, g Guard) bool {
	l := &lexer{text: text, guard: g.orDefaults(), pos: at}
	for l.skip() {
		if text[l.pos] != ';' {
			return false
		}
		l.pos++
	}
	return l.fault == nil
}

func translate(text string, tokens []Token, native bool) (*Translation, *refusal.Refusal) {
	t := &translator{native: native, source: text, out: &Translation{Tokens: make([]Token, 0, len(tokens)), callerLen: len(text)}}
	t.text.Grow(len(text) + len(text)/8)
	for _, k := range tokens {
		if f := t.add(k); f != nil {
			return nil, f
		}
	}
	t.copy(len(text))
	t.out.Text = t.text.String()
	return t.out, nil
}

// translator writes one translation.
type translator struct {
	source string
	native bool // ?? stays as it is
	done   int  // offset in source up to which text holds it
	text   strings.Builder
	out    *Translation
}

// add writes the source up to and with a token.
func (t *translator) add(k Token) *refusal.Refusal {
	t.copy(k.Start)
	start := t.text.Len()
	switch sign := t.source[k.Start:k.End]; {
	case k.Kind == Param:
		return t.placeholder(k, sign)
	case k.Kind == Operator && !t.native && strings.Contains(sign, "??"):
		t.operator(k)
	default:
		t.copy(k.End)
	}
	t.out.Tokens = append(t.out.Tokens, Token{k.Kind, start, t.text.Len()})
	return nil
}

// copy writes the source up to an offset as it stands.
func (t *translator) copy(end int) {
	if end == t.done {
		return
	}
	t.span(end-t.done, false)
	t.text.WriteString(t.source[t.done:end])
	t.done = end
}

// span notes that the next bytes of the text come from the source at done.
func (t *translator) span(length int, mark bool) {
	s := span{t.text.Len(), t.done, length, mark}
	if n := len(t.out.spans); n > 0 && !mark {
		if last := &t.out.spans[n-1]; !last.mark && last.text+last.length == s.text && last.caller+last.length == s.caller {
			last.length += length
			return
		}
	}
	t.out.spans = append(t.out.spans, s)
}

// operator writes an operator, ?? as ?.
func (t *translator) operator(k Token) {
	for at := k.Start; at < k.End; at++ {
		t.copy(at + 1)
		if t.source[at] == '?' {
			at++
			t.done = at + 1
		}
	}
}

// placeholder writes a placeholder as $n.
func (t *translator) placeholder(k Token, sign string) *refusal.Refusal {
	style, number := QuestionMarks, len(t.out.Placeholders)+1
	if sign != "?" {
		style, number = Numbered, ParamNumber(sign[1:])
	}
	if f := t.style(style, number, k.Start); f != nil {
		return f
	}
	start, end := t.text.Len(), t.text.Len()+len(sign)
	if style == QuestionMarks {
		start, end = t.mark(k, number)
	} else {
		t.copy(k.End) // it stays: the scanner has found that nothing is glued to it
	}
	t.out.Tokens = append(t.out.Tokens, Token{Param, start, end})
	t.out.Placeholders = append(t.out.Placeholders, Placeholder{number, start, end})
	return nil
}

// mark writes a ? as $n with a space on either side: a=?and would otherwise become
// $1and, and -? an operator. It tells where the $n stands.
func (t *translator) mark(k Token, number int) (start, end int) {
	t.text.WriteByte(' ')
	start = t.text.Len()
	name := "$" + strconv.Itoa(number)
	t.span(len(name), true)
	t.text.WriteString(name)
	end = t.text.Len()
	t.text.WriteByte(' ')
	t.done = k.End
	return start, end
}

// style holds a text to one style of placeholders.
func (t *translator) style(s Style, number, at int) *refusal.Refusal {
	if t.out.Style != NoPlaceholders && t.out.Style != s {
		return &refusal.Refusal{Code: refusal.MixedPlaceholders, Offset: at,
			Message: "a text must write all its placeholders as ?, or all as $1, $2, …",
			Hint:    "write the operator ? as ??"}
	}
	if number > maxParam {
		return SyntaxError(at, fmt.Sprintf("at most %d placeholders are allowed", maxParam))
	}
	t.out.Style = s
	return nil
}

// CallerOffset maps a byte offset in Text to one in the caller's text; false where the
// byte is not the caller's. Every byte of a $n that was a ? is that ?, and the end of
// Text is the end of the caller's text.
func (t *Translation) CallerOffset(offset int) (int, bool) {
	if offset == len(t.Text) {
		return t.callerLen, true
	}
	i := sort.Search(len(t.spans), func(i int) bool { return t.spans[i].text > offset }) - 1
	if i < 0 || offset >= t.spans[i].text+t.spans[i].length {
		return 0, false
	}
	if s := t.spans[i]; !s.mark {
		return s.caller + offset - s.text, true
	}
	return t.spans[i].caller, true
}

// TokenAt gives the index of the token that starts at a byte offset of Text, -1 where
// none does.
func (t *Translation) TokenAt(offset int) int {
	i := sort.Search(len(t.Tokens), func(i int) bool { return t.Tokens[i].Start >= offset })
	if i < len(t.Tokens) && t.Tokens[i].Start == offset {
		return i
	}
	return -1
}

// QuotesName tells whether a name in double quotes starts at a byte offset of Text.
func (t *Translation) QuotesName(offset int) bool {
	i := t.TokenAt(offset)
	return i >= 0 && t.Tokens[i].Kind == QuotedIdent
}

// Marked tells whether the text has an operator that ends with ?, as =? does where somebody
// means a parameter.
func (t *Translation) Marked() bool {
	return slices.ContainsFunc(t.Tokens, func(k Token) bool { return k.Kind == Operator && t.Text[k.End-1] == '?' })
}

// MarkedFor tells whether somebody means to compare a column with such a parameter.
func (t *Translation) MarkedFor(column string) bool {
	for i := range t.Tokens {
		at := Cursor{t, i}
		if !at.Is(column) && at.text() != Quote(column) {
			continue
		}
		at.Pos++
		if at.Is("=?") {
			return true
		}
		if next := (Cursor{t, at.Pos + 1}); at.Is("=") && next.Is("?") {
			return true
		}
	}
	return false
}

// CallerRefusal gives a fault about Text as one about the caller's text: with the
// caller's offset, and with ? where the message has the $n that stands for it.
func (t *Translation) CallerRefusal(f *refusal.Refusal) *refusal.Refusal {
	if f == nil {
		return nil
	}
	mapped := *f
	mapped.Offset = -1
	if at, ok := t.CallerOffset(f.Offset); ok {
		mapped.Offset = at
	}
	if i := t.TokenAt(f.Offset); i >= 0 && t.Style == QuestionMarks && t.Tokens[i].Kind == Param {
		written := t.Text[t.Tokens[i].Start:t.Tokens[i].End]
		mapped.Message = strings.NewReplacer(`"`+written+`"`, `"?"`, written+"::", "?::").Replace(f.Message)
	}
	return &mapped
}
