package statement

// passedIn puts a query that names a column of a query around it. The column's expression fails, and Postgres may have it as a parameter
// inside, where it asks for values that others may hold.
func (m *maker) passedIn() {
	t, c := m.tieable()
	m.use("order: computed column in a query inside")
	key := Quote(t.Columns[t.keyColumn()].Name)
	inside := func() {
		m.put("SELECT", "FROM", m.tableName(t), "AS", "y", "WHERE")
		m.heldBy(t, c, "y")
		m.put("AND", "(", "y."+key, "IS", "NULL", "OR", "s.v", "IS", m.one("NULL", "NOT NULL"), ")")
		m.scopedAs("AND", t, "y")
	}
	exists := m.chance(50)
	m.put("SELECT")
	if exists {
		m.put("EXISTS")
		m.in(inside)
	} else {
		m.put("count", "(", "*", ")")
	}
	m.put("FROM")
	m.in(func() {
		m.put("SELECT")
		m.failsAlways(t, "x."+key, key)
		m.put("AS", "v", "FROM", m.tableName(t), "AS", "x")
		m.scopedAs("WHERE", t, "x")
	})
	m.put("AS", "s")
	if !exists {
		m.put(",", "LATERAL")
		m.in(func() { inside(); m.put("LIMIT", "1") })
		m.put("AS", "e")
	}
}

// failsAlways puts an expression that fails for every row.
func (m *maker) failsAlways(t *Table, ref, key string) {
	m.any(
		func() { m.put("NOT", "(", ref, "::", "text", "LIKE", `'%\'`, ")") },
		func() { m.put("CASE", "WHEN", ref, "::", "text", "LIKE", `'%\'`, "THEN", ref, "END") },
		func() {
			m.in(func() {
				m.put("SELECT", "1", "/", "length", "(", "left", "(", "j."+key, "::", "text", ",", "0", ")", ")", "FROM", m.tableName(t), "AS", "j", "WHERE", "j."+key, "=", ref)
				m.scopedAs("AND", t, "j")
			})
		},
	)
}

// equated puts a join of functions on an equation with what fails, and a table joined by the same column: of the two Postgres
// makes a condition on the table.
func (m *maker) equated() {
	t, c := m.tieable()
	var by *Column
	for i := range t.Columns {
		if o := &t.Columns[i]; o != c && o.Type == Text && o.Kind != Scope && !o.Hidden {
			by = o
		}
	}
	if by == nil {
		m.passedIn()
		return
	}
	m.use("order: equation of functions")
	g := "g." + Quote(by.Name)
	equation := func(op string) { m.put("(", g, op, "(", "SELECT", "(", "1", "/", "0", ")", "::", "text", ")", ")") }
	m.put("SELECT", "y."+Quote(t.Columns[t.keyColumn()].Name), "FROM", "(", "string_to_table", "(", "'zzz,yyy'", ",", "','", ")", "AS", "g", "(", Quote(by.Name), ")",
		"JOIN", "string_to_table", "(", "'zzz,yyy'", ",", "','", ")", "AS", "z", "ON")
	m.any(
		func() { equation("=") },
		func() { m.put("NOT"); equation("<>") },
		func() {
			equation("=")
			m.put(m.one("<>", "IS DISTINCT FROM"), "starts_with", "(", "coalesce", "(", "'a'", ",", "z", ")", ",", "'b'", ")")
		},
		func() {
			m.put("EXISTS", "(", "SELECT", "FROM", "generate_series", "(", "1", ",", "2", ")", "WHERE")
			equation("=")
			m.put(")")
		},
	)
	m.put(")", "JOIN", m.tableName(t), "AS", "y", "USING", "(", Quote(by.Name), ")", "WHERE")
	m.heldBy(t, c, "y")
	m.scopedAs("AND", t, "y")
}

// heldBy puts a condition on a value that others may hold. It is leakproof, and no equation.
func (m *maker) heldBy(t *Table, c *Column, name string) {
	value := probe(t, c, m.r)
	for i, op := range []string{">=", "<="} {
		if i > 0 {
			m.put("AND")
		}
		m.put(name+"."+Quote(c.Name), op)
		m.written(c.Type, value)
	}
}
