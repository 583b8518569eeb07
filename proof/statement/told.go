package statement

import "slices"

// told puts a query that asks for texts which others alone hold, and compares whole rows that have one with rows of other types, which
// fails on each.
func (m *maker) told() {
	t, c := m.textOfOthers()
	m.use("failing on what others alone hold")
	m.comparedRows(t, "x."+Quote(c.Name))
}

// textOfOthers picks a scoped table and a column whose texts begin with CANARY in others' rows alone.
func (m *maker) textOfOthers() (*Table, *Column) {
	for {
		t := m.table(true)
		c := &t.Columns[m.r.IntN(len(t.Columns))]
		if t.Fits(m.server) && c.Type == Text && slices.Contains([]Kind{Name, Digits, Day, Mark}, c.Kind) && !c.Hidden && !c.Fixed {
			return t, c
		}
	}
}

// othersAlone puts the condition that only others' rows meet.
func (m *maker) othersAlone(column string) {
	m.put(column, ">=", "'CANARY'", "AND", column, "<", "'CANARZ'")
}

// comparedRows compares whole rows of sub-queries that are of other types.
func (m *maker) comparedRows(t *Table, x string) {
	m.put("SELECT", "count ( * )", "FROM", "(", "SELECT", "s", "AS", "r", "FROM", "(", "SELECT", m.one("1", "'a'"), "AS", "a", ",", "1.5", "AS", "b", ")", "AS", "s", ")", "AS", "y")
	join := m.one("LEFT JOIN", "NATURAL LEFT JOIN")
	m.put(join)
	m.in(func() {
		m.put("SELECT", "q", "AS", "r", "FROM")
		m.in(func() {
			m.put("SELECT", x, "AS", "a", ",", "'b'", "AS", "b", "FROM", m.tableName(t), "AS", "x", "WHERE")
			m.othersAlone(x)
			m.scopedAs("AND", t, "x")
		})
		m.put("AS", "q")
	})
	m.put("AS", "z")
	if join == "LEFT JOIN" {
		m.put("USING", "(", "r", ")")
	}
}
