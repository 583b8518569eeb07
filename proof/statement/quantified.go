package statement

// quantified puts a level whose list has a call with an expression that is compared with the rows of a sub-query. The expression is an
// aggregate, a window function or a group of this level, not of the sub-query's.
func (s *selection) quantified() []column {
	m := s.maker
	key, ok := m.pick(&level{rels: s.l.rels}, Text)
	if !ok {
		return s.plain()
	}
	m.use("group or aggregate compared with a sub-query")
	group := m.one(key.ref, "coalesce ( "+key.ref+" , 'x' )", "lower ( "+key.ref+" )")
	left, query := group, m.one("SELECT 'x'", "VALUES ( 'x' ) , ( "+constant(Text, m.sample(Text))+" )")
	by := m.one("", "GROUP BY "+group, "GROUP BY "+group, "GROUP BY ROLLUP ( "+group+" )")
	if by == "" || m.chance(60) {
		left, query = "count ( * )", m.one("SELECT 1", "SELECT 1 UNION SELECT 2", "VALUES ( 1 ) , ( 3 )")
	}
	if by == "" && m.chance(40) {
		left = "count ( * ) OVER ( )"
	}
	s.Loose = s.Loose || key.kind == Scope || key.own == nil
	test := left + m.one(" IN ( ", " = ANY ( ", " <> ALL ( ") + query + " )"
	m.put("SELECT", m.one("concat", "upper", "reverse"), "(", "CASE", "WHEN", test, "THEN", "'y'", "ELSE", "'n'", "END", ")")
	cols := []column{m.named(column{typ: Text, kind: Computed}, 0, s.top)}
	if by != "" {
		m.put(",", m.one(test, "ARRAY [ "+group+" ] :: text [ ] IS NULL"))
		cols = append(cols, m.named(column{typ: Bool, kind: Computed}, 1, s.top))
	}
	s.rest()
	if by != "" {
		m.put(by)
	}
	return cols
}
