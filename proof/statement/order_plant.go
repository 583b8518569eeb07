package statement

import (
	"fmt"

	"github.com/tenantgate/tenantgate/policy"
)

// plant gives an INSERT of a few rows, or of many, whose values are those that others may hold.
func (m *maker) plant() (Statement, *Table) {
	t := m.tables[m.r.IntN(len(m.tables))]
	if n := len(m.mentioned); m.ids != nil || m.tie != nil {
		t = m.mentioned[n-1]
	} else if n > 0 {
		t = m.mentioned[m.r.IntN(n)]
	}
	if t.ScopeType == "" {
		return Statement{}, nil
	}
	if m.tie != nil {
		return m.plantTied(t), t
	}
	m.out = nil
	var cols []*Column
	for i := range t.Columns {
		if c := &t.Columns[i]; c.Kind != Scope && !c.Fixed && c.Kind != Ref {
			cols = append(cols, c)
		}
	}
	if t.Name == "messages" {
		cols = append(cols, &t.Columns[2])
	}
	m.put("INSERT", "INTO", t.Schema+"."+Quote(t.Name))
	m.in(func() { m.list(len(cols), func(i int) { m.put(Quote(cols[i].Name)) }) })
	m.put("VALUES")
	common := m.r.IntN(len(cols))
	held := probe(t, cols[common], m.r)
	m.list(5+m.r.IntN(8), func(row int) {
		m.in(func() {
			m.list(len(cols), func(i int) {
				c := cols[i]
				switch {
				case c.Kind == ID:
					m.put(constant(c.Type, plantedKey(c, row)))
				case c.Kind == Ref:
					m.put(constant(c.Type, key(c, t, 0)))
				case c == m.ids:
					m.put(constant(Text, []string{"32", "31", "30", "29"}[row%4]))
				case i == common && !c.ascends():
					m.put(constant(c.Type, held))
				default:
					m.put(constant(c.Type, probe(t, c, m.r)))
				}
			})
		})
	})
	return Statement{Tokens: m.out, Mode: policy.Inject, Insert: true}, t
}

func plantedKey(c *Column, row int) string {
	if c.Type != Text {
		return fmt.Sprint(900 + 7*row%13)
	}
	return fmt.Sprintf("z%d", 100+7*row%13)
}
