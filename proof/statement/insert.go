package statement

import (
	"slices"
	"strconv"

	"github.com/tenantgate/tenantgate/policy"
)

// insert puts an INSERT.
func (m *maker) insert(depth int, nested bool) []column {
	m.use("INSERT")
	if !nested {
		m.Insert = true
	}
	t := m.table(true)
	m.put("INSERT", "INTO", m.tableName(t))
	m.use("scope type " + string(t.ScopeType))
	r := m.inserted(t)
	cols := m.columnsFor(t)
	free := m.mode == policy.Inject && m.chance(50)
	switch {
	case m.mode == policy.Inject && m.chance(4):
		m.use("DEFAULT VALUES")
		m.put("DEFAULT", "VALUES")
		m.Loose = m.Loose || slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Volatile })
	case free && m.chance(20):
		m.use("INSERT without columns")
		m.source(t, implied(t), depth)
	case free:
		m.use("INSERT without the scope column")
		m.source(t, m.columnList(cols), depth)
	default:
		at := m.r.IntN(len(cols) + 1)
		scope := column{name: t.Scope(), kind: Scope, of: t}
		m.source(t, m.columnList(slices.Insert(cols, at, scope)), depth)
	}
	if m.chance(40) {
		m.onConflict(t, r, depth)
	}
	return m.returning(&level{rels: []*relation{r}}, r, nested)
}

// inserted is the relation that ON CONFLICT and RETURNING see.
func (m *maker) inserted(t *Table) *relation {
	r := &relation{table: t, name: t.Name, hides: t.Hides(), sealed: true}
	qualifier := Quote(t.Name)
	if m.chance(40) {
		r.name = m.alias("i")
		qualifier = r.name
		m.put("AS", r.name)
		m.use("INSERT with an alias")
	}
	for i := range t.Columns {
		if c := &t.Columns[i]; !c.Hidden {
			r.cols = append(r.cols, column{ref: qualifier + "." + Quote(c.Name), name: c.Name, typ: c.Type, kind: c.Kind, of: t, own: c})
		}
	}
	return r
}

// columnsFor picks the columns to give: those without a default, and some others.
func (m *maker) columnsFor(t *Table) []column {
	var cols []column
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Kind == Scope || c.Fixed {
			continue
		}
		needed := !c.Default && !c.Null || c.Volatile && m.chance(97)
		if needed || m.chance(40) {
			cols = append(cols, column{name: c.Name, typ: c.Type, kind: c.Kind, of: t, own: c})
		} else if c.Volatile {
			m.Loose = true
		}
	}
	m.r.Shuffle(len(cols), func(i, j int) { cols[i], cols[j] = cols[j], cols[i] })
	return cols
}

// implied are the columns that an INSERT without a list fills.
func implied(t *Table) []column {
	var cols []column
	for i := range t.Columns {
		c := &t.Columns[i]
		cols = append(cols, column{name: c.Name, typ: c.Type, kind: c.Kind, of: t, own: c})
	}
	return cols
}

func (m *maker) columnList(cols []column) []column {
	m.in(func() { m.list(len(cols), func(i int) { m.put(m.spell(cols[i].name)) }) })
	return cols
}

// source puts what is inserted.
func (m *maker) source(t *Table, cols []column, depth int) {
	if m.chance(30) && depth > 1 {
		m.use("INSERT SELECT")
		m.selectSource(t, cols, depth)
		return
	}
	rows := 1 + m.r.IntN(3)
	if rows > 1 {
		m.use("INSERT of many rows")
	}
	m.put("VALUES")
	m.list(rows, func(int) {
		m.in(func() { m.list(len(cols), func(i int) { m.insertValue(cols[i], depth) }) })
	})
}

func (m *maker) insertValue(c column, depth int) {
	switch {
	case c.kind == Scope:
		m.scopeValue()
	case c.own.Fixed:
		m.put("DEFAULT")
	case (c.kind == ID) && m.chance(60):
		m.value(c.typ, m.fresh(c))
	default:
		m.newValue(&level{}, c, min(depth, 1))
	}
}

// fresh gives a key that no row has.
func (m *maker) fresh(c column) string {
	n := strconv.Itoa(1000 + m.r.IntN(1000))
	if c.typ == Text {
		return "new" + n
	}
	return n
}

// selectSource puts a query as the source: the scope column's place holds a placeholder.
func (m *maker) selectSource(t *Table, cols []column, depth int) {
	saved := m.pending
	m.pending = nil
	arm := func() {
		m.level(nil, min(depth-1, 1), func(l *level) {
			m.list(len(cols), func(i int) {
				c := cols[i]
				switch {
				case c.kind == Scope && m.mode != None && m.chance(30) && m.scopeFromColumn(l, t):
				case c.kind == Scope:
					m.scopeValue()
					// A plain database has no reason to take it for anything but text.
					m.out[len(m.out)-1].Plain = constant(Text, m.server) + "::" + string(t.ScopeType)
				case c.own != nil && c.own.Fixed:
					m.put("NULL", "::", string(c.typ))
				case c.kind == ID && c.typ == Text && m.chance(70):
					m.put("'copy'", "||")
					m.expr(l, Text, 0)
				case c.kind == Code:
					m.put("left", "(")
					m.expr(l, Text, 0)
					m.put(",", "4", ")", "::", "text")
				case c.kind == Ref:
					m.put(constant(Text, m.sampleOf(c)), "::", "text")
				default:
					m.expr(l, c.typ, 1)
				}
			})
		})
	}
	arm()
	if m.chance(15) {
		m.use("INSERT of a set operation")
		m.put("UNION ALL")
		arm()
	}
	m.pending = saved
}

// scopeFromColumn gives the scope column from a scope column of the source; false where
// there is none.
func (m *maker) scopeFromColumn(l *level, t *Table) bool {
	for _, r := range l.rels {
		if c := r.scopeColumn(); r.table != nil && c.ref != "" {
			m.use("scope column from a column")
			m.plain(c.ref, constant(Text, m.server)+"::"+string(t.ScopeType))
			return true
		}
	}
	return false
}

// onConflict puts ON CONFLICT.
func (m *maker) onConflict(t *Table, r *relation, depth int) {
	m.put("ON", "CONFLICT")
	if m.uses["INSERT SELECT"] {
		m.Loose = true // which of two rows with one key comes first is not determined
	}
	target := m.chance(75)
	if target {
		m.conflictTarget(t)
	}
	m.put("DO")
	if !target || m.chance(35) {
		m.use("ON CONFLICT DO NOTHING")
		m.put("NOTHING")
		return
	}
	m.use("ON CONFLICT DO UPDATE")
	m.put("UPDATE", "SET")
	sees := &level{rels: []*relation{r, m.excluded(t)}}
	m.assignments(sees, r, m.writable(r), min(depth, 1))
	if m.chance(40) {
		m.use("ON CONFLICT WHERE")
		m.put("WHERE")
		m.predicate(sees, min(depth, 1))
	}
}

func (m *maker) excluded(t *Table) *relation {
	r := &relation{name: "excluded"}
	for i := range t.Columns {
		if c := &t.Columns[i]; !c.Hidden {
			r.cols = append(r.cols, column{ref: "excluded." + Quote(c.Name), name: c.Name, typ: c.Type, kind: c.Kind, of: t, own: c})
		}
	}
	m.use("excluded")
	return r
}

// conflictTarget names a unique key; the policy adds the scope column to one without it.
func (m *maker) conflictTarget(t *Table) {
	short := m.mode == policy.Inject && m.chance(50)
	m.put("(")
	first := true
	for _, k := range t.Key {
		word := Quote(k)
		if k == t.Scope() {
			if short {
				m.use("ON CONFLICT without the scope column")
				continue
			}
		}
		if !first {
			m.put(",")
		} else if short {
			// On the plain database the key is the whole one.
			m.plain(word, Quote(t.Scope())+", "+word)
			first = false
			continue
		}
		first = false
		m.put(word)
	}
	m.put(")")
}
