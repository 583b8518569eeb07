package constants

import (
	"slices"
	"strings"

	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
)

// Places are those of a text's parameters in whose place a constant can stand. The zero value
// has none.
type Places struct {
	text  string
	marks []lex.Token
	all   []int // by mark: the number of its parameter
}

// PlacesOf finds the places of parameters, by their numbers. Each of them stands in one place
// alone, or it is left out: what type it has may depend on the places that are left.
func PlacesOf(text string, numbers []int) (Places, *refusal.Refusal) {
	marks, fault := parameters(text)
	if fault != nil {
		return Places{}, fault
	}
	p := Places{text: text}
	sample := make([]Filling, len(marks))
	for _, m := range marks {
		n := lex.ParamNumber(text[m.Start+1 : m.End])
		sample = slices.Grow(sample, max(n-len(sample), 0))[:max(n, len(sample))]
		same := func(other lex.Token) bool { return text[other.Start:other.End] == text[m.Start:m.End] }
		if n < 1 || !slices.Contains(numbers, n) || slices.ContainsFunc(marks, func(o lex.Token) bool { return o != m && same(o) }) {
			continue
		}
		p.marks, p.all = append(p.marks, m), append(p.all, n)
		sample[n-1] = Filling{Constant: true, Value: "1"}
	}
	if len(p.marks) == 0 {
		return Places{}, nil
	}
	_, fault = Fill(text, sample) // the proof, for whatever constant
	return p, fault
}

// Numbers are the numbers of the parameters that have places.
func (p Places) Numbers() []int { return p.all }

// Fill puts constants in the places; value gives that of a parameter by its number, or false
// where the parameter stays. The result is zero where all stay.
func (p Places) Fill(value func(number int) (string, bool)) Filled {
	var b strings.Builder
	var out Filled
	done := 0
	for i, m := range p.marks {
		v, ok := value(p.all[i])
		if !ok {
			continue
		}
		b.WriteString(p.text[done:m.Start])
		constant := constantText(v)
		out.places = append(out.places, filledPlace{m, len(constant), b.Len()})
		b.WriteString(constant)
		done = m.End
	}
	if done == 0 {
		return Filled{}
	}
	b.WriteString(p.text[done:])
	out.Text = b.String()
	return out
}
