package statement

// where puts WHERE with scope conditions and perhaps one of the caller's own, in any order.
func (m *maker) where(l *level, conditions []*relation, depth int) {
	own := len(l.rels) > 0 && m.chance(60)
	if len(conditions) == 0 && !own {
		return
	}
	m.put("WHERE")
	if len(conditions) == 0 && m.chance(25) {
		m.either(l)
		return
	}
	var parts []func()
	for _, r := range conditions {
		parts = append(parts, func() { m.condition(r) })
	}
	if own {
		parts = append(parts, func() { m.in(func() { m.predicate(l, depth) }) })
	}
	if m.chance(30) && len(l.rels) > 0 && m.failingAsPart(l, &parts) {
		m.use("trap beside the scope condition")
	}
	m.r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	for i, p := range parts {
		if i > 0 {
			m.put("AND")
		}
		p()
	}
}

func (m *maker) failingAsPart(l *level, parts *[]func()) bool {
	p, c, ok := m.trapped(&level{rels: l.rels}, "")
	if ok {
		*parts = append(*parts, func() {
			m.in(func() {
				m.spring(l, p, c)
				if p.typ != Bool {
					m.put("IS NOT NULL")
				}
			})
		})
	}
	return ok
}

// either puts a condition with an OR, and perhaps an AND, that no brackets hold together.
func (m *maker) either(l *level) {
	m.use("OR without brackets")
	m.simple(l, 0)
	m.put("OR")
	m.predicate(l, 0)
	if m.chance(50) {
		m.put("AND")
		m.predicate(l, 0)
	}
}
