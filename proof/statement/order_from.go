package statement

// sources gives a level of one table or several joined ones, and what puts FROM and WHERE.
func (m *maker) sources() (*level, []Token) {
	l := &level{}
	saved := m.pending
	m.pending = nil
	tail := m.capture(func() {
		m.put("FROM")
		m.add(l, m.reference(m.skewedTable()))
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
