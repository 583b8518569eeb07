package statement

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/tenantgate/tenantgate/policy"
)

// Values says how a statement of mode order writes the values that it compares columns with.
type Values uint8

// The ways.
const (
	Constants  Values = iota // in the text: literals and constant expressions
	Mixed                    // in the text, and as arguments
	Parameters               // as arguments, each on its own
)

// Probe is a statement whose answer may show an order, and what is to be run before it in the
// same transaction: an INSERT of the server's own; without tokens for none.
type Probe struct {
	Statement
	Plant Statement
	Into  *Table // where Plant puts its rows
}

// Probe gives the probe of a seed and a number. The plant is written for policy.Inject.
func (g *Generator) Probe(seed uint64, number int, mode policy.ScopeMode, values Values) Probe {
	m := &maker{
		r: rand.New(rand.NewPCG(seed+3, uint64(number))), server: g.server, tables: g.tables, mode: mode, //nolint:gosec // chance, not secrecy
		uses: map[string]bool{}, skewed: true, values: values,
	}
	m.budget = 6 + m.r.IntN(20)
	m.Dollar, m.Mode = m.chance(30), mode
	if values != Parameters && m.chance(15) {
		m.statement()
	} else {
		m.ordered()
	}
	p := Probe{Statement: m.Statement}
	p.Tokens, p.Uses = m.out, slices.Sorted(maps.Keys(m.uses))
	if m.chance(60) {
		p.Plant, p.Into = m.plant()
	}
	return p
}

// plant gives an INSERT of a few rows whose values are those that others may hold.
func (m *maker) plant() (Statement, *Table) {
	t := m.tables[m.r.IntN(len(m.tables))]
	if len(m.mentioned) > 0 {
		t = m.mentioned[m.r.IntN(len(m.mentioned))]
	}
	if t.ScopeType == "" {
		return Statement{}, nil
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

// ordered puts a query whose answer shows in which order Postgres comes by its rows.
func (m *maker) ordered() {
	switch n := m.r.IntN(100); {
	case n < 12:
		m.use("order: set operation")
		m.arm()
		m.put(m.one("UNION", "UNION", "INTERSECT", "EXCEPT", "UNION ALL", "INTERSECT ALL", "EXCEPT ALL"))
		m.arm()
		m.cut()
	case n < 24:
		m.use("order: WITH")
		m.put("WITH", "q", "AS")
		m.put(m.one("MATERIALIZED", "NOT MATERIALIZED", "MATERIALIZED"))
		m.in(m.arm)
		m.over("q")
	case n < 40:
		m.use("order: sub-select in FROM")
		m.over("")
	default:
		m.show(m.sources())
		m.cut()
	}
}

// cut puts a LIMIT, without ORDER BY.
func (m *maker) cut() {
	if m.chance(35) {
		m.use("order: LIMIT")
		m.put("LIMIT", strconv.Itoa(1+m.r.IntN(7)))
		if m.chance(25) {
			m.put("OFFSET", strconv.Itoa(1+m.r.IntN(3)))
		}
	}
}

// arm puts SELECT of one column, named v.
func (m *maker) arm() {
	l, tail := m.sources()
	m.put("SELECT")
	if m.chance(70) {
		m.put("DISTINCT")
	}
	c := m.shown(l)
	m.asText(c)
	m.put("AS", "v")
	m.out = append(m.out, tail...)
}

// over puts a query over a column v: of a WITH name, or of a sub-select.
func (m *maker) over(with string) {
	m.put("SELECT")
	m.any(
		func() { m.put("array_agg", "(", "s.v", ")") },
		func() { m.put("array_agg", "(", "s.v", ")", "=", "array_agg", "(", "s.v", "ORDER", "BY", "s.v", ")") },
		func() { m.put("string_agg", "(", "s.v", ",", "','", ")") },
		func() { m.put("json_agg", "(", "s.v", ")") },
		func() { m.put("s.v", ",", "row_number", "(", ")", "OVER", "(", ")") },
		func() { m.put("s.v", ",", "first_value", "(", "s.v", ")", "OVER", "(", ")") },
		func() { m.put("DISTINCT", "s.v") },
		func() { m.put("s.v") },
		func() { m.failingEither(m.word("s.v")) },
	)
	m.put("FROM")
	if with != "" {
		m.put(with, "AS", "s")
	} else {
		m.in(m.arm)
		m.put("AS", "s")
	}
	if m.chance(20) {
		m.amplifier()
	}
	m.cut()
}

// failingEither puts an expression over a text that fails in one of two ways: the first row says in which.
func (m *maker) failingEither(v func()) {
	m.use("order: two errors")
	m.put("CASE", "WHEN")
	v()
	m.put(m.one("<", ">="), m.one("'e'", "'l'", "'5'"), "THEN", "1", "/", "(", "length", "(")
	v()
	m.put(")", "-", "length", "(")
	v()
	m.put(")", ")", "ELSE", "(", "'x'", "||")
	v()
	m.put(")", "::", "int4", "END")
}

func (m *maker) amplifier() {
	m.use("order: amplifier")
	m.put(",", "generate_series", "(", "1", ",", m.one("3", "12", "40", "40", "300"), ")", "AS", "g")
}

// sources gives a level of one table or several joined ones, and what puts FROM and WHERE.
func (m *maker) sources() (*level, []Token) {
	l := &level{}
	saved := m.pending
	m.pending = nil
	tail := m.capture(func() {
		m.put("FROM")
		m.add(l, m.reference(m.skewedTable()))
		for m.chance(32) && len(l.rels) < 3 {
			m.joined(l)
		}
		if m.chance(25) {
			m.amplifier()
		}
		conditions := m.needsConditions(m.pending)
		n := []int{0, 1, 1, 1, 1, 1, 2, 2, 3}[m.r.IntN(9)]
		for i, r := range conditions {
			m.put(map[bool]string{true: "WHERE", false: "AND"}[i == 0])
			m.condition(r)
		}
		for i := range n {
			m.put(map[bool]string{true: "WHERE", false: "AND"}[i+len(conditions) == 0])
			m.asked(l)
		}
	})
	m.pending = saved
	return l, tail
}

func (m *maker) skewedTable() *Table {
	t := m.table(false)
	for t.ScopeType == "" && m.chance(90) {
		t = m.table(false)
	}
	m.mentioned = append(m.mentioned, t)
	return t
}

// joined puts a join with another table, by columns of one type.
func (m *maker) joined(l *level) {
	before := &level{rels: l.rels}
	kind := m.one("JOIN", "JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN")
	m.use("order: join")
	m.put(kind)
	r := m.reference(m.skewedTable())
	m.put("ON")
	var pairs [][2]column
	for _, a := range before.columns("") {
		for _, b := range r.cols {
			if a.typ == b.typ && a.kind != Scope && b.kind != Scope {
				pairs = append(pairs, [2]column{a, b})
			}
		}
	}
	m.add(l, r)
	if len(pairs) == 0 {
		m.put("true")
		return
	}
	for i := range 1 + m.r.IntN(2) {
		if i > 0 {
			m.put("AND")
		}
		p := pairs[m.r.IntN(len(pairs))]
		op := "="
		if i > 0 {
			op = m.one("=", "<", ">=")
		}
		if p[0].typ == Text && m.chance(8) {
			m.use("order: expression")
			m.put("lower", "(", p[0].ref, ")", "=", "lower", "(", p[1].ref, ")")
			continue
		}
		m.put(p[0].ref, op, p[1].ref)
	}
}

// shown picks a column to show, mostly a key.
func (m *maker) shown(l *level) column {
	all := l.columns("")
	for range 3 {
		if c := all[m.r.IntN(len(all))]; c.kind == ID {
			return c
		}
	}
	for {
		if c := all[m.r.IntN(len(all))]; c.typ != JSON {
			return c
		}
	}
}

// show puts a select list that shows the order of the level's rows, and what follows it.
func (m *maker) show(l *level, tail []Token) {
	m.put("SELECT")
	c, d := m.shown(l), m.shown(l)
	grouped := m.chance(25)
	if grouped {
		m.use("order: GROUP BY")
		m.put(c.ref, ",")
		m.any(func() { m.put("count ( * )") }, func() { m.put("array_agg", "(", d.ref, ")") })
	} else {
		m.listed(c, d)
	}
	m.out = append(m.out, tail...)
	if grouped {
		m.put("GROUP", "BY", c.ref)
	}
}

// listed puts one of the select lists that show an order.
func (m *maker) listed(c, d column) {
	things := []struct {
		name string
		put  func()
	}{
		{"DISTINCT", func() { m.put("DISTINCT", c.ref) }},
		{"DISTINCT", func() { m.put("DISTINCT", c.ref) }},
		{"DISTINCT", func() { m.put("DISTINCT", c.ref) }},
		{"DISTINCT", func() { m.put("DISTINCT", c.ref) }},
		{"DISTINCT", func() { m.put("DISTINCT", c.ref, ",", d.ref) }},
		{"DISTINCT ON", func() { m.put("DISTINCT", "ON", "(", d.ref, ")", c.ref) }},
		{"rows as they come", func() { m.put(c.ref, ",", d.ref) }},
		{"array_agg", func() { m.put("array_agg", "(", c.ref, ")") }},
		{"array_agg", func() { m.put("array_agg", "(", c.ref, ")", "=", "array_agg", "(", c.ref, "ORDER", "BY", c.ref, ")") }},
		{"string_agg", func() { m.put("string_agg", "("); m.asText(c); m.put(",", "','", ")") }},
		{"json_agg", func() { m.put("json_agg", "(", c.ref, ")") }},
		{"row_number", func() { m.put(c.ref, ",", "row_number", "(", ")", "OVER", "(", ")") }},
		{"first_value", func() { m.put(c.ref, ",", "first_value", "(", c.ref, ")", "OVER", "(", "PARTITION", "BY", d.ref, ")") }},
		{"float sum", func() {
			m.put("sum", "(", "1e0", "/", "(", "3", "+", "length", "(", "(")
			m.asText(c)
			m.put(")", "||", "''", ")", ")", ")")
		}},
		{"two errors", func() { m.failingEither(func() { m.asText(d) }) }},
	}
	thing := things[m.r.IntN(len(things))]
	m.use("order: " + thing.name)
	thing.put()
}

func (m *maker) asText(c column) {
	m.put(c.ref)
	if c.typ != Text {
		m.put("::", "text")
	}
}
