package statement

// predicate puts a condition.
func (m *maker) predicate(l *level, depth int) {
	if depth > 0 && m.spend() {
		switch n := m.r.IntN(100); {
		case n < 12:
			m.use("AND")
			m.both(l, "AND", depth-1)
			return
		case n < 20:
			m.use("OR")
			m.both(l, "OR", depth-1)
			return
		case n < 24:
			m.use("NOT")
			m.put("NOT")
			m.in(func() { m.predicate(l, depth-1) })
			return
		case n < 40:
			m.query1(l, depth-1)
			return
		}
	}
	if m.chance(22) && m.failing(l) {
		return
	}
	m.simple(l, depth)
}

func (m *maker) both(l *level, op string, depth int) {
	m.in(func() {
		m.predicate(l, depth)
		m.put(op)
		m.predicate(l, depth)
	})
}

// simple puts a condition on a column.
func (m *maker) simple(l *level, depth int) {
	c, ok := m.pick(l, "")
	if !ok {
		m.put(m.one("true", "false", "1 = 1", "NULL :: bool"))
		return
	}
	if m.chance(45) {
		m.comparison(l, c, depth)
		return
	}
	switch c.typ {
	case Text:
		m.textTest(l, c)
	case JSON:
		m.jsonTest(l, c)
	case Texts, Ints:
		m.arrayTest(l, c)
	case Date, Time:
		m.timeTest(l, c)
	case Bool:
		m.use("boolean test")
		m.ref(l, c)
		if m.chance(70) {
			m.put("IS")
			if m.chance(40) {
				m.put("NOT")
			}
			m.put(m.one("TRUE", "FALSE", "UNKNOWN"))
		}
	default:
		m.comparison(l, c, depth)
	}
}

var comparisons = []string{"=", "=", "=", "<>", "!=", "<", "<=", ">", ">="}

// comparison compares a column with a value, a list of values or an expression. A
// placeholder beside the scope column would be that of a scope condition.
func (m *maker) comparison(l *level, c column, depth int) {
	m.ref(l, c)
	if c.kind == Scope {
		m.put(m.one("=", "<>", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"), constant(Text, m.one(m.server, foreign(m.server))))
		return
	}
	switch n := m.r.IntN(100); {
	case n < 30:
		m.put(m.one(comparisons...))
		m.value(c.typ, m.sampleOf(c))
	case n < 40:
		m.use("IN list")
		m.put(m.one("IN", "IN", "NOT IN"))
		m.in(func() { m.list(1+m.r.IntN(3), func(int) { m.value(c.typ, m.sampleOf(c)) }) })
	case n < 48:
		m.use("BETWEEN")
		m.put(m.one("BETWEEN", "NOT BETWEEN", "BETWEEN SYMMETRIC"))
		m.value(c.typ, m.sampleOf(c))
		m.put("AND")
		m.value(c.typ, m.sampleOf(c))
	case n < 55:
		m.use("IS NULL")
		m.put("IS", m.one("NULL", "NOT NULL"))
	case n < 62:
		m.use("IS DISTINCT FROM")
		m.put("IS", m.one("DISTINCT FROM", "NOT DISTINCT FROM"))
		m.value(c.typ, m.sampleOf(c))
	case n < 70:
		m.use("OPERATOR()")
		m.put("OPERATOR", "(", m.one("pg_catalog.=", "pg_catalog.<>", "pg_catalog.<"), ")")
		m.value(c.typ, m.sampleOf(c))
	case n < 77 && c.typ != Texts && c.typ != Ints:
		m.use("ANY of an array")
		m.put(m.one("=", "<>"), m.one("ANY", "ALL", "SOME"))
		m.in(func() { m.elements(c) })
	default:
		m.put(m.one(comparisons...))
		m.in(func() { m.expr(l, c.typ, depth-1) })
	}
}

func (m *maker) elements(c column) {
	m.put("ARRAY", "[")
	m.list(1+m.r.IntN(3), func(int) { m.put(constant(c.typ, m.sampleOf(c))) })
	m.put("]", "::", string(c.typ)+"[]")
}

func (m *maker) textTest(l *level, c column) {
	switch m.r.IntN(7) {
	case 0:
		m.use("LIKE")
		m.ref(l, c)
		m.put(m.one("LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE", "~~"))
		m.value(Text, m.one("a%", "%e%", "_a_", "c%", "%1"))
	case 1:
		m.use("LIKE ESCAPE")
		m.ref(l, c)
		m.put("LIKE", m.one("'a!%'", "'%!_%'"), "ESCAPE", "'!'")
	case 2:
		m.use("regular expression")
		m.ref(l, c)
		m.put(m.one("~", "~*", "!~", "!~*"))
		m.value(Text, m.one("^[a-d]", "e$", "[0-9]+", "a|b"))
	case 3:
		m.use("SIMILAR TO")
		m.ref(l, c)
		m.put(m.one("SIMILAR TO", "NOT SIMILAR TO"), "'(a|b|c)%'")
	case 4:
		m.call("starts_with", func() { m.ref(l, c) }, m.word("'a'"))
	case 5:
		m.put("lower", "(")
		m.ref(l, c)
		m.put(")", "=")
		m.value(Text, m.one("ann", "bob", "i3"))
	default:
		m.ref(l, c)
		m.put("COLLATE", `"C"`, "<")
		m.value(Text, "d")
		m.use("COLLATE")
	}
}

func (m *maker) jsonTest(l *level, c column) {
	m.use("jsonb operators")
	m.ref(l, c)
	m.any(
		func() { m.put("@>", m.one(`'{"on": true}'`, `'{"n": 3}'`, `'{"a": [1]}'`)) },
		func() { m.put("->>", "'s'", "="); m.value(Text, m.one(words...)) },
		func() { m.plain("??", "?"); m.put("'n'"); m.use("the operator ?") },
		func() { m.plain("??|", "?|"); m.put("ARRAY", "[", "'n'", ",", "'zz'", "]"); m.use("the operator ?") },
		func() { m.plain("@??", "@?"); m.put("'$.a[*] ? (@ > 3)'"); m.use("jsonpath") },
		func() { m.put("@@", "'$.n > 2'"); m.use("jsonpath") },
		func() { m.put("->", "'n'", ">", "'2'") },
	)
}

func (m *maker) arrayTest(l *level, c column) {
	m.use("arrays")
	example := "'{red,ann}'"
	element := "'red'"
	if c.typ == Ints {
		example, element = "'{2,3}'", "2"
	}
	if m.chance(40) {
		m.use("ANY of a column")
		m.put(element, "=", m.one("ANY", "ALL"), "(")
		m.ref(l, c)
		m.put(")")
		return
	}
	m.ref(l, c)
	m.put(m.one("&&", "@>", "<@"), example, "::", string(c.typ))
}

func (m *maker) timeTest(l *level, c column) {
	if m.chance(30) {
		m.use("OVERLAPS")
		m.put("(")
		m.ref(l, c)
		m.put(",", "INTERVAL", "'2 days'", ")", "OVERLAPS", "(", "'2024-01-03'", "::", string(c.typ), ",", "'2024-01-09'", "::", string(c.typ), ")")
		return
	}
	if m.chance(30) {
		m.use("value of the clock")
		m.ref(l, c)
		m.put(m.one("<", ">"), m.one("clock_timestamp ( ) - interval '1 day'", "( clock_timestamp ( ) - '1 day' :: interval ) :: date",
			"clock_timestamp ( ) - random ( ) * interval '1 day'", "date_trunc ( 'day' , clock_timestamp ( ) - interval '30 days' )"))
		return
	}
	m.use("EXTRACT")
	m.put("EXTRACT", "(", m.one("day", "month", "year", "dow"), "FROM")
	m.ref(l, c)
	m.put(")", m.one("=", "<", ">"), m.one("1", "5", "2024"))
}
