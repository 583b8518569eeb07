package statement

import "github.com/tenantgate/tenantgate/policy"

// needsConditions gives which of the level's scoped relations get a scope condition.
func (m *maker) needsConditions(rels []*relation) []*relation {
	if len(rels) == 0 {
		return nil
	}
	some := []*relation{rels[m.r.IntN(len(rels))]}
	if m.chance(40) {
		some = rels
	}
	switch {
	case m.mode == policy.Require, m.mode == policy.Once && !m.given:
	case m.mode == policy.Once && m.chance(30), m.chance(8):
	default:
		return nil
	}
	m.given = true
	return some
}

// condition puts a scope condition.
func (m *maker) condition(r *relation) {
	c := r.scopeColumn()
	id := Token{Hole: Condition, Arg: idArg(m.server)}
	if m.mode == None {
		id = Token{Text: "'" + m.server + "'"}
	}
	typ := ""
	if m.mode != None && m.chance(10) {
		typ = "text"
		if r.table.ScopeType != Text {
			typ = string(r.table.ScopeType)
		}
		m.use("cast scope placeholder")
	}
	hole := func() {
		m.out = append(m.out, id)
		if typ != "" {
			m.put("::", typ)
		}
	}
	m.use("scope condition")
	if m.chance(12) {
		hole()
		m.put("=", c.ref)
		return
	}
	m.put(c.ref, "=")
	hole()
}

func idArg(server string) policy.Arg { return policy.Arg{Kind: policy.String, Text: server} }

// scopeValue puts a value for the scope column: the server's own, or a foreign one in
// its place, which the policy replaces.
func (m *maker) scopeValue() {
	own := constant(Text, m.server)
	switch n := m.r.IntN(100); {
	case m.mode == None:
		m.put(own)
	case n < 60:
		m.out = append(m.out, Token{Hole: Given, Arg: idArg(m.server)})
	case n < 75:
		m.use("foreign id as an argument")
		m.out = append(m.out, Token{Hole: Given, Arg: idArg(foreign(m.server))})
	default:
		m.use("scope column from a constant")
		m.plain(own, own)
	}
}

// assignedScope puts a value for the scope column in SET, where a foreign constant is
// replaced too: in an INSERT it is refused.
func (m *maker) assignedScope() {
	if m.mode != None && m.chance(20) {
		m.use("foreign id as a constant")
		m.plain(constant(Text, foreign(m.server)), constant(Text, m.server))
		return
	}
	m.scopeValue()
}

// foreign gives the id of another server, of the same form.
func foreign(server string) string {
	if isDigits(server) {
		return "8"
	}
	return "00000000-0000-4000-8000-0000000000ff"
}
