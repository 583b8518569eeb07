package statement

import (
	"fmt"
	"slices"
	"strconv"
)

// nested puts a whole query that is no statement of its own, and gives its columns.
func (m *maker) nested(outer *level, want []Type, depth int) []column {
	saved := m.pending
	m.pending = nil
	cols := m.query(outer, want, depth, false)
	m.pending = saved
	return cols
}

// query puts a query with its WITH, ORDER BY and LIMIT. want, where not nil, are the types
// of its columns.
func (m *maker) query(outer *level, want []Type, depth int, top bool) []column {
	visible := len(m.ctes)
	if depth > 1 && m.spend() && m.chance(map[bool]int{true: 25, false: 8}[top]) {
		m.with(outer, depth-1, top)
	}
	defer func() { m.ctes = m.ctes[:visible] }()
	switch n := m.r.IntN(100); {
	case n < 10 && depth > 0 && m.spend():
		if want == nil {
			want = m.types(1 + m.r.IntN(3))
		}
		cols := m.setOperation(outer, want, depth-1)
		m.order(nil, cols, top, false)
		return cols
	case n < 13:
		if want == nil {
			want = m.types(1 + m.r.IntN(3))
		}
		m.use("VALUES")
		m.put("VALUES")
		m.list(1+m.r.IntN(3), func(int) { m.in(func() { m.list(len(want), func(i int) { m.expr(seen(outer), want[i], 1) }) }) })
		cols := computed("column", want)
		m.order(nil, cols, top, false)
		return cols
	case n < 16 && want == nil:
		if cols, ok := m.tableForm(); ok {
			return cols
		}
	}
	return m.selects(outer, want, depth, top)
}

// types picks the types of a query's columns.
func (m *maker) types(n int) []Type {
	all := []Type{Text, Text, Int, Int, Big, Numeric, Bool, Date, Time, JSON, Texts, UUID}
	out := make([]Type, n)
	for i := range out {
		out[i] = all[m.r.IntN(len(all))]
	}
	return out
}

func computed(prefix string, types []Type) []column {
	cols := make([]column, len(types))
	for i, t := range types {
		cols[i] = column{name: prefix + strconv.Itoa(i+1), typ: t, kind: Computed}
	}
	return cols
}

// tableForm puts TABLE t, where that needs no scope condition.
func (m *maker) tableForm() ([]column, bool) {
	t := m.table(false)
	if t.ScopeType != "" && m.mode != "inject" && m.mode != None && !m.given {
		t = m.tables[len(m.tables)-1] // the shared one
	}
	if t.Hides() {
		return nil, false
	}
	m.use("TABLE")
	m.put("TABLE", m.tableName(t))
	m.use("scope type " + string(t.ScopeType))
	var cols []column
	for i := range t.Columns {
		c := &t.Columns[i]
		cols = append(cols, column{name: c.Name, typ: c.Type, kind: c.Kind, of: t, own: c})
	}
	return cols, true
}

// setOperation puts UNION, INTERSECT or EXCEPT of two queries or more.
func (m *maker) setOperation(outer *level, want []Type, depth int) []column {
	arm := func() []column {
		if m.chance(20) {
			m.use("bracketed arm")
			m.put("(")
			cols := m.nested(outer, want, depth)
			m.put(")")
			return cols
		}
		saved := m.pending
		m.pending = nil
		defer func() { m.pending = saved }()
		if depth > 0 && m.chance(12) && m.spend() {
			return m.setOperation(outer, want, depth-1)
		}
		return m.selects(outer, want, min(depth, 1), false, bare)
	}
	cols := arm()
	op := m.one("UNION ALL", "UNION", "UNION ALL", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL", "UNION DISTINCT")
	m.use(op)
	m.put(op)
	arm()
	if op != "UNION ALL" && slices.Contains(want, Numeric) {
		m.Loose = true // 1.5 and 1.50 are equal, and which of them stands for both is not determined
	}
	for i := range cols {
		cols[i] = column{name: cols[i].name, typ: want[i], kind: Computed}
	}
	return cols
}

// order puts ORDER BY and LIMIT. Ordered by all of its columns a result is determined, unless one is numeric: 1.5 and 1.50 are
// equal, and either may come first.
// l is the level of a plain query, nil for one that can be ordered by its columns only.
func (m *maker) order(l *level, cols []column, top, list bool) {
	total := len(cols) > 0 && m.chance(map[bool]int{true: 45, false: 15}[top])
	determined := total && !slices.ContainsFunc(cols, func(c column) bool { return c.typ == Numeric })
	switch {
	case total:
		m.use("ORDER BY")
		m.put("ORDER", "BY")
		m.list(len(cols), func(i int) {
			m.put(strconv.Itoa(i + 1))
			m.direction()
		})
		m.Sorted = m.Sorted || top && determined
	case l != nil && !list && m.chance(15):
		m.use("ORDER BY an expression")
		m.put("ORDER", "BY")
		m.expr(l, m.one1(Text, Int, Date), 1)
		m.direction()
	}
	if total && m.chance(50) || m.chance(2) {
		m.limit()
		m.Loose = m.Loose || !determined
	}
}

// one1 picks one of several types.
func (m *maker) one1(types ...Type) Type { return types[m.r.IntN(len(types))] }

func (m *maker) direction() {
	if m.chance(30) {
		m.put(m.one("ASC", "DESC"))
	}
	if m.chance(15) {
		m.put("NULLS", m.one("FIRST", "LAST"))
		m.use("NULLS FIRST")
	}
}

func (m *maker) limit() {
	n := fmt.Sprint(1 + m.r.IntN(9))
	switch m.r.IntN(4) {
	case 0:
		m.use("FETCH FIRST")
		if m.chance(40) {
			m.put("OFFSET", "1", "ROWS")
		}
		m.put("FETCH", m.one("FIRST", "NEXT"), n, "ROWS", "ONLY")
	default:
		m.use("LIMIT")
		m.put("LIMIT")
		m.value(Int, n)
		if m.chance(30) {
			m.use("OFFSET")
			m.put("OFFSET")
			m.value(Int, "2")
		}
	}
}

// seen is a level that can be looked at where there may be none.
func seen(l *level) *level {
	if l == nil {
		return &level{}
	}
	return l
}
