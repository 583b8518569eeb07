package statement

import "strconv"

// aggregate puts an aggregate of a type over the level's own rows.
func (m *maker) aggregate(l *level, t Type, depth int) {
	m.use("aggregate")
	switch t {
	case Int, Date, Time, Text:
		if t == Text && m.chance(40) {
			m.sorted("string_agg", l, Text, "','")
			break
		}
		if t == Int && m.chance(30) {
			m.put("count", "(", "*", ")")
			m.filter(l, depth)
			m.put("::", "int4")
			return
		}
		if m.chance(15) {
			m.percentile(l, t)
			break
		}
		m.put(m.one("min", "max"), "(")
		m.argument(l, t)
		m.put(")")
	case Big:
		m.any(func() { m.put("count", "(", "*", ")") }, func() { m.put("count", "("); m.argument(l, Text); m.put(")") },
			func() { m.use("aggregate DISTINCT"); m.put("count", "(", "DISTINCT"); m.argument(l, Text); m.put(")") },
			func() { m.put("sum", "("); m.argument(l, Int); m.put(")") })
	case Numeric:
		m.any(func() { m.put("sum", "("); m.argument(l, Numeric); m.put(")") }, func() { m.put("avg", "("); m.argument(l, Int); m.put(")") },
			func() { m.put("sum", "(", "DISTINCT"); m.argument(l, Big); m.put(")") })
	case Bool:
		m.put(m.one("bool_and", "bool_or", "every"), "(")
		m.predicate(&level{rels: l.rels}, min(depth, 1))
		m.put(")")
	case JSON:
		m.sorted("jsonb_agg", l, m.one1(Text, Int), "")
	case Texts:
		m.sorted("array_agg", l, Text, "")
	case Ints:
		m.sorted("array_agg", l, Int, "")
	case Float:
		m.put("max", "(")
		m.argument(l, Float)
		m.put(")")
	default:
		m.put("(")
		m.sorted("array_agg", l, t, "")
		m.put(")", "[", "1", "]")
		return
	}
	m.filter(l, depth)
}

// argument puts what an aggregate takes: it must be of the level's own rows.
func (m *maker) argument(l *level, t Type) {
	own := &level{rels: l.rels}
	if m.chance(15) {
		m.expr(own, t, 1)
		return
	}
	if m.chance(12) {
		m.failingOf(own, t)
		return
	}
	if !m.column(own, t) {
		m.literal(t)
	}
}

// sorted puts an aggregate whose result depends on the order of its values.
func (m *maker) sorted(name string, l *level, t Type, separator string) {
	m.use("aggregate ORDER BY")
	argument := m.capture(func() {
		if !m.column(&level{rels: l.rels}, t) {
			m.put(constant(t, m.sample(t)), "::", string(t))
		}
	})
	m.put(name, "(")
	m.out = append(m.out, argument...)
	if separator != "" {
		m.put(",", separator)
	}
	m.put("ORDER", "BY")
	m.out = append(m.out, argument...)
	m.put(")")
}

func (m *maker) filter(l *level, depth int) {
	if !m.chance(20) {
		return
	}
	m.use("FILTER")
	m.put("FILTER", "(", "WHERE")
	m.predicate(&level{rels: l.rels}, min(depth, 1))
	m.put(")")
}

// window puts a window function; pending is what puts the windows named so far.
func (s *selection) window(t Type, pending func()) func() {
	m := s.maker
	m.use("window function")
	own := &level{rels: s.l.rels}
	whole := false // the result rests on the order of rows that are equal by a column
	switch t {
	case Big:
		m.any(func() { m.put(m.one("rank", "dense_rank"), "(", ")") }, func() { m.put("count", "(", "*", ")") },
			func() { m.put("sum", "("); m.argument(own, Int); m.put(")") }, func() { m.put("row_number", "(", ")"); whole = true })
	case Numeric:
		m.put("avg", "(")
		m.argument(own, Int)
		m.put(")")
	case Text, Int, Date, Time:
		if m.chance(50) {
			m.put(m.one("min", "max"), "(")
			m.argument(own, t)
			m.put(")")
			break
		}
		whole = true
		m.put(m.one("lag", "lead", "first_value", "last_value"), "(")
		m.argument(own, t)
		m.put(")")
	default:
		m.expr(s.l, t, s.depth)
		return pending
	}
	m.put("OVER")
	spec := m.capture(func() { s.windowSpec(whole) })
	if pending == nil && m.chance(25) {
		m.use("WINDOW")
		name := "win" + strconv.Itoa(m.names)
		m.put(name)
		return func() {
			m.put("WINDOW", name, "AS")
			m.out = append(m.out, spec...)
		}
	}
	m.out = append(m.out, spec...)
	return pending
}

func (s *selection) windowSpec(whole bool) {
	m := s.maker
	own := &level{rels: s.l.rels}
	m.put("(")
	if c, ok := m.pick(own, ""); ok && m.chance(50) {
		m.put("PARTITION", "BY", c.ref)
	}
	if whole {
		m.put("ORDER", "BY")
		m.total(s.l)
	} else if c, ok := m.pick(own, ""); ok && m.chance(50) {
		m.put("ORDER", "BY", c.ref)
		m.direction()
		if m.chance(30) {
			m.use("window frame")
			m.put(m.one("RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", "GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW", "RANGE UNBOUNDED PRECEDING EXCLUDE TIES"))
		}
	}
	m.put(")")
}
