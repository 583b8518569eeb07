package statement

import (
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
	switch n := m.r.IntN(100); {
	case n < 15 && values != Parameters:
		m.statement()
	case n < 18:
		m.scopeJoined()
	case n < 22:
		m.tied()
	case n < 24:
		m.calledColumn()
	case n < 26:
		m.passedIn()
	case n < 28:
		m.equated()
	case n < 29:
		m.dear()
	case n < 32:
		m.costly()
	default:
		m.ordered()
	}
	p := Probe{Statement: m.Statement}
	p.Tokens, p.Uses = m.out, slices.Sorted(maps.Keys(m.uses))
	if m.ids != nil || m.tie != nil || m.chance(60) {
		p.Plant, p.Into = m.plant()
	}
	return p
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
