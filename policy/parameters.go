package policy

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tenantgate/tenantgate/policy/sql/constants"
)

// Parametrized is a statement of the Postgres dialect with its constants taken out: they are
// parameters now, with values and types. It means the same, and texts that differ in their
// constants alone have one Text, one decision and one plan.
type Parametrized struct {
	Text   string
	Args   []Arg
	Types  GivenTypes
	source string
	places []constants.Constant
}

// Parametrize takes the constants out of a text; false where there are none that are sure to
// mean no more than their values. A refusal of what it gives is not one of the text: that has
// to be decided on then, as it is. So has a text of which KeepsConstants is true.
func Parametrize(text string) (Parametrized, bool) {
	text = strings.TrimRight(text, "; \t\r\n")
	places := constants.Constants(text)
	if len(places) == 0 {
		return Parametrized{}, false
	}
	p := Parametrized{source: text, places: places, Args: make([]Arg, len(places)), Types: make(GivenTypes, len(places))}
	var out strings.Builder
	out.Grow(len(text) + 2*len(places))
	done := 0
	for i, l := range places {
		out.WriteString(text[done:l.Start])
		p.number(&out, i)
		p.Args[i], p.Types[i] = Arg{Kind: String, Text: l.Value}, l.Type
		done = l.End
	}
	out.WriteString(text[done:])
	p.Text = out.String()
	return p, true
}

// number writes a parameter, apart from names that the constant stood beside.
func (p *Parametrized) number(out *strings.Builder, i int) {
	before, behind := p.blanks(i)
	out.WriteString(" "[:before])
	out.WriteByte('$')
	out.WriteString(strconv.Itoa(i + 1))
	out.WriteString(" "[:behind])
}

// blanks tells how many blanks a parameter needs before and behind it.
func (p *Parametrized) blanks(i int) (before, behind int) {
	if at := p.places[i].Start; at > 0 && glues(p.source[at-1]) {
		before = 1
	}
	if at := p.places[i].End; at < len(p.source) && glues(p.source[at]) {
		behind = 1
	}
	return before, behind
}

// glues tells whether a byte would be of one word with what it stands beside.
func glues(c byte) bool {
	return c == '_' || c == '$' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= utf8.RuneSelf
}

// CallerPosition turns a 1-based character position in Text into one in the text that it was
// made of: of a parameter, that of its constant.
func (p *Parametrized) CallerPosition(position int) int {
	at, shift := byteOffset(p.Text, position), 0
	for i, l := range p.places {
		before, behind := p.blanks(i)
		start := l.Start + shift
		end := start + before + 1 + len(strconv.Itoa(i+1))
		switch {
		case at < start:
			return utf8.RuneCountInString(p.source[:at-shift]) + 1
		case at < end:
			return utf8.RuneCountInString(p.source[:l.Start]) + 1
		}
		shift = end + behind - l.End
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

// KeepsConstants tells whether a constant in the place of a parameter may be another thing than
// its value: it is replaced by the server's own id, or refused for not being it, or it goes to
// an interval whose column may say of what unit the numbers are. A statement without tables
// keeps them too: Postgres says before it gives columns that 1/0 fails.
func (a *Approved) KeepsConstants() bool {
	return a.plan.scoped || len(a.plan.given) > 0 || a.durations || a.tableless
}
