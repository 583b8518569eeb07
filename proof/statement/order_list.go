package statement

// shown picks a column to show, mostly a key.
func (m *maker) shown(l *level) column {
	all := l.columns("")
	for range 3 {
		if c := all[m.r.IntN(len(all))]; c.kind == ID {
			return c
		}
	}
	for {
		if c := all[m.r.IntN(len(all))]; c.typ != JSON {
			return c
		}
	}
}

// show puts a select list that shows the order of the level's rows, and what follows it.
func (m *maker) show(l *level, tail []Token) {
	m.put("SELECT")
	c, d := m.shown(l), m.shown(l)
	grouped := m.chance(25)
	if grouped {
		m.use("order: GROUP BY")
		m.put(c.ref, ",")
		m.any(func() { m.put("count ( * )") }, func() { m.put("array_agg", "(", d.ref, ")") })
	} else {
		m.listed(c, d)
	}
	m.out = append(m.out, tail...)
	if grouped {
		m.put("GROUP", "BY", c.ref)
	}
}

// listed puts one of the select lists that show an order.
func (m *maker) listed(c, d column) {
	things := []struct {
		name string
		put  func()
	}{
		{"DISTINCT", func() { m.put("DISTINCT", c.ref) }},
		{"DISTINCT", func() { m.put("DISTINCT", c.ref) }},
		{"DISTINCT", func() { m.put("DISTINCT", c.ref) }},
		{"DISTINCT", func() { m.put("DISTINCT", c.ref) }},
		{"DISTINCT", func() { m.put("DISTINCT", c.ref, ",", d.ref) }},
		{"DISTINCT ON", func() { m.put("DISTINCT", "ON", "(", d.ref, ")", c.ref) }},
		{"rows as they come", func() { m.put(c.ref, ",", d.ref) }},
		{"array_agg", func() { m.put("array_agg", "(", c.ref, ")") }},
		{"array_agg", func() { m.put("array_agg", "(", c.ref, ")", "=", "array_agg", "(", c.ref, "ORDER", "BY", c.ref, ")") }},
		{"string_agg", func() { m.put("string_agg", "("); m.asText(c); m.put(",", "','", ")") }},
		{"json_agg", func() { m.put("json_agg", "(", c.ref, ")") }},
		{"row_number", func() { m.put(c.ref, ",", "row_number", "(", ")", "OVER", "(", ")") }},
		{"first_value", func() { m.put(c.ref, ",", "first_value", "(", c.ref, ")", "OVER", "(", "PARTITION", "BY", d.ref, ")") }},
		{"float sum", func() {
			m.put("sum", "(", "1e0", "/", "(", "3", "+", "length", "(", "(")
			m.asText(c)
			m.put(")", "||", "''", ")", ")", ")")
		}},
		{"two errors", func() { m.failingEither(func() { m.asText(d) }) }},
	}
	thing := things[m.r.IntN(len(things))]
	m.use("order: " + thing.name)
	thing.put()
}

func (m *maker) asText(c column) {
	m.put(c.ref)
	if c.typ != Text {
		m.put("::", "text")
	}
}
