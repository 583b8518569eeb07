package statement

import (
	"slices"

	"github.com/tenantgate/tenantgate/policy"
)

// volatile puts a level that compares two columns of a query: both are of one volatile call, if the query sorts or groups by it.
func (s *selection) volatile() []column {
	m := s.maker
	m.use("volatile repetition")
	call := m.one("random ( ) * 2", "floor ( random ( ) * 1000 )", "clock_timestamp ( ) + '1 day'", "gen_random_uuid ( ) :: text || '-x'")
	by := m.one("1", "k", call)
	m.put("SELECT", "bool_and", "(", "s . k", "IS NOT DISTINCT FROM", "s . l", ")")
	cols := []column{m.named(column{typ: Bool, kind: Computed}, 0, s.top)}
	m.put("FROM", "(", "SELECT")
	on := m.chance(30)
	if on {
		m.put("DISTINCT", "ON", "(", by, ")")
	}
	m.put(call, "AS", "k", ",", "(", call, ")", "AS", "l")
	s.rest()
	if !on && m.chance(30) {
		m.put("GROUP", "BY", by)
	} else {
		m.put("ORDER", "BY", by)
	}
	m.put(")", "AS", "s")
	return cols
}

// beneath puts a level that would be outermost, of whose list nothing is hidden, mostly as a sub-select in FROM.
func (s *selection) beneath(level func() []column) []column {
	if !s.top || s.chance(20) {
		return level()
	}
	s.put("SELECT", "*", "FROM", "(")
	cols := level()
	s.put(")", "AS", "whole")
	return cols
}

// repeated puts a level in which an expression with constants or a sub-query stands in the list and in a clause that repeats it. For
// Postgres the two are one, so that a call which returns a set is called once, and a row of a total has NULL.
func (s *selection) repeated() []column {
	m := s.maker
	m.use("repetition")
	e, t := s.repetition()
	tested, ok := m.pick(&level{rels: s.l.rels}, "")
	if !ok || tested.typ == "json" {
		tested = column{ref: "1", typ: Int}
	}
	r := &repetition{selection: s, again: func() { m.out = append(m.out, e...) }, typ: t, tested: tested}
	r.clause = m.one("OVER", "WINDOW", "GROUP BY", "sets", "DISTINCT ON", "ORDER BY")
	r.list()
	s.rest()
	r.puts()
	return r.cols
}

// repetition is a level in which an expression is repeated.
type repetition struct {
	*selection
	again  func() // puts the expression
	typ    Type
	tested column // that the level groups by, too
	clause string
	cols   []column
}

func (r *repetition) entry(t Type, f func()) {
	if len(r.cols) > 0 {
		r.put(",")
	}
	f()
	r.cols = append(r.cols, r.named(column{typ: t, kind: Computed}, len(r.cols), false))
}

// list puts the select list.
func (r *repetition) list() {
	r.put("SELECT")
	if r.clause == "DISTINCT ON" {
		r.put("DISTINCT", "ON", "(")
		r.again()
		r.put(")")
	}
	r.entry(r.typ, r.again)
	if r.clause != "DISTINCT ON" && r.chance(60) {
		r.entry(Text, func() {
			if r.typ == Date {
				r.put("to_char", "(")
				r.again()
				r.put(",", "'YYYY'", ")")
				return
			}
			r.put("(")
			r.again()
			r.put(")", "::", "text", "||", "'x'")
		})
	}
	switch r.clause {
	case "OVER":
		r.entry(Big, func() {
			r.put("rank", "(", ")", "OVER", "(", r.one("ORDER", "PARTITION"), "BY")
			r.again()
			r.put(")")
		})
	case "WINDOW":
		r.entry(Big, func() { r.put("rank", "(", ")", "OVER", "w0") })
	case "GROUP BY", "sets":
		r.entry(Big, func() { r.put("count", "(", "*", ")") })
	}
}

// puts puts the clause.
func (r *repetition) puts() {
	switch r.clause {
	case "WINDOW":
		r.put("WINDOW", "w0", "AS", "(", "ORDER", "BY")
		r.again()
		r.put(")")
	case "GROUP BY":
		r.put("GROUP", "BY")
		if r.chance(40) {
			r.put("1")
		} else {
			r.again()
		}
	case "sets":
		r.Loose = r.Loose || r.tested.kind == Scope || r.tested.own == nil
		r.put("GROUP", "BY", r.one("ROLLUP", "CUBE"), "(")
		r.again()
		r.put(",", r.tested.ref, ")")
	case "DISTINCT ON", "ORDER BY":
		r.put("ORDER", "BY")
		r.again()
	}
}

// repetition makes what is repeated.
func (s *selection) repetition() ([]Token, Type) {
	m := s.maker
	query := m.capture(func() {
		m.put("(", "SELECT", "1", "+", "count", "(", "*", ")", "::", "int4", "%", "2", "FROM", m.tableName(m.table(false)), "WHERE", "true", ")")
	})
	if m.mode != None && m.mode != policy.Inject {
		query = []Token{{Text: "2"}}
	}
	word := func(words ...string) []Token { return m.capture(func() { m.put(words...) }) }
	switch m.r.IntN(5) {
	case 0:
		return word("generate_series", "(", "1", ",", m.one("2", "2 :: int4", "'2'", "1 + 1"), ")"), Int
	case 1:
		return word("unnest", "(", m.one("ARRAY [ 'ann' , 'q' ]", "'{ann,q}' :: text [ ]"), ")"), Text
	case 2:
		return word("current_date"), Date
	case 3:
		return slices.Concat(word("generate_series", "(", "1", ","), query, word(")")), Int
	}
	return query, Int
}

// respelled puts a level that is grouped by a primary key and by sets of a condition, which the list writes otherwise.
func (s *selection) respelled() []column {
	m := s.maker
	for _, r := range s.l.rels {
		if r.table == nil || !r.table.Primary || r.table.ScopeType == "" {
			continue
		}
		usable := slices.DeleteFunc(slices.Clone(r.cols), func(c column) bool { return c.typ != Text && c.typ != Int || c.kind == Scope })
		if len(usable) == 0 {
			continue
		}
		c := usable[m.r.IntN(len(usable))]
		m.use("condition written otherwise")
		value := constant(Text, m.sample(Text))
		forms := []string{c.ref + " = " + value, c.ref + " = " + value + " :: text", c.ref + " OPERATOR ( pg_catalog.= ) " + value}
		switch {
		case c.typ == Int:
			forms = []string{c.ref + " > 2", c.ref + " > '2'", c.ref + " > '02'"}
		case m.chance(30):
			forms = []string{c.ref + " IN ( " + value + " , 'q' )", c.ref + " = ANY ( ARRAY [ " + value + " , 'q' ] )", c.ref + " IN ( " + value + " :: text , 'q' )"}
		}
		m.put("SELECT", m.one(forms...))
		cols := []column{m.named(column{typ: Bool, kind: Computed}, 0, false)}
		m.put(",", "count", "(", "*", ")")
		cols = append(cols, m.named(column{typ: Big, kind: Computed}, 1, false))
		s.rest()
		m.put("GROUP", "BY")
		for _, k := range r.cols {
			if keyed(r.table, k) {
				m.put(k.ref, ",")
			}
		}
		m.put("ROLLUP", "(", m.one(forms...), ")")
		return cols
	}
	return s.plain()
}
