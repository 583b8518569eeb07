package statement

// costly puts a query with a condition on a value that others may hold, and one that takes time, or fails by the size of what it makes.
// To Postgres it costs nothing: a sub-query that only seems to look at the row, and what puts values together.
func (m *maker) costly() {
	t, c := m.tieable()
	m.use("order: condition that takes time or space")
	key := Quote(t.Columns[t.keyColumn()].Name)
	m.put("SELECT", "y."+key, "FROM")
	if m.chance(20) {
		m.lateColumn(t)
		m.put("WHERE")
		m.heldBy(t, c)
		m.put("AND", "(", "y."+key, "IS", "NULL", "OR", "y.late", "IS", "NULL", ")")
		return
	}
	m.put(m.tableName(t), "AS", "y")
	if m.chance(5) { // an equation of another one's column
		m.put("JOIN", "countries", "AS", "k", "ON", "k.code", "=")
		m.hiddenCall()
		m.put("WHERE")
		m.heldBy(t, c)
		m.put("AND", "y."+key, "::", "text", "=", "k.code")
		m.scopedAs("AND", t, "y")
		return
	}
	joined := m.chance(20)
	if joined {
		m.put(m.one("LEFT", "FULL", "INNER"), "JOIN", "generate_series", "(", "1", ",", "2", ")", "AS", "g", "(", "v", ")", "ON", "y."+key, "::", "text", "IN")
		m.in(func() { m.put("SELECT", "k.code"); m.put(unscoped...) })
	}
	m.put("WHERE")
	m.heldBy(t, c)
	if joined {
		m.put("AND", "g.v", ">", "0")
	} else {
		m.put("AND")
		m.costlyCondition(key)
	}
	m.scopedAs("AND", t, "y")
}

// costlyCondition puts a part of WHERE.
func (m *maker) costlyCondition(key string) {
	switch {
	case m.chance(15): // a sub-query in what is compared with another one's rows
		m.put("(", "CASE", "WHEN", "y."+key, "IS", "NULL", "THEN", "(", "SELECT", "max", "(", "k.code", ")")
		m.put(unscoped...)
		m.put(")", "ELSE", "y."+key, "::", "text", "END", ")", m.one("<", ">", "="), "ANY", "(", "SELECT", m.one("'a'", "k.code"))
		m.put(unscoped...)
		m.put(")")
	case m.chance(15): // IN that seems to look at the row further out, in EXISTS
		m.put("EXISTS", "(", "SELECT")
		m.put(unscoped...)
		m.put("WHERE", "k.code", "=", "y."+key, "::", "text", "AND", "y."+key, "::", "text", "IN", "(", "WITH", "q", "AS", "(", "SELECT", "y."+key, ")", "SELECT", "k.code")
		m.put(unscoped...)
		m.put(")", ")")
	case m.chance(10): // a list of the row around
		m.put("EXISTS", "(", "SELECT")
		m.put(unscoped...)
		m.put("WHERE", "k.code", "IN", "(", "y."+key, "::", "text", ",", "y."+key, "::", "text", ")", ")")
	case m.chance(10):
		m.put("(", "y."+key, "IS", "NULL", "OR", "concat", "(", "'a'", ",", "'b'", ")", "IS", m.one("DISTINCT", "NOT DISTINCT"), "FROM", "NULL", ")")
	case m.chance(20): // a condition that Postgres moves out of the sub-query
		m.put("EXISTS", "(", "SELECT")
		m.put(unscoped...)
		m.put("WHERE", "y."+key, "::", "text", "<>", "(", "SELECT", "max", "(", "k.code", ")")
		m.put(unscoped...)
		m.put(")", ")")
	case m.chance(70):
		m.put("(", "y."+key, "IS", "NULL", "OR")
		m.costlyPart("y." + key)
		m.put(")")
	default:
		m.costlyPart("y." + key)
	}
}

// unscoped is a FROM that needs no scope condition.
var unscoped = []string{"FROM", "countries", "AS", "k"}

// lateColumn puts a join with a name of its own, a part of which has a sub-query in its select list.
func (m *maker) lateColumn(t *Table) {
	m.put("(", "(", "SELECT", "x.*", ",")
	if m.chance(50) {
		m.hiddenCall()
	} else {
		m.put("(", "SELECT", "count", "(", "*", ")")
		m.put(unscoped...)
		m.put(")")
	}
	m.put("AS", "late", "FROM", m.tableName(t), "AS", "x")
	m.scopedAs("WHERE", t, "x")
	m.put(")", "AS", "x", "JOIN", "(", "SELECT", "1", ")", "AS", "one", "(", "n", ")", "ON", "true", ")", "AS", "y")
}

// costlyPart puts a condition that looks at a column, or seems to.
func (m *maker) costlyPart(ref string) {
	counted := func(rest ...string) {
		m.put("(", "SELECT", "count", "(", "*", ")")
		m.put(unscoped...)
		m.put(rest...)
		m.put(")", ">", "0")
	}
	exists := func(entry []string, rest ...string) {
		m.put(m.one("EXISTS", "NOT EXISTS"), "(", "SELECT")
		m.put(entry...)
		m.put(unscoped...)
		m.put(rest...)
		m.put(")")
	}
	m.any(
		func() { exists([]string{ref}) },
		func() { exists(nil, "ORDER", "BY", ref) },
		func() { exists(nil, "GROUP", "BY", ref) },
		func() { exists(nil, "WHERE", "true", "OR", ref, "IS", "NULL") },
		func() { counted("WHERE", "coalesce", "(", "true", ",", ref, "IS", "NULL", ")") },
		func() {
			m.put("(", "WITH", "q", "AS", "(", "SELECT", ref, ")", "SELECT", "count", "(", "*", ")")
			m.put(unscoped...)
			m.put(")", ">", "0")
		},
		func() { counted() },
		func() {
			m.put(ref, "::", "text", "IN", "(", "(", "SELECT", "max", "(", "k.code", ")")
			m.put(unscoped...)
			m.put(")", ",", "'a'", ")")
		},
		func() { m.put("ARRAY", "[", ref, ",", ref, "]", "IS", "NULL") },
		func() { m.put("ROW", "(", "ROW", "(", ref, ",", ref, ")", ")", "IS", "NULL") },
		func() {
			m.put("concat", "(", "(", "SELECT", "max", "(", "k.code", ")")
			m.put(unscoped...)
			m.put(")", ",", "'a'", ")", "IS", "NULL")
		},
		func() {
			m.put(ref, "::", "text", m.one("<", ">", "="))
			m.hiddenCall()
		},
		func() {
			m.put("EXISTS", "(", "SELECT")
			m.put(unscoped...)
			m.put("WHERE", ref, "::", "text", m.one("<", ">", "="))
			m.hiddenCall()
			m.put(")")
		},
	)
}

// hiddenCall puts a call on a parameter that the engine may put into a sub-query.
func (m *maker) hiddenCall() {
	m.put("lower", "(", "concat", "(")
	if m.values == Constants { // a path without arguments
		m.put("'Kestrel'")
	} else {
		m.hole(Text, "Kestrel")
	}
	m.put("::", "text", ",", m.one("now ( )", "upper ( 'a' )", "'a'"), ")", ")")
}
