package statement

import (
	"fmt"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
)

// kinds gives for each type the kinds whose samples are values of it.
var kinds = map[Type][]Kind{
	Text: {Name, Digits, Day, Mark, Code}, Int: {Small}, Big: {Large}, Numeric: {Amount}, Bool: {Flag}, Date: {When},
	Time: {Moment}, JSON: {Object}, Texts: {Words}, Ints: {Numbers}, Bytes: {Octets}, UUID: {Token128}, Float: {Weight},
}

// sample gives a harmless value of a type.
func (m *maker) sample(t Type) string {
	of := kinds[t]
	if m.skewed {
		return probe(m.tables[0], &Column{Kind: of[m.r.IntN(len(of))], Type: t}, m.r)
	}
	return Sample(m.tables[0], &Column{Kind: of[m.r.IntN(len(of))], Type: t}, m.r.IntN(20))
}

// sampleOf gives a value that the column may well hold.
func (m *maker) sampleOf(c column) string {
	switch {
	case c.own == nil:
		return m.sample(c.typ)
	case c.kind == Scope:
		return m.server
	case c.kind == Twice:
		return fmt.Sprint(2 * m.r.IntN(9))
	case m.skewed:
		return probe(c.of, c.own, m.r)
	}
	return Sample(c.of, c.own, m.r.IntN(16))
}

// hole puts a placeholder with its argument.
func (m *maker) hole(t Type, value string) {
	a := policy.Arg{Kind: policy.String, Text: value}
	switch {
	case t == Int || t == Big || t == Numeric || t == Float:
		a.Kind = policy.Number
	case t == Bool:
		a.Kind = policy.Bool
	}
	m.out = append(m.out, Token{Hole: Value, Arg: a})
	m.use("placeholder")
}

// value puts a value where Postgres can tell its type, such as beside a column.
func (m *maker) value(t Type, value string) {
	if m.chance(40) && !(m.skewed && m.values == Constants) {
		m.hole(t, value)
		return
	}
	m.put(constant(t, value))
}

// constant writes a value as an unadorned constant.
func constant(t Type, value string) string {
	switch t {
	case Int, Big, Numeric, Float, Bool:
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", "''") + "'"
}

// literal puts a value whose type is plain to see.
func (m *maker) literal(t Type) {
	value := m.sample(t)
	switch n := m.r.IntN(5); {
	case n == 0 && !(m.skewed && m.values == Constants):
		m.hole(t, value)
		m.put("::", string(t))
		m.use("cast placeholder")
	case n == 1:
		m.put("CAST", "(")
		m.value(t, value)
		m.put("AS", string(t), ")")
		m.use("CAST")
	default:
		if (t == Int || t == Big) && m.chance(6) {
			m.use("number at a type's end")
			m.put(map[Type]string{Int: m.one("-2147483648", "2147483647"), Big: m.one("-9223372036854775808", "00003000000001", "2147483648")}[t])
			return
		}
		if t == Int || t == Bool {
			m.put(value)
			return
		}
		m.put(constant(t, value), "::", string(t))
	}
}

// columns gives the columns of a type that are in sight, and whether some are.
func (l *level) columns(t Type) []column {
	var found []column
	for ; l != nil; l = l.outer {
		for _, r := range l.rels {
			for _, c := range r.cols {
				if c.typ == t || t == "" {
					found = append(found, c)
				}
			}
		}
		if len(found) > 0 && t != "" {
			// What is nearest is taken most often: it comes twice.
			found = append(found, found...)
		}
	}
	return found
}

// column puts a column of a type; false where none is in sight.
func (m *maker) column(l *level, t Type) bool {
	c, ok := m.pick(l, t)
	if ok {
		m.ref(l, c)
	}
	return ok
}

func (m *maker) pick(l *level, t Type) (column, bool) {
	found := l.columns(t)
	if len(found) == 0 {
		return column{}, false
	}
	return found[m.r.IntN(len(found))], true
}

// ref puts a reference to a column: qualified, or bare where it can mean nothing else.
func (m *maker) ref(l *level, c column) {
	if m.chance(25) && c.name != "" && l.only(c) {
		m.put(m.spell(c.name))
		m.use("bare column")
		return
	}
	m.put(c.ref)
	if l.of(c) == nil {
		m.use("correlated reference")
	}
}

// only tells whether a column's bare name means it: nothing else of its own level, nor
// nearer, bears the name.
func (l *level) only(c column) bool {
	for ; l != nil; l = l.outer {
		n := 0
		for _, r := range l.rels {
			if r.name == c.name {
				return false
			}
			for _, o := range r.cols {
				if o.name == c.name {
					n++
				}
			}
			if r.hides && (c.name == "password_hash" || c.name == "secret") {
				n++
			}
		}
		if n > 0 {
			return n == 1 && l.of(c) != nil
		}
	}
	return false
}

// of gives the relation of this very level whose column it is.
func (l *level) of(c column) *relation {
	for _, r := range l.rels {
		for _, o := range r.cols {
			if o.ref == c.ref {
				return r
			}
		}
	}
	return nil
}
