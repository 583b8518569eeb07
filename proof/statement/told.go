package statement

import "slices"

// told puts a query that asks for texts which others alone hold, and that fails on any row that has one: by what no trap does,
// such as a name which means another thing than it seems to.
func (m *maker) told() {
	t, c := m.textOfOthers()
	x := "x." + Quote(c.Name)
	m.use("failing on what others alone hold")
	switch n := m.r.IntN(11); {
	case n < 5:
		m.comparedRows(t, x)
	case n < 10:
		m.renamedOrdinality(t, c)
	default:
		m.equated(t, x)
	}
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

// equated compares a function's column with the table's and with a sub-query that fails: Postgres makes one equation of these.
func (m *maker) equated(t *Table, x string) {
	const fails = "( SELECT n FROM unnest ( ARRAY [ 'a' , 'b' ] ) AS n )" // Postgres fails on ( SELECT 1 / 0 ) when it plans
	from, where := ",", m.one("g.v = "+fails, "NOT ( g.v <> "+fails+" )")
	if m.chance(50) {
		from, where = "JOIN string_to_table ( 'a' , ',' ) AS h ON g.v = "+fails+" CROSS JOIN", "true"
	}
	m.put("SELECT", x, "FROM", "string_to_table ( 'zz,yy' , ',' )", "AS", "g", "(", "v", ")", from, m.tableName(t), "AS", "x")
	m.put("WHERE", "g.v", "=", x, "AND", where, "AND")
	m.othersAlone(x)
	m.scopedAs("AND", t, "x")
}

// renamedOrdinality names a column of the table, which a function in FROM seems to have.
func (m *maker) renamedOrdinality(t *Table, c *Column) {
	m.put("SELECT", "x.ordinality", "FROM")
	m.in(func() {
		m.put("SELECT", "t."+Quote(c.Name), "AS", "ordinality", "FROM", m.tableName(t), "AS", "t")
		m.scopedAs("WHERE", t, "t")
	})
	m.put("AS", "x", ",", "LATERAL", "(", "SELECT", "ordinality", "AS", "c", "FROM", m.one("lower ( 'a' )", "unnest ( ARRAY [ 'a' ] )"))
	m.put("WITH", "ORDINALITY", "AS", "g", "(", "a", ",", "o", ")", ")", "AS", "v", ",", "generate_series ( 1 , 2 )", "AS", "k")
	m.put("WHERE")
	m.othersAlone("x.ordinality") // first, so that it does not fail on the server's own database
	m.put("AND", "(", "v.c", m.one("IS NULL OR ( SELECT n > 0 FROM generate_series ( 1 , 2 ) AS n )", ":: int4 > 0", "IS NULL OR 'x' ~ v.c"), "OR", "(", "k", "=", "1", "AND", "false", ")", ")")
}
