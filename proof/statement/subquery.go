package statement

// level puts SELECT, what list puts, FROM and WHERE.
func (m *maker) level(outer *level, depth int, list func(l *level)) *level {
	l := &level{outer: outer}
	saved := m.pending
	m.pending = nil
	from := m.capture(func() { m.from(l, depth) })
	conditions := m.needsConditions(m.pending)
	m.pending = saved
	m.put("SELECT")
	list(l)
	m.out = append(m.out, from...)
	m.where(l, conditions, depth)
	return l
}

// set puts a query of one column.
func (m *maker) set(outer *level, t Type, depth int) {
	m.within(func() { m.level(outer, min(depth, 1), func(l *level) { m.expr(l, t, 1) }) })
}

// aggregateQuery puts a query of one value: an aggregate.
func (m *maker) aggregateQuery(outer *level, t Type, depth int) {
	m.within(func() { m.level(outer, min(depth, 1), func(l *level) { m.aggregate(l, t, 1) }) })
}

// single puts a query of one value at most: by a key, or the first one.
func (m *maker) single(outer *level, t Type, depth int) {
	if m.chance(50) {
		l := m.level(outer, min(depth, 1), func(l *level) { m.expr(l, t, 1) })
		m.put("ORDER", "BY", "1")
		if len(l.rels) > 0 && m.chance(50) {
			m.put(",")
			m.total(l)
		}
		m.put("LIMIT", "1")
		return
	}
	m.use("sub-select by key")
	table := m.table(false)
	l := &level{outer: outer}
	saved := m.pending
	m.pending = nil
	var r *relation
	from := m.capture(func() { m.put("FROM"); r = m.reference(table) })
	m.add(l, r)
	conditions := m.needsConditions(m.pending)
	m.pending = saved
	m.put("SELECT")
	m.expr(l, t, 1)
	m.out = append(m.out, from...)
	m.put("WHERE")
	for _, c := range conditions {
		m.condition(c)
		m.put("AND")
	}
	m.keyIs(r)
}

// keyIs puts a condition that one row of the server's fulfils at most.
func (m *maker) keyIs(r *relation) {
	first := true
	for _, c := range r.cols {
		if c.kind == Scope || !keyed(r.table, c) {
			continue
		}
		if !first {
			m.put("AND")
		}
		first = false
		m.put(c.ref, "=")
		m.value(c.typ, m.sampleOf(c))
	}
}

// query1 puts a condition with a sub-select.
func (m *maker) query1(l *level, depth int) {
	c, ok := m.pick(l, "")
	switch n := m.r.IntN(100); {
	case n < 40 || !ok || c.typ == "json":
		m.use("EXISTS")
		if m.chance(30) {
			m.put("NOT")
		}
		m.put("EXISTS")
		m.in(func() { m.exists(l, depth) })
	case n < 60:
		m.use("IN sub-select")
		m.ref(l, c)
		m.put(m.one("IN", "NOT IN"))
		m.in(func() { m.set(l, c.typ, depth) })
	case n < 75:
		m.use("ANY of a sub-select")
		m.ref(l, c)
		m.put(m.one("=", "<>", "<", ">="), m.one("ANY", "ALL", "SOME"))
		m.in(func() { m.set(l, c.typ, depth) })
	case n < 85:
		m.rowTest(l, c, depth)
	default:
		m.use("scalar sub-select")
		m.ref(l, c)
		m.put(m.one(comparisons...))
		m.in(func() { m.single(l, c.typ, depth) })
	}
}

func (m *maker) exists(l *level, depth int) {
	if m.chance(25) {
		m.nested(l, nil, min(depth, 1))
		return
	}
	m.within(func() {
		m.level(l, min(depth, 1), func(inner *level) {
			m.any(m.word("1"), func() { m.everything(inner) }, func() { m.expr(inner, Int, 1) })
		})
	})
}

// rowTest compares rows.
func (m *maker) rowTest(l *level, c column, depth int) {
	d, _ := m.pick(l, "")
	m.use("row comparison")
	if m.chance(40) {
		m.put("ROW")
	}
	m.in(func() { m.ref(l, c); m.put(","); m.ref(l, d) })
	switch m.r.IntN(3) {
	case 0:
		m.put(m.one("=", "<>", "<", ">="))
		m.in(func() { m.value(c.typ, m.sampleOf(c)); m.put(","); m.value(d.typ, m.sampleOf(d)) })
	case 1:
		m.use("IN list of rows")
		m.put("IN")
		m.in(func() {
			m.list(2, func(int) {
				m.in(func() { m.put(constant(c.typ, m.sampleOf(c)), ",", constant(d.typ, m.sampleOf(d))) })
			})
		})
	default:
		m.use("row IN sub-select")
		m.put(m.one("IN", "NOT IN"))
		m.in(func() {
			m.level(l, min(depth, 1), func(inner *level) { m.expr(inner, c.typ, 1); m.put(","); m.expr(inner, d.typ, 1) })
		})
	}
}
