package statement

import (
	"slices"
	"strings"
)

// join puts a join of two entries.
func (m *maker) join(l *level, depth int, lateral bool) {
	first := len(l.rels)
	bracketed, start := m.chance(12), len(m.out)
	if bracketed {
		m.use("bracketed join")
		m.put("(")
	}
	m.fromItem(l, min(depth, 1), lateral)
	middle := len(l.rels)
	kind := m.one("JOIN", "INNER JOIN", "LEFT JOIN", "LEFT OUTER JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", "NATURAL JOIN", "NATURAL LEFT JOIN", "LEFT JOIN", "JOIN")
	sees := strings.Contains(kind, "LEFT") || strings.Contains(kind, "INNER") || strings.Contains(kind, "CROSS") || kind == "JOIN"
	at := len(m.out)
	m.put(kind)
	m.fromItem(l, depth, lateral && sees)
	left, right := l.rels[first:middle], l.rels[middle:]
	if strings.HasPrefix(kind, "NATURAL") {
		if !natural(left, right) {
			m.out[at].Text = strings.TrimPrefix(kind, "NATURAL ")
			kind = m.out[at].Text
		} else {
			l.merged = true
		}
	}
	m.use(kind)
	if !strings.HasPrefix(kind, "NATURAL") && kind != "CROSS JOIN" {
		m.on(l, kind, left, right, first)
	}
	switch {
	case bracketed:
		m.put(")")
	case m.chance(12) && !l.merged:
		m.namedJoin(l, first, start)
	}
}

// natural tells whether the columns that two sides share can be compared, and may be read.
func natural(left, right []*relation) bool {
	shared := 0
	seen := map[string]Type{}
	for _, r := range left {
		for _, c := range r.cols {
			if _, twice := seen[c.name]; twice || r.hides {
				return false
			}
			seen[c.name] = c.typ
		}
	}
	for _, r := range right {
		for _, c := range r.cols {
			t, both := seen[c.name]
			if r.hides || both && (t != c.typ || t == "") {
				return false
			}
			if both {
				shared++
				delete(seen, c.name)
			}
		}
	}
	return shared > 0 && shared < 5 && len(right) == 1
}

// on puts what a join joins by.
func (m *maker) on(l *level, kind string, left, right []*relation, first int) {
	if names := common(left, right); len(names) > 0 && m.chance(35) {
		m.use("USING")
		n := 1 + m.r.IntN(min(2, len(names)))
		m.put("USING", "(")
		m.list(n, func(i int) { m.put(Quote(names[i])) })
		m.put(")")
		l.merged = true
		if m.chance(15) {
			m.use("USING with an alias")
			m.put("AS", m.alias("j"))
		}
		return
	}
	m.put("ON")
	a, b, ok := m.pair(left, right)
	if ok {
		m.put(a.ref, "=", b.ref)
	} else {
		m.put("true")
	}
	if kind == "FULL JOIN" { // which takes nothing but equalities
		return
	}
	inner := kind == "JOIN" || kind == "INNER JOIN"
	scoped := slices.DeleteFunc(slices.Clone(right), func(r *relation) bool { return r.table == nil || r.table.ScopeType == "" })
	if inner && len(scoped) > 0 && m.chance(20) && m.mode != None {
		m.put("AND")
		m.condition(scoped[0])
		m.use("scope condition in ON")
		m.given = true
	}
	if m.chance(35) {
		m.use("ON with more")
		m.put("AND")
		m.in(func() { m.predicate(&level{rels: l.rels[first:], outer: l.outer}, 1) })
	}
}

// common gives the names by which USING can join: each once on either side, of one type.
func common(left, right []*relation) (names []string) {
	count := map[string]int{}
	types := map[string]Type{}
	for _, r := range left {
		for _, c := range r.cols {
			count[c.name]++
			types[c.name] = c.typ
		}
	}
	for _, r := range right {
		for _, c := range r.cols {
			if count[c.name] == 1 && types[c.name] == c.typ && len(right) == 1 && c.name != "" {
				names = append(names, c.name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// pair finds two columns to join by: a reference and its key, or two of one type.
func (m *maker) pair(left, right []*relation) (a, b column, ok bool) {
	var best, other [][2]column
	for _, lr := range left {
		for _, x := range lr.cols {
			for _, rr := range right {
				for _, y := range rr.cols {
					switch {
					case x.typ != y.typ || x.kind == Scope || y.kind == Scope:
					case refers(x, y) || refers(y, x):
						best = append(best, [2]column{x, y})
					case x.kind == y.kind && x.kind != Object:
						other = append(other, [2]column{x, y})
					}
				}
			}
		}
	}
	from := other
	if len(best) > 0 && (len(other) == 0 || m.chance(80)) {
		from = best
	}
	if len(from) == 0 {
		return a, b, false
	}
	p := from[m.r.IntN(len(from))]
	return p[0], p[1], true
}

func refers(x, y column) bool {
	return x.own != nil && y.own != nil && x.own.Kind == Ref && y.own.Kind == ID && x.own.To == y.of.Name
}
