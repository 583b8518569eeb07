package statement

// statement puts a whole statement.
func (m *maker) statement() {
	if !m.skewed && m.chance(1) {
		m.told()
		return
	}
	depth := []int{1, 2, 2, 3}[m.r.IntN(4)]
	if !m.chance(35) {
		m.query(nil, nil, depth, true)
		return
	}
	visible := len(m.ctes)
	if m.chance(15) {
		m.with(nil, 2, false)
		m.use("WITH before a write")
	}
	m.write(depth, false)
	m.ctes = m.ctes[:visible]
}

// write puts an INSERT, UPDATE or DELETE and gives what it returns. nested says that it
// stands in WITH.
func (m *maker) write(depth int, nested bool) []column {
	saved := m.pending
	m.pending = nil
	defer func() { m.pending = saved }()
	switch n := m.r.IntN(100); {
	case n < 40:
		return m.insert(depth, nested)
	case n < 75:
		return m.update(depth, nested)
	}
	return m.delete(depth, nested)
}

// target puts the table that a write changes, and gives its relation.
func (m *maker) target(t *Table) *relation {
	r := m.reference(t)
	r.sealed = true
	return r
}

// returning puts RETURNING. sees is what it may name.
func (m *maker) returning(sees *level, r *relation, nested bool) []column {
	if !nested && m.chance(45) {
		return nil
	}
	m.use("RETURNING")
	m.put("RETURNING")
	if m.chance(25) {
		m.use("RETURNING *")
		cols := r.cols
		m.starToken(Quote1(r.name)+".*", cols, r.hides)
		return cols
	}
	var cols []column
	m.list(1+m.r.IntN(3), func(i int) {
		t := m.types(1)[0]
		m.expr(sees, t, 1)
		cols = append(cols, m.named(column{typ: t, kind: Computed}, i, !nested))
	})
	return cols
}

// delete puts a DELETE.
func (m *maker) delete(depth int, nested bool) []column {
	m.use("DELETE")
	m.put("DELETE", "FROM")
	m.maybeExtra(nested)
	r := m.target(m.table(true))
	l := &level{rels: []*relation{r}}
	if m.chance(30) {
		m.use("DELETE USING")
		m.put("USING")
		m.fromItem(l, 1, false)
	}
	joined := len(l.rels) > 1
	m.where(l, m.needsConditions(m.pending), depth-1)
	cols := m.returning(l, r, nested)
	m.Loose = m.Loose || joined && len(cols) > 0 // which of several rows is returned is not determined
	return cols
}

// maybeExtra lets an UPDATE or DELETE bring the server's id as one more argument.
func (m *maker) maybeExtra(nested bool) {
	if !nested && m.chance(20) && m.mode != None {
		m.use("server_id as the last argument")
		m.Extra = true
	}
}

// update puts an UPDATE.
func (m *maker) update(depth int, nested bool) []column {
	m.use("UPDATE")
	m.put("UPDATE")
	m.maybeExtra(nested)
	r := m.target(m.table(true))
	l := &level{rels: []*relation{r}}
	var from []Token
	if m.chance(25) {
		m.use("UPDATE FROM")
		from = m.capture(func() { m.put("FROM"); m.fromItem(l, 1, false) })
		m.Loose = true // which of several rows is taken is not determined
	}
	conditions := m.needsConditions(m.pending)
	m.put("SET")
	m.assignments(l, r, m.writable(r), depth-1)
	m.out = append(m.out, from...)
	m.where(l, conditions, depth-1)
	return m.returning(l, r, nested)
}

// writable picks columns to be set.
func (m *maker) writable(r *relation) []column {
	var cols []column
	for i := range r.table.Columns {
		c := &r.table.Columns[i]
		if !c.Fixed && c.Kind != Scope && (c.Kind != ID || m.chance(10)) && m.chance(35) && len(cols) < 3 {
			cols = append(cols, column{name: c.Name, typ: c.Type, kind: c.Kind, of: r.table, own: c})
		}
	}
	if len(cols) == 0 {
		for i := range r.table.Columns {
			if c := &r.table.Columns[i]; !c.Fixed && c.Kind != Scope && c.Kind != ID {
				return []column{{name: c.Name, typ: c.Type, kind: c.Kind, of: r.table, own: c}}
			}
		}
	}
	return cols
}

// assignments puts a SET list.
func (m *maker) assignments(l *level, r *relation, cols []column, depth int) {
	if len(cols) > 1 && m.chance(25) {
		m.use("multi-column SET")
		m.in(func() { m.list(len(cols), func(i int) { m.put(Quote(cols[i].name)) }) })
		m.put("=")
		if m.chance(50) && depth > 0 {
			m.use("SET from a sub-select")
			m.in(func() { m.rowOf(l, cols, depth) })
		} else {
			m.in(func() { m.list(len(cols), func(i int) { m.newValue(l, cols[i], depth) }) })
		}
	} else {
		m.list(len(cols), func(i int) {
			m.put(Quote(cols[i].name), "=")
			m.newValue(l, cols[i], depth)
		})
	}
	if m.chance(15) && r.table.ScopeType != "" {
		m.use("SET of the scope column")
		m.put(",", Quote(r.table.Scope()), "=")
		m.assignedScope()
	}
}

// rowOf puts a query of one row at most.
func (m *maker) rowOf(outer *level, cols []column, depth int) {
	m.level(outer, min(depth, 1), func(l *level) {
		m.list(len(cols), func(i int) { m.aggregate(l, cols[i].typ, 1) })
	})
}

// newValue puts a value for a column.
func (m *maker) newValue(l *level, c column, depth int) {
	switch {
	case c.kind == Ref || c.kind == ID || m.chance(45):
		m.value(c.typ, m.sampleOf(c))
	case c.own.Default && !c.own.Volatile && m.chance(15):
		m.use("DEFAULT")
		m.put("DEFAULT")
	case c.kind == Code: // char(n) and varchar(n) take no longer value
		m.put("left", "(")
		m.expr(l, Text, min(depth, 1))
		m.put(",", "4", ")")
	case c.own.Null && m.chance(10):
		m.put("NULL")
	default:
		m.expr(l, c.typ, min(depth, 2))
	}
}
