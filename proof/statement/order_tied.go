package statement

import (
	"slices"
	"strconv"

	"github.com/tenantgate/tenantgate/policy"
)

// tied puts a query that gives rows of one value first, by an index that is read backwards. Its plant has so many rows
// of the value that a page of the index gets full.
func (m *maker) tied() {
	t, c := m.tieable()
	m.tie, m.held = c, probe(t, c, m.r)
	m.use("order: many rows of one value")
	m.put("SELECT", "x."+Quote(t.Columns[t.keyColumn()].Name), "FROM", m.tableName(t), "AS", "x")
	m.put("WHERE", "x."+Quote(c.Name), "<=")
	if m.values == Constants {
		m.put(constant(c.Type, m.held), "::", string(c.Type))
	} else {
		m.hole(c.Type, m.held)
	}
	m.scopedAs("AND", t, "x")
	m.put("ORDER", "BY", "x."+Quote(c.Name), m.one("DESC", "DESC", "DESC", "ASC"))
	m.put("LIMIT", strconv.Itoa(10+m.r.IntN(250)))
}

// tieable picks a scoped table and a column that may have one value in many rows, of the kinds that have indexes.
func (m *maker) tieable() (*Table, *Column) {
	for {
		t := m.skewedTable()
		c := &t.Columns[m.r.IntN(len(t.Columns))]
		free := slices.Contains([]Kind{Name, Mark, Moment, Token128}, c.Kind) && !c.Hidden && !c.Fixed && !c.ascends()
		if free && t.ScopeType != "" && t.Fits(m.server) {
			return t, c
		}
	}
}

// plantTied gives an INSERT of many rows of one value. Other columns have it where they must have one.
func (m *maker) plantTied(t *Table) Statement {
	m.out = nil
	var cols []*Column
	for i := range t.Columns {
		c := &t.Columns[i]
		isNeeded := !c.Default && !c.Null && c.Kind != Scope
		if c.Kind == ID || c == m.tie || isNeeded && !c.Fixed {
			cols = append(cols, c)
		}
	}
	m.put("INSERT", "INTO", t.Schema+"."+Quote(t.Name))
	m.in(func() { m.list(len(cols), func(i int) { m.put(Quote(cols[i].Name)) }) })
	m.put("SELECT")
	m.list(len(cols), func(i int) {
		switch c := cols[i]; {
		case c.Kind == ID && c.Type == Text:
			m.put("'z'", "||", "g")
		case c.Kind == ID:
			m.put("900", "+", "g")
		case c == m.tie:
			m.put(constant(c.Type, m.held), "::", string(c.Type))
		case c.Kind == Ref:
			m.put(constant(c.Type, key(c, t, 0)))
		default:
			m.put(constant(c.Type, probe(t, c, m.r)), "::", string(c.Type))
		}
	})
	m.put("FROM", "generate_series", "(", "1", ",", strconv.Itoa(40+m.r.IntN(600)), ")", "AS", "g")
	return Statement{Tokens: m.out, Mode: policy.Inject, Insert: true}
}
