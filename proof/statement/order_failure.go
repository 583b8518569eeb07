package statement

import "slices"

// passedIn puts a query inside another one, of which it names a computed column that fails. Postgres may have the expression as a
// parameter inside, where the query asks for values that others may hold.
func (m *maker) passedIn() {
	t, c := m.tieable()
	m.use("order: computed column in a query inside")
	key := Quote(t.Columns[t.keyColumn()].Name)
	inside := func() {
		m.put("SELECT", "FROM", m.tableName(t), "AS", "y", "WHERE")
		m.heldBy(t, c)
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
	var others []*Column
	for i := range t.Columns {
		if o := &t.Columns[i]; o != c && o.Type == Text && o.Kind != Scope && !o.Hidden {
			others = append(others, o)
		}
	}
	if len(others) == 0 {
		m.passedIn()
		return
	}
	by := others[m.r.IntN(len(others))]
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
	m.heldBy(t, c)
	m.scopedAs("AND", t, "y")
}

// dear puts a query with a computed value for the scope column, which costs more than a number that a call converts and that does not fit.
func (m *maker) dear() {
	t, c := m.tieable()
	var numbers []string
	for i := range t.Columns {
		if slices.Contains([]Type{Int, Float}, t.Columns[i].Type) && !t.Columns[i].Hidden {
			numbers = append(numbers, "y."+Quote(t.Columns[i].Name))
		}
	}
	if len(numbers) == 0 || t.ScopeType != Text {
		m.passedIn()
		return
	}
	m.use("order: computed value for the scope column")
	m.put("SELECT", "y."+Quote(t.Columns[t.keyColumn()].Name), "FROM", m.tableName(t), "AS", "y", "WHERE")
	m.heldBy(t, c)
	m.put("AND", "float8lt", "(", numbers[m.r.IntN(len(numbers))], ",", "1e400", ")", "AND", "y."+Quote(t.Scope()), "=")
	m.any(
		func() { m.put("''", "||", constant(Text, m.server)) },
		func() { m.put("upper", "(", "lower", "(", constant(Text, m.server), ")", ")") },
	)
	m.scopedAs("AND", t, "y")
}

// heldBy puts a condition on a value of y that others may hold. It is leakproof, and no equation.
func (m *maker) heldBy(t *Table, c *Column) {
	value := probe(t, c, m.r)
	for i, op := range []string{">=", "<="} {
		if i > 0 {
			m.put("AND")
		}
		m.put("y."+Quote(c.Name), op)
		m.written(c.Type, value)
	}
}
