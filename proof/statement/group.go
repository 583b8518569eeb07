package statement

import "slices"

// grouped puts a level with GROUP BY, or one group of all rows.
func (s *selection) grouped() []column {
	m := s.maker
	keys, last := s.groupKeys()
	want := s.want
	if want == nil {
		want = m.types(1 + m.r.IntN(3))
	}
	sees := &level{rels: []*relation{{cols: keys}}, outer: s.l.outer}
	var cols []column
	var window func()
	m.put("SELECT")
	if m.chance(5) {
		m.put("DISTINCT")
	}
	m.list(len(want), func(i int) {
		c, at := column{typ: want[i], kind: Computed}, len(m.out)
		switch {
		case m.chance(35) && m.column(&level{rels: sees.rels}, want[i]):
		case m.chance(20) && want[i] == Int && window == nil && len(keys) > 0:
			window = m.grouping(keys)
		case m.chance(70):
			m.aggregate(s.l, want[i], s.depth)
		default:
			m.expr(sees, want[i], min(s.depth, 1))
		}
		cols = append(cols, m.named(c, i, s.top))
		m.byOutput(keys, m.out[at:], i)
	})
	if last != nil {
		cols = append(cols, m.unnamed(last))
	}
	s.rest()
	m.groupBy(keys)
	if m.chance(30) {
		m.use("HAVING")
		m.put("HAVING")
		m.having(s.l, sees, s.depth)
	}
	if window != nil {
		window()
	}
	if !s.bare {
		m.order(nil, cols, s.top, true)
	}
	return cols
}

// groupKeys chooses what a level groups by; the last key may be without a name.
func (s *selection) groupKeys() (keys []column, last *nameless) {
	m := s.maker
	for range m.r.IntN(3) {
		if c, ok := m.pick(&level{rels: s.l.rels}, ""); ok && c.typ != "json" {
			c = m.computedKey(s.l, c)
			c.name = "" // a bare name could mean another
			keys = append(keys, c)
		}
	}
	if s.want == nil && !s.top && m.chance(15) {
		last = m.nameless(s.l)
		keys = append(keys, column{ref: last.text, by: last.text, typ: last.typ, kind: Computed, constant: last.constant})
	}
	return keys, last
}

func (m *maker) groupBy(keys []column) {
	if len(keys) == 0 {
		return
	}
	m.use("GROUP BY")
	m.put("GROUP", "BY")
	put := func() { m.list(len(keys), func(i int) { m.key(keys[i]) }) }
	n := m.r.IntN(100)
	if n < 22 && (slices.ContainsFunc(keys, func(c column) bool { return c.kind == Scope || c.constant }) || ofQueries(keys) > 1) {
		// Before version 18 Postgres takes a column that must equal a constant for one
		// in the sorting too, though the sets make NULL of it in some rows. Of a constant it may make none. And it computes with a
		// column of a sub-query as if it were not NULL, where another such column is the same one beneath.
		m.Loose = true
	}
	switch {
	case n < 8:
		m.use("ROLLUP")
		m.put("ROLLUP")
		m.in(put)
	case n < 14:
		m.use("CUBE")
		m.put("CUBE")
		m.in(put)
	case n < 22:
		m.use("GROUPING SETS")
		m.put("GROUPING", "SETS", "(")
		m.in(put)
		m.put(",", "(", ")", ")")
	case n < 36:
		m.in(put)
	default:
		put()
	}
}

// ofQueries counts the keys that sub-queries, WITH queries and the like give.
func ofQueries(keys []column) (n int) {
	for _, c := range keys {
		if c.own == nil && c.by == "" {
			n++
		}
	}
	return n
}

// having puts a condition on groups; keys are what they are groups by.
func (m *maker) having(l, keys *level, depth int) {
	if _, ok := m.pick(&level{rels: keys.rels}, ""); ok && m.chance(40) {
		m.use("HAVING without an aggregate")
		m.predicate(keys, 0)
		return
	}
	m.any(
		func() { m.put("count", "(", "*", ")", m.one(">", "<", ">="), m.one("1", "2", "5")) },
		func() { m.put("max", "("); m.argument(l, Int); m.put(")", ">", "2") },
		func() {
			m.put(m.one("bool_and", "bool_or", "every"), "(")
			m.predicate(&level{rels: l.rels}, min(depth, 1))
			m.put(")")
		},
	)
}

// byKey puts a level that is grouped by a table's primary key, so that all of the table's
// columns may be named.
func (s *selection) byKey() []column {
	m := s.maker
	for _, r := range s.l.rels {
		if r.table == nil || !r.table.Primary || r.table.ScopeType == "" {
			continue
		}
		m.use("GROUP BY primary key")
		sees := &level{rels: []*relation{{cols: unnamed(r.cols)}}}
		var keys []column
		for _, k := range r.table.Key {
			for _, c := range r.cols {
				if c.own != nil && c.own.Name == k {
					keys = append(keys, c)
				}
			}
		}
		var cols []column
		m.put("SELECT")
		m.list(3, func(i int) {
			t := m.types(1)[0]
			if i == 2 {
				m.aggregate(s.l, t, s.depth)
			} else {
				m.expr(sees, t, 1)
			}
			cols = append(cols, m.named(column{typ: t, kind: Computed}, i, s.top))
		})
		s.rest()
		m.put("GROUP", "BY")
		m.list(len(keys), func(i int) { m.put(keys[i].ref) })
		if !s.bare {
			m.order(nil, cols, s.top, true)
		}
		return cols
	}
	return s.plain()
}

func unnamed(cols []column) []column {
	out := append([]column(nil), cols...)
	for i := range out {
		out[i].name = ""
	}
	return out
}

// total puts an ORDER BY list under which rows that are not alike are in one order only.
func (m *maker) total(l *level) {
	var refs []string
	for _, r := range l.rels {
		for _, c := range r.cols {
			if r.table == nil || keyed(r.table, c) {
				refs = append(refs, c.ref)
			}
		}
	}
	m.list(len(refs), func(i int) { m.put(refs[i]) })
}

func keyed(t *Table, c column) bool {
	for _, k := range t.Key {
		if c.own != nil && c.own.Name == k {
			return true
		}
	}
	return false
}

// distinctOn puts a level with DISTINCT ON, whose choice an ORDER BY determines.
func (s *selection) distinctOn() []column {
	m := s.maker
	var key column
	for _, r := range s.l.rels {
		if len(r.cols) > 0 {
			key = r.cols[m.r.IntN(len(r.cols))]
		}
	}
	if s.bare || key.ref == "" || s.l.merged {
		return s.plain()
	}
	m.use("DISTINCT ON")
	want := s.want
	if want == nil {
		want = m.types(1 + m.r.IntN(2))
	}
	var cols []column
	m.put("SELECT", "DISTINCT", "ON", "(", key.ref, ")")
	own := &level{rels: s.l.rels, outer: s.l.outer}
	m.list(len(want), func(i int) {
		m.expr(own, want[i], min(s.depth, 1))
		cols = append(cols, m.named(column{typ: want[i], kind: Computed}, i, s.top))
	})
	s.rest()
	m.put("ORDER", "BY", key.ref, ",")
	m.total(s.l)
	return cols
}
