package policy

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tenantgate/tenantgate/policy/sqltree"
)

// Parametrized is a statement of the Postgres dialect with its constants taken out: they are
// parameters now, with values and types. It means the same, and texts that differ in their
// constants alone have one Text, one decision and one plan.
type Parametrized struct {
	Text   string
	Args   []Arg
	Types  GivenTypes
	source string
	places []sqltree.Constant
}

// Parametrize takes the constants out of a text; false where there are none that are sure to
// mean no more than their values. A refusal of what it gives is not one of the text: that has
// to be decided on then, as it is. So has a text of which TakesServer is true.
func Parametrize(text string) (Parametrized, bool) {
	text = strings.TrimRight(text, "; \t\r\n")
	places := sqltree.Constants(text)
	if len(places) == 0 {
		return Parametrized{}, false
	}
	p := Parametrized{source: text, places: places, Args: make([]Arg, len(places)), Types: make(GivenTypes, len(places))}
	var out strings.Builder
	out.Grow(len(text) + len(places))
	done := 0
	for i, l := range places {
		out.WriteString(text[done:l.Start])
		p.number(&out, text, i)
		p.Args[i], p.Types[i] = Arg{Kind: String, Text: l.Value}, l.Type
		done = l.End
	}
	out.WriteString(text[done:])
	p.Text = out.String()
	return p, true
}

// number writes a parameter, apart from names that the constant stood beside.
func (p *Parametrized) number(out *strings.Builder, text string, i int) {
	out.WriteByte('$')
	out.WriteString(strconv.Itoa(i + 1))
	if end := p.places[i].End; end < len(text) && glues(text[end]) {
		out.WriteByte(' ')
	}
}

// glues tells whether a byte would belong to the number before it.
func glues(c byte) bool {
	return c == '_' || c == '$' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= utf8.RuneSelf
}

// CallerPosition turns a 1-based character position in Text into one in the text that it was
// made of: of a parameter, that of its constant.
func (p *Parametrized) CallerPosition(position int) int {
	at, shift := byteOffset(p.Text, position), 0
	for i, l := range p.places {
		start := l.Start + shift
		end := start + 1 + len(strconv.Itoa(i+1))
		switch {
		case at < start:
			return utf8.RuneCountInString(p.source[:at-shift]) + 1
		case at < end:
			return utf8.RuneCountInString(p.source[:l.Start]) + 1
		}
		if l.End < len(p.source) && glues(p.source[l.End]) {
			end++
		}
		shift = end - l.End
	}
	return utf8.RuneCountInString(p.source[:min(max(at-shift, 0), len(p.source))]) + 1
}

// Position is where, in characters from 1, the constant of an arg stands in the text.
func (p *Parametrized) Position(arg int) int {
	if arg < 0 || arg >= len(p.places) {
		return 0
	}
	return utf8.RuneCountInString(p.source[:p.places[arg].Start]) + 1
}

// TakesServer tells whether what the caller gives for a parameter may be replaced by the
// server's own id, or refused for not being it.
func (a *Approved) TakesServer() bool { return a.plan.scoped || len(a.plan.given) > 0 }
