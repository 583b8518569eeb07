package statement

// sources gives a level of one table or several joined ones, and what puts FROM and WHERE.
func (m *maker) sources() (*level, []Token) {
	l := &level{}
	saved := m.pending
	m.pending = nil
	tail := m.capture(func() {
		m.put("FROM")
		m.add(l, m.reference(m.skewedTable()))
		if m.values != Parameters && m.chance(4) {
			m.joinedValue(l)
		}
		for m.chance(32) && len(l.rels) < 3 {
			m.joined(l)
		}
		if m.chance(25) {
			m.amplifier()
		}
		conditions := m.needsConditions(m.pending)
		n := []int{0, 1, 1, 1, 1, 1, 2, 2, 3}[m.r.IntN(9)]
		for i, r := range conditions {
			m.put(map[bool]string{true: "WHERE", false: "AND"}[i == 0])
			m.condition(r)
		}
		for i := range n {
			m.put(map[bool]string{true: "WHERE", false: "AND"}[i+len(conditions) == 0])
			m.asked(l)
		}
	})
	m.pending = saved
	return l, tail
}

func (m *maker) skewedTable() *Table {
	t := m.table(false)
	for t.ScopeType == "" && m.chance(90) {
		t = m.table(false)
	}
	m.mentioned = append(m.mentioned, t)
	return t
}

// joinedValue puts a join with a function that gives one value, by USING. Postgres may find that to be a constant.
func (m *maker) joinedValue(l *level) {
	c, ok := m.pick(l, "")
	if !ok || c.kind == Scope {
		return
	}
	m.use("order: USING of a value in FROM")
	value := func() { m.put(constant(Text, m.sampleOf(c)), "::", string(c.typ)) }
	m.put(m.one("JOIN", "LEFT JOIN", "RIGHT JOIN"))
	if m.chance(30) {
		m.shiftedValue(c.name, value)
		m.put("USING", "(", Quote(c.name), ")")
		return
	}
	if m.chance(70) { // a query gives the column by the item's name
		v := m.alias("v")
		m.put("(", "SELECT", v, "AS", Quote(c.name), "FROM")
		m.any(func() { m.put("COALESCE", "("); value(); m.put(",", "NULL", ")") }, func() { m.put("GREATEST", "("); value(); m.put(")") })
		m.put("AS", v, ")", "AS", m.alias("v"), "USING", "(", Quote(c.name), ")")
		return
	}
	m.any(
		func() { m.put("CAST", "(", constant(Text, m.sampleOf(c)), "AS", string(c.typ), ")") },
		func() { m.put("COALESCE", "("); value(); m.put(",", "NULL", ")") },
		func() { m.put("NULLIF", "("); value(); m.put(",", "NULL", ")") },
	)
	m.put("AS", m.alias("v"), "(", Quote(c.name), ")", "USING", "(", Quote(c.name), ")")
}

// joined puts a join with another table, by columns of one type.
func (m *maker) joined(l *level) {
	before := &level{rels: l.rels}
	kind := m.one("JOIN", "JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN")
	m.use("order: join")
	m.put(kind)
	r := m.reference(m.skewedTable())
	m.put("ON")
	var pairs [][2]column
	for _, a := range before.columns("") {
		for _, b := range r.cols {
			if a.typ == b.typ && a.kind != Scope && b.kind != Scope {
				pairs = append(pairs, [2]column{a, b})
			}
		}
	}
	m.add(l, r)
	if len(pairs) == 0 {
		m.put("true")
		return
	}
	for i := range 1 + m.r.IntN(2) {
		if i > 0 {
			m.put("AND")
		}
		p := pairs[m.r.IntN(len(pairs))]
		op := "="
		if i > 0 {
			op = m.one("=", "<", ">=")
		}
		if p[0].typ == Text && m.chance(8) {
			m.use("order: expression")
			m.put("lower", "(", p[0].ref, ")", "=", "lower", "(", p[1].ref, ")")
			continue
		}
		m.put(p[0].ref, op, p[1].ref)
	}
}
