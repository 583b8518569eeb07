package statement

import "github.com/tenantgate/tenantgate/policy"

// scopeJoined puts a join of a scope column with a text in which the server has written other servers' ids. A hash join
// of several batches keeps what meets the most common values of the outer column in buckets of their own, in the order
// of how often these come: a sub-query that Postgres expects many rows of makes it one.
func (m *maker) scopeJoined() {
	outer, text := m.textual(), m.textual()
	v, w := m.freeText(text), m.freeText(text)
	m.ids, m.mentioned = v, append(m.mentioned, outer, text)
	m.use("order: scope column in a join")
	m.put("SELECT", "c."+Quote(outer.Scope()), ",", "row_number", "(", ")", "OVER", "(", ")", "FROM")
	saved := m.pending
	m.pending = nil
	m.put(m.tableName(outer), "AS", "m")
	m.put(m.one("RIGHT JOIN", "RIGHT JOIN", "RIGHT JOIN", "JOIN", "LEFT JOIN"))
	m.in(func() {
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
	})
	m.put("AS", "c")
	if m.chance(20) {
		m.put("USING", "(", Quote(outer.Scope()), ")")
	} else {
		m.put("ON", "m."+Quote(outer.Scope()), m.one("=", "=", "=", "<>"), "c."+Quote(outer.Scope()))
		if m.chance(70) { // no merge join
			m.put("AND", "m."+Quote(m.freeText(outer).Name), "<>", "c.w")
		}
		m.scopedAs("AND", outer, "m")
	}
	m.pending = saved
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
