package statement

import (
	"strconv"
	"strings"
)

// asked puts a condition that asks for values that others may hold.
func (m *maker) asked(l *level) {
	if m.chance(12) {
		m.use("order: OR")
		m.in(func() { m.asks(l); m.put("OR"); m.asks(l) })
		return
	}
	m.asks(l)
}

func (m *maker) asks(l *level) {
	c, ok := m.pick(&level{rels: l.rels}, "")
	for ok && c.kind == Scope {
		c, ok = m.pick(&level{rels: l.rels}, "")
	}
	if !ok {
		m.put("true")
		return
	}
	switch {
	case c.typ == Bool && m.chance(60):
		m.use("order: bool column")
		m.any(func() { m.put(c.ref) }, func() { m.put("NOT", c.ref) }, func() { m.put(c.ref, "IS", m.one("TRUE", "NOT TRUE", "FALSE", "UNKNOWN")) },
			func() { m.put(c.ref, "::", "bool") }, func() {
				m.put(c.ref, m.one("=", "<>", "IS NOT DISTINCT FROM"), m.one("( NULL IS NULL )", "( true AND true )", "( NOT ( NULL IS NULL ) )"))
			}, func() {
				m.put(c.ref, m.one("IN", "=", "="), "(", "SELECT", "NOT", "(", "n.v", "IS", "DISTINCT", "FROM", m.one("NULL", "n.v"), ")", "FROM", "(", "SELECT", "NULL", "::", "text", "AS", "v", ")", "AS", "n", ")")
			}, func() {
				m.put(c.ref, "=", "(", "NOT", "(", "NULLIF", "(", "'a'", "::", "text", ",", "'a'", ")", "IS", "DISTINCT", "FROM", "NULL", ")", ")")
			})
		return
	case c.typ == Text && m.chance(10):
		m.use("order: call that is a condition")
		m.put(m.one("starts_with", "textlike", "textregexeq"), "(", c.ref, ",")
		m.written(Text, m.sampleOf(c))
		m.put(")")
		return
	case (c.typ == Texts || c.typ == Ints || c.typ == JSON) && m.chance(70):
		m.contains(c)
		return
	}
	if m.chance(30) {
		m.asksMore(l, c)
		return
	}
	m.compares(c)
}

// compares puts a comparison of a column with values.
func (m *maker) compares(c column) {
	value := func() { m.fixed(c) }
	switch n := m.r.IntN(70); {
	case n < 30:
		m.use("order: equality")
		m.put(c.ref, m.one("=", "=", "=", "<>", "IS NOT DISTINCT FROM"))
		value()
	case n < 45:
		m.use("order: one bound")
		m.put(c.ref, m.one("<", ">=", ">", "<="))
		value()
	case n < 55:
		m.use("order: range")
		m.put(c.ref, ">=")
		value()
		m.put("AND", c.ref, "<")
		value()
	case n < 62:
		m.use("order: BETWEEN")
		m.put(c.ref, "BETWEEN")
		value()
		m.put("AND")
		value()
	default:
		m.use("order: IN list")
		m.put(c.ref, m.one("IN", "IN", "NOT IN"))
		m.in(func() { m.list(1+m.r.IntN(4), func(int) { value() }) })
	}
}

// asksMore puts a condition that is no plain comparison.
func (m *maker) asksMore(l *level, c column) {
	value := func() { m.fixed(c) }
	switch n := m.r.IntN(30); {
	case n < 5:
		m.use("order: ANY of an array")
		m.put(c.ref, "=", "ANY", "(", "ARRAY", "[")
		m.list(1+m.r.IntN(3), func(int) { value() })
		m.put("]", "::", string(c.typ)+"[]", ")")
	case n < 9:
		m.use("order: IN VALUES")
		m.put(c.ref, "IN", "(", "VALUES")
		m.list(1+m.r.IntN(3), func(int) { m.put("("); value(); m.put("::", string(c.typ), ")") })
		m.put(")")
	case n < 13:
		m.use("order: IS NULL")
		m.put(c.ref, "IS", m.one("NULL", "NOT NULL"))
	case n < 22:
		m.subquery(c)
	case n < 25 && c.typ == Text:
		m.use("order: expression")
		m.put("lower", "(", c.ref, ")", "=")
		m.written(Text, strings.ToLower(m.sampleOf(c)))
	default:
		m.use("order: rows")
		d := m.shown(&level{rels: l.rels})
		m.put("(", c.ref, ",", d.ref, ")", m.one("=", "<", ">="), "(")
		value()
		m.put(",")
		m.fixed(d)
		m.put(")")
	}
}

// subquery puts IN or EXISTS of a table with a column of the type of c.
func (m *maker) subquery(c column) {
	l := &level{}
	saved := m.pending
	m.pending = nil
	t := m.skewedTable()
	from := m.capture(func() { m.put("FROM"); m.add(l, m.reference(t)) })
	conditions := m.needsConditions(m.pending)
	m.pending = saved
	d, ok := m.pick(l, c.typ)
	if !ok || d.kind == Scope || c.typ == JSON {
		m.put(c.ref, "IS", "NOT", "NULL")
		return
	}
	exists := m.chance(50)
	if exists {
		m.use("order: EXISTS")
		m.put(m.one("EXISTS", "EXISTS", "NOT EXISTS"), "(", "SELECT", "1")
	} else {
		m.use("order: IN sub-select")
		m.put(c.ref, "IN", "(", "SELECT", d.ref)
	}
	m.out = append(m.out, from...)
	word := "WHERE"
	for _, r := range conditions {
		m.put(word)
		m.condition(r)
		word = "AND"
	}
	if exists {
		m.put(word, d.ref, "=", c.ref)
		word = "AND"
	}
	if e, ok := m.pick(l, ""); ok && e.kind != Scope && m.chance(50) {
		m.put(word, e.ref, "=")
		m.fixed(e)
	}
	m.put(")")
}

// contains puts a condition on the elements of an array or an object.
func (m *maker) contains(c column) {
	m.use("order: containment")
	v := func() { m.fixed(c) }
	if c.typ == JSON {
		m.put(c.ref, "@>")
		v()
		return
	}
	if m.chance(30) {
		element := m.sampleOf(c)
		element, _, _ = strings.Cut(strings.Trim(element, "{}"), ",")
		typ := Text
		if c.typ == Ints {
			typ = Int
		}
		m.written(typ, element)
		m.put("=", "ANY", "(", c.ref, ")")
		return
	}
	m.put(c.ref, m.one("@>", "&&", "<@", "="))
	v()
}

// fixed puts a value for a column, in one of the many ways to write one.
func (m *maker) fixed(c column) { m.written(c.typ, m.sampleOf(c)) }

func (m *maker) written(t Type, value string) {
	if m.values == Parameters || m.values == Mixed && m.chance(50) {
		m.hole(t, value)
		if m.chance(25) {
			m.put("::", string(t))
		}
		return
	}
	quoted := constant(Text, value)
	if t == Text && m.values == Mixed && m.chance(15) {
		m.use("order: constant beside an argument")
		m.put("concat", "(", "COALESCE", "(", quoted, ",")
		m.hole(Text, "x")
		m.put(")", ")")
		return
	}
	cast := func() { m.put(quoted, "::", string(t)) }
	switch m.r.IntN(14) {
	case 0, 1:
		cast()
	case 2:
		m.put("CAST", "(", quoted, "AS", string(t), ")")
	case 3:
		m.put("(", "SELECT")
		cast()
		m.put(")")
	case 4:
		m.put("COALESCE", "(", "NULL", ",")
		cast()
		m.put(")")
	case 5:
		m.put("CASE", "WHEN", "true", "THEN")
		cast()
		m.put("END")
	case 6, 7:
		m.computedValue(t, value, cast)
	default:
		m.put(constant(t, value))
	}
}

// computedValue puts a constant expression, of stable functions too.
func (m *maker) computedValue(t Type, value string, cast func()) {
	m.use("order: constant expression")
	switch t {
	case Text:
		cut := len(value) / 2
		m.put("(", constant(Text, value[:cut]), "||", constant(Text, value[cut:]), ")")
	case Int, Big, Numeric, Float:
		m.put("(")
		cast()
		m.put("+", "0", ")")
	case Date:
		m.any(func() { m.put("date", constant(Text, value)) }, func() { m.put("(", "CURRENT_DATE", "-", strconv.Itoa(m.r.IntN(3000)), ")") })
	case Time:
		m.any(func() { m.put("timestamptz", constant(Text, value)) },
			func() {
				m.put("(", "now", "(", ")", m.one("-", "+"), "interval", "'"+strconv.Itoa(m.r.IntN(2500))+" days'", ")")
			},
			func() { m.put("("); cast(); m.put("+", "interval", "'1 day'", ")") })
	default:
		cast()
	}
}
