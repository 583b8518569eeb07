package statement

// calledColumn puts a condition on a column of a row that is written like a call of an aggregate function.
func (m *maker) calledColumn() {
	t, c := m.tieable()
	m.use("order: column of a row, written as a call")
	name := m.one("max", "min", "sum", "avg")
	m.put("SELECT")
	grouped := m.chance(50)
	m.put(m.one("DISTINCT s.id", "s.id", "array_agg ( s.id )"), "FROM")
	m.in(func() {
		m.put("SELECT", "x."+Quote(t.Columns[t.keyColumn()].Name), "AS", "id", ",", "x."+Quote(c.Name), "AS", name, "FROM", m.tableName(t), "AS", "x")
		m.scopedAs("WHERE", t, "x")
	})
	m.put("AS", "s")
	if grouped {
		m.put("GROUP", "BY", "s.id", ",", "s."+name, "HAVING")
	} else {
		m.put("WHERE")
	}
	m.put(name, "(", "s", ")", m.one("=", "<", ">="))
	m.written(c.Type, probe(t, c, m.r))
	m.cut()
}

// shiftedValue puts a sub-query that gives a value under a column's name: by a list of new names behind a function's *, or by a set
// operation.
func (m *maker) shiftedValue(name string, value func()) {
	m.use("order: new names beside a function's columns")
	v, k := m.alias("v"), m.alias("k")
	list := func() {
		m.put("SELECT", v+".*", ",", k, "FROM", m.one("COALESCE", "GREATEST"), "(")
		value()
		m.put(",", "NULL", ")", "AS", v, ",", "generate_series", "(", "1", ",", "1", ")", "AS", k)
	}
	m.any(
		func() { m.in(list); m.put("AS", m.alias("s"), "(", Quote(name), ",", "d", ")") },
		func() {
			m.in(func() {
				m.put("WITH", "w", "(", Quote(name), ",", "d", ")", "AS")
				m.in(list)
				m.put("SELECT", "*", "FROM", "w")
			})
			m.put("AS", m.alias("s"))
		},
		func() {
			m.in(func() {
				m.put("SELECT", "NULL", "AS", Quote(name), ",", "0", "AS", "d", "WHERE", "false", "UNION", "ALL")
				list()
			})
			m.put("AS", m.alias("s"))
		},
	)
}
