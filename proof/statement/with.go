package statement

import (
	"slices"
	"strconv"
)

// with puts a WITH clause and makes its names visible.
func (m *maker) with(outer *level, depth int, top bool) {
	m.put("WITH")
	if m.chance(20) {
		m.recursive(outer)
		return
	}
	n := 1 + m.r.IntN(2)
	recursive := m.chance(10)
	if recursive {
		m.put("RECURSIVE")
	}
	m.list(n, func(i int) {
		if i > 0 {
			m.use("WITH siblings")
		}
		m.cte(outer, depth, top)
	})
}

func (m *maker) cte(outer *level, depth int, top bool) {
	name := m.cteName()
	m.put(name)
	names := m.chance(25)
	at := len(m.out)
	m.put("AS")
	if m.chance(30) {
		m.use("MATERIALIZED")
		m.put(m.one("MATERIALIZED", "NOT MATERIALIZED"))
	}
	r := &relation{name: name, sealed: true}
	m.in(func() {
		if top && m.chance(14) && outer == nil {
			m.use("data-modifying WITH")
			m.Loose = true // what the rest of the statement sees of it is not determined in all cases
			r.cols = m.write(depth, true)
		} else {
			r.cols = m.nested(outer, nil, min(depth, 2))
		}
	})
	if names && len(r.cols) > 0 {
		m.use("WITH columns")
		list := m.capture(func() {
			m.in(func() {
				m.list(len(r.cols), func(i int) { r.cols[i].name = "k" + strconv.Itoa(i); m.put(r.cols[i].name) })
			})
		})
		m.out = append(m.out[:at], append(list, m.out[at:]...)...)
	}
	if len(r.cols) > 0 && distinctNames(r.cols) {
		m.ctes = append(m.ctes, r)
	}
}

// cteName gives a name, sometimes that of a table, which it then hides.
func (m *maker) cteName() string {
	if m.chance(12) {
		if t := m.table(false); Quote(t.Name) == t.Name && !m.hidden(t.Name) {
			m.use("WITH name of a table")
			return t.Name
		}
	}
	m.names++
	return "cte" + strconv.Itoa(m.names)
}

func distinctNames(cols []column) bool {
	seen := map[string]bool{}
	for _, c := range cols {
		if seen[c.name] || c.name == "" {
			return false
		}
		seen[c.name] = true
	}
	return true
}

// recursive puts a query that refers to itself; now and then one of which nothing can fail,
// which ends because nothing joins.
func (m *maker) recursive(outer *level) {
	m.use("WITH RECURSIVE")
	m.names++
	name := "rec" + strconv.Itoa(m.names)
	m.put("RECURSIVE", name, "(", "n", ",", "v", ")", "AS")
	r := &relation{name: name, sealed: true, cols: []column{{name: "n", typ: Int, kind: Computed}, {name: "v", typ: Text, kind: Computed}}}
	m.in(func() {
		saved := m.pending
		plain, end := m.chance(30), []string{"<", "3"}
		if plain {
			end = []string{">", "3"}
		}
		m.level(outer, 1, func(l *level) {
			m.put("1", ",")
			if plain {
				m.put("'ann'", "::", "text")
			} else {
				m.cast(m.arg(l, Text, 1), Text)
			}
		})
		m.put(m.one("UNION ALL", "UNION"))
		m.pending = nil
		t := m.table(false)
		l := &level{outer: outer}
		var table *relation
		alias := m.alias("w")
		from := m.capture(func() {
			m.put("FROM", name, "AS", alias, "JOIN")
			table = m.reference(t)
			m.put("ON", alias+".n")
			m.put(end...)
			m.put("AND")
			m.keyIs(table)
		})
		l.rels = []*relation{renamed(r, alias), table}
		conditions := m.needsConditions(m.pending)
		if plain {
			m.put("SELECT", alias+".n", ",", alias+".v")
		} else {
			m.put("SELECT", alias+".n", "+", "1", ",")
			m.cast(m.arg(l, Text, 1), Text)
		}
		m.out = append(m.out, from...)
		m.where(l, conditions, 1)
		m.pending = saved
	})
	m.ctes = append(m.ctes, r)
}

// hidden tells whether a WITH name hides a table.
func (m *maker) hidden(name string) bool {
	return slices.ContainsFunc(m.ctes, func(r *relation) bool { return r.name == name })
}

// within puts a query, now and then with a WITH of its own that hides a table: behind its
// end the name means the table again.
func (m *maker) within(query func()) {
	visible := len(m.ctes)
	t := m.table(false)
	hides := m.chance(30) && Quote(t.Name) == t.Name && !m.hidden(t.Name) && m.spend()
	if hides {
		m.use("WITH in a sub-query")
		m.put("WITH", t.Name, "AS")
		r := &relation{name: t.Name, sealed: true}
		m.in(func() { r.cols = m.copyOf(t) })
		m.ctes = append(m.ctes, r)
	}
	query()
	m.ctes = m.ctes[:visible]
	if hides {
		m.freed = append(m.freed, t)
	}
}

// copyOf puts a query of all columns of a table that may be read.
func (m *maker) copyOf(t *Table) []column {
	saved := m.pending
	m.pending = nil
	var r *relation
	from := m.capture(func() { m.put("FROM"); r = m.reference(t) })
	conditions := m.needsConditions(m.pending)
	m.pending = saved
	m.put("SELECT")
	m.list(len(r.cols), func(i int) { m.put(r.cols[i].ref) })
	m.out = append(m.out, from...)
	m.where(&level{rels: []*relation{r}}, conditions, 0)
	return r.cols
}
