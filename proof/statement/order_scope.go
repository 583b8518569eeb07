package statement

import "github.com/tenantgate/tenantgate/policy"

// scopeJoined puts a join of a scope column with a text in which the server has written other servers' ids. A hash join
// of several batches keeps what meets the most common values of the outer column in buckets of their own, in the order
// of how often these come: a sub-query that Postgres expects many rows of makes it one, and so does a recursive one.
func (m *maker) scopeJoined() {
	outer, text := m.textual(), m.textual()
	v, w := m.freeText(text), m.freeText(text)
	m.ids, m.mentioned = v, append(m.mentioned, outer, text)
	m.use("order: scope column in a join")
	saved := m.pending
	m.pending = nil
	recursive := m.chance(30)
	if recursive {
		m.recursiveTexts(outer, text, v, w)
	}
	m.put("SELECT", "c."+Quote(outer.Scope()), ",", "row_number", "(", ")", "OVER", "(", ")", "FROM")
	m.put(m.tableName(outer), "AS", "m")
	m.put(m.one("RIGHT JOIN", "RIGHT JOIN", "RIGHT JOIN", "JOIN", "LEFT JOIN"))
	if !recursive {
		m.in(func() { m.texts(outer, text, v, w) })
		m.put("AS")
	}
	m.put("c")
	if m.chance(20) {
		m.put("USING", "(", Quote(outer.Scope()), ")")
	} else {
		m.put("ON", "m."+Quote(outer.Scope()), m.one("=", "=", "=", "<>"))
		m.textOf("c." + Quote(outer.Scope()))
		if m.chance(70) { // no merge join
			m.put("AND", "m."+Quote(m.freeText(outer).Name), "<>", "c.w")
		}
		m.scopedAs("AND", outer, "m")
	}
	m.pending = saved
}

// texts puts a query that gives a text under the name of another table's scope column, and w.
func (m *maker) texts(outer, text *Table, v, w *Column) {
	m.put("SELECT")
	m.any(
		func() { m.put(Quote(v.Name)) },
		func() { m.put(Quote(v.Name)) },
		func() { m.put("COALESCE", "(", Quote(v.Name), ",", Quote(text.Scope()), ")") },
		func() {
			m.put("CASE", "WHEN", Quote(v.Name), "IS", "NULL", "THEN", Quote(text.Scope()), "ELSE", Quote(v.Name), "END")
		},
	)
	m.put("AS", Quote(outer.Scope()), ",", Quote(w.Name), "AS", "w", "FROM", m.tableName(text), "AS", "x")
	m.put("CROSS", "JOIN", "generate_series", "(", "1", ",", "(", "SELECT", "1", ")", ")", "AS", "g")
	if m.chance(50) {
		m.put("CROSS", "JOIN", "unnest", "(", "ARRAY", "(", "SELECT", "1", ")", ")", "AS", "h")
	}
	m.scopedAs("WHERE", text, "x")
	m.put("OFFSET", "0")
}

// recursiveTexts puts a WITH query c that gives the scope column at first, and a text from its second or third round on.
func (m *maker) recursiveTexts(outer, text *Table, v, w *Column) {
	scope := Quote(text.Scope())
	m.put("WITH", "RECURSIVE", "c", "(", Quote(outer.Scope()), ",", "next", ",", "last", ",", "w", ")", "AS")
	m.in(func() {
		m.put("SELECT", scope, ",", scope, ",", Quote(v.Name), ",", Quote(w.Name), "FROM", m.tableName(text), "AS", "x")
		m.scopedAs("WHERE", text, "x")
		m.put("UNION", "SELECT", "c.next", ",", "c.last", ",", "c.last", ",", "c.w", "FROM", "c")
	})
}

// textOf puts a column, or a sub-query that gives it.
func (m *maker) textOf(column string) {
	one := func() { m.put("(", "SELECT", column, "LIMIT", "1", ")") }
	m.any(
		func() { m.put(column) },
		func() { m.put(column) },
		func() { m.put(column) },
		one,
		func() { m.put("COALESCE", "("); one(); m.put(",", "'a'", ")") },
	)
}

// textual picks a table whose scope column is a text.
func (m *maker) textual() *Table {
	for {
		if t := m.skewedTable(); t.ScopeType == Text && t.Fits(m.server) {
			return t
		}
	}
}

// freeText picks a column of a table that may hold any text.
func (m *maker) freeText(t *Table) *Column {
	for {
		if c := &t.Columns[m.r.IntN(len(t.Columns))]; c.Type == Text && (c.Kind == Name || c.Kind == Mark) && !c.Hidden && !c.Fixed {
			return c
		}
	}
}

// scopedAs puts the scope condition of a table that is known by a name, where one must be.
func (m *maker) scopedAs(word string, t *Table, name string) {
	if m.mode != policy.Require && (m.mode != policy.Once || m.given) {
		return
	}
	m.given = true
	m.put(word)
	m.condition(&relation{table: t, cols: []column{{ref: name + "." + Quote(t.Scope()), kind: Scope}}})
}
