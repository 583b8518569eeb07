package statement

import (
	"slices"
	"strconv"
)

// from puts a FROM list and adds its relations to the level.
func (m *maker) from(l *level, depth int) {
	m.put("FROM")
	n := []int{1, 1, 1, 2}[m.r.IntN(4)]
	m.list(n, func(i int) {
		if i > 0 {
			m.use("comma join")
		}
		m.fromItem(l, depth, true)
	})
}

// fromItem puts an entry of FROM. lateral says that what stands before it may be seen.
func (m *maker) fromItem(l *level, depth int, lateral bool) {
	if depth > 0 && m.spend() && m.chance(38) && len(l.rels) < 3 {
		m.join(l, depth-1, lateral)
		return
	}
	switch n := m.r.IntN(100); {
	case n < 14 && len(m.ctes) > 0:
		m.cteRef(l)
	case n < 24 && depth > 0 && m.spend():
		m.derived(l, depth-1, lateral)
	case n < 29:
		m.function(l, lateral)
	case n < 32:
		m.valuesItem(l)
	default:
		m.add(l, m.reference(m.table(false)))
	}
}

func (m *maker) add(l *level, r *relation) { l.rels = append(l.rels, r) }

// reference puts a table's name with or without an alias, and gives its relation.
func (m *maker) reference(t *Table) *relation {
	r := &relation{table: t, hides: t.Hides()}
	written := m.tableName(t)
	m.put(written)
	alias := ""
	if m.names == 0 || m.chance(80) || slices.ContainsFunc(m.pending, func(p *relation) bool { return p.table == t }) {
		alias = m.alias("x")
		if m.chance(50) {
			m.put("AS")
		}
		m.put(alias)
	}
	r.name = alias
	qualifier := alias
	if alias == "" {
		r.name, qualifier = t.Name, Quote(t.Name)
		m.names++
	}
	renamed := alias != "" && m.chance(5)
	if renamed {
		m.use("alias with columns")
	}
	var names []string
	for i := range t.Columns {
		c := &t.Columns[i]
		name := c.Name
		if renamed {
			name = "r" + strconv.Itoa(i)
			names = append(names, name)
		}
		if !c.Hidden {
			r.cols = append(r.cols, column{ref: qualifier + "." + Quote(name), name: name, typ: c.Type, kind: c.Kind, of: t, own: c})
		}
	}
	if renamed {
		m.in(func() { m.list(len(names), func(i int) { m.put(names[i]) }) })
	}
	if t.ScopeType != "" {
		m.pending = append(m.pending, r)
	} else {
		m.use("shared table")
	}
	m.use("scope type " + string(t.ScopeType))
	return r
}

// scopeColumn is the relation's scope column.
func (r *relation) scopeColumn() column {
	for _, c := range r.cols {
		if c.kind == Scope {
			return c
		}
	}
	return column{}
}

// cteRef puts a WITH name.
func (m *maker) cteRef(l *level) {
	c := m.ctes[m.r.IntN(len(m.ctes))]
	for _, later := range m.ctes { // what bears the name last is what it means
		if later.name == c.name {
			c = later
		}
	}
	alias := m.alias("w")
	m.put(c.name, "AS", alias)
	m.use("WITH")
	m.add(l, renamed(c, alias))
}

// renamed gives a relation under another name; its columns are what they were.
func renamed(r *relation, alias string) *relation {
	out := &relation{name: alias, sealed: true}
	for _, c := range r.cols {
		c.ref = alias + "." + Quote(c.name)
		out.cols = append(out.cols, c)
	}
	return out
}

// derived puts a sub-select in FROM.
func (m *maker) derived(l *level, depth int, lateral bool) {
	outer := l.outer
	if lateral && len(l.rels) > 0 && m.chance(50) {
		m.put("LATERAL")
		m.use("LATERAL")
		outer = &level{rels: slices.Clone(l.rels), outer: l.outer}
	}
	m.use("sub-select in FROM")
	var cols []column
	m.in(func() { cols = m.nested(outer, nil, depth) })
	alias := m.alias("s")
	if m.chance(50) {
		m.put("AS")
	}
	m.put(alias)
	if m.chance(20) {
		m.use("alias with columns")
		m.in(func() { m.list(len(cols), func(i int) { cols[i].name = "d" + strconv.Itoa(i); m.put(cols[i].name) }) })
	}
	m.add(l, renamed(&relation{cols: cols}, alias))
}

// function puts a function in FROM.
func (m *maker) function(l *level, lateral bool) {
	m.use("function in FROM")
	alias := m.alias("f")
	sees := &level{outer: l.outer}
	if lateral {
		sees = &level{rels: l.rels, outer: l.outer}
	}
	one := func(t Type) *relation {
		return &relation{name: alias, sealed: true, cols: []column{{ref: alias + ".v", name: "v", typ: t, kind: Computed}}}
	}
	as := func() { m.put("AS", alias, "(", "v", ")") }
	switch m.r.IntN(6) {
	case 0:
		m.put("generate_series", "(", "1", ",", m.one("2", "3"), ")")
		as()
		m.add(l, one(Int))
	case 1:
		m.put("unnest", "(")
		m.expr(sees, Texts, 1)
		m.put(")")
		as()
		m.add(l, one(Text))
	case 2:
		m.put("unnest", "(", "ARRAY", "[", "1", ",", "2", "]", ")", "WITH", "ORDINALITY", "AS", alias, "(", "v", ",", "o", ")")
		m.use("WITH ORDINALITY")
		r := one(Int)
		r.cols = append(r.cols, column{ref: alias + ".o", name: "o", typ: Big, kind: Computed})
		m.add(l, r)
	case 3:
		m.use("ROWS FROM")
		m.put("ROWS", "FROM", "(", "generate_series", "(", "1", ",", "2", ")", ",", "unnest", "(", "ARRAY", "[", "'ann'", ",", "'q'", "]", ")", ")", "AS", alias, "(", "v", ",", "u", ")")
		r := one(Int)
		r.cols = append(r.cols, column{ref: alias + ".u", name: "u", typ: Text, kind: Computed})
		m.add(l, r)
	case 4:
		m.put("string_to_table", "(")
		m.expr(sees, Text, 1)
		m.put(",", "'a'", ")")
		as()
		m.add(l, one(Text))
	default:
		m.elementsOf(l, sees, alias, one, as)
	}
}

// elementsOf puts jsonb_array_elements, which fails on what is no array.
func (m *maker) elementsOf(l, sees *level, alias string, one func(Type) *relation, as func()) {
	var objects []column
	for _, c := range sees.columns(JSON) {
		if c.own != nil && c.kind == Object {
			objects = append(objects, c)
		}
	}
	if len(objects) > 0 {
		m.use("trap: jsonb_array_elements")
		m.put("jsonb_array_elements", "(")
		m.ref(sees, objects[m.r.IntN(len(objects))])
		m.put("->", "'a'", ")")
		as()
		m.add(l, one(JSON))
		return
	}
	m.put("jsonb_to_recordset", "(", `'[{"a": 1, "b": "x"}]'`, ")", "AS", alias, "(", "a", "int4", ",", "b", "text", ")")
	m.use("column definition list")
	m.add(l, &relation{name: alias, sealed: true, cols: []column{
		{ref: alias + ".a", name: "a", typ: Int, kind: Computed}, {ref: alias + ".b", name: "b", typ: Text, kind: Computed}}})
}

// valuesItem puts VALUES in FROM.
func (m *maker) valuesItem(l *level) {
	m.use("VALUES in FROM")
	alias := m.alias("v")
	m.put("(", "VALUES")
	m.list(1+m.r.IntN(2), func(int) { m.in(func() { m.literal(Int); m.put(","); m.literal(Text) }) })
	m.put(")", "AS", alias, "(", "a", ",", "b", ")")
	m.add(l, &relation{name: alias, sealed: true, cols: []column{
		{ref: alias + ".a", name: "a", typ: Int, kind: Computed}, {ref: alias + ".b", name: "b", typ: Text, kind: Computed}}})
}
