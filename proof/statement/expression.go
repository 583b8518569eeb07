package statement

// expr puts an expression of a type. depth bounds how deep it nests.
func (m *maker) expr(l *level, t Type, depth int) {
	if depth <= 0 || !m.spend() {
		if m.chance(15) || !m.column(l, t) {
			m.literal(t)
		}
		return
	}
	switch n := m.r.IntN(100); {
	case n < 45:
		if !m.column(l, t) {
			m.literal(t)
		}
	case n < 55:
		m.literal(t)
	case n < 59:
		m.caseOf(l, t, depth-1)
	case n < 63:
		m.choice(l, t, depth-1)
	case n < 67 && depth > 1:
		m.scalar(l, t, depth-1)
	case n < 71:
		m.failingOf(l, t)
	default:
		m.compound(l, t, depth-1)
	}
}

// arg gives a function that puts an expression in brackets where it needs them.
func (m *maker) arg(l *level, t Type, depth int) func() {
	return func() { m.in(func() { m.expr(l, t, depth) }) }
}

func (m *maker) caseOf(l *level, t Type, depth int) {
	m.put("CASE")
	if m.chance(30) {
		m.use("CASE of a value")
		m.expr(l, Int, depth)
		m.put("WHEN")
		m.expr(l, Int, depth)
	} else {
		m.use("CASE")
		m.put("WHEN")
		m.predicate(l, depth)
	}
	m.put("THEN")
	m.expr(l, t, depth)
	if m.chance(70) {
		m.put("ELSE")
		m.expr(l, t, depth)
	}
	m.put("END")
}

// choice puts one of the functions that choose among values of any type.
func (m *maker) choice(l *level, t Type, depth int) {
	name := m.one("COALESCE", "NULLIF", "GREATEST", "LEAST")
	m.use(name)
	m.put(name)
	m.in(func() {
		m.expr(l, t, depth)
		m.put(",")
		m.expr(l, t, depth)
	})
}

// scalar puts a sub-select of one value.
func (m *maker) scalar(l *level, t Type, depth int) {
	m.use("scalar sub-select")
	m.in(func() {
		if m.chance(60) {
			m.aggregateQuery(l, t, depth)
			return
		}
		m.single(l, t, depth)
	})
}

// compound puts an operator or function that gives the type.
func (m *maker) compound(l *level, t Type, depth int) {
	arg := func(t Type) func() { return m.arg(l, t, depth) }
	switch t {
	case Text:
		if m.chance(25) && m.various(l) {
			return
		}
		m.text(arg)
	case Int, Big, Numeric, Float:
		m.number(arg, t)
	case Bool:
		m.predicate(l, depth)
	case Date, Time:
		m.time(arg, t)
	case JSON:
		m.json(arg)
	case Texts, Ints:
		m.array(l, arg, t, depth)
	case Bytes:
		m.use("bytea")
		m.any(func() { m.call("convert_to", arg(Text), m.word("'UTF8'")) }, func() { m.call("substring", arg(Bytes), m.word("1"), m.word("2")) },
			func() { arg(Bytes)(); m.put("||"); arg(Bytes)() })
	case UUID:
		m.choice(l, t, depth)
	}
}

// any does one of several things.
func (m *maker) any(things ...func()) { things[m.r.IntN(len(things))]() }

func (m *maker) text(arg func(Type) func()) {
	m.use("text operators")
	m.any(
		func() { arg(Text)(); m.put("||"); arg(Text)() },
		func() {
			m.call(m.one("upper", "lower", "initcap", "md5", "btrim", "reverse", "quote_literal"), arg(Text))
		},
		func() { m.call(m.one("left", "right"), arg(Text), m.word("2")) },
		func() { m.call("concat", arg(Text), arg(Int), arg(Bool)) },
		func() { m.call("concat_ws", m.word("'-'"), arg(Text), arg(Text)) },
		func() { m.call("replace", arg(Text), m.word("'a'"), m.word("'b'")) },
		func() { m.call("format", m.word("'%s/%s'"), arg(Text), arg(Int)) },
		func() { m.call("split_part", arg(Text), m.word("'n'"), m.word("1")) },
		func() { m.call("lpad", arg(Text), m.word("6"), m.word("'*'")) },
		func() { m.call("regexp_replace", arg(Text), m.word("'[aeiou]'"), m.word("'_'")) },
		func() { m.call("encode", arg(Bytes), m.word("'hex'")) },
		func() { m.call("to_hex", arg(m.one1(Int, Big))) },
		func() { m.call("array_to_string", arg(Texts), m.word("'+'")) },
		func() { m.call("to_char", arg(Time), m.word("'YYYY-MM'")) },
		func() { arg(JSON)(); m.put("->>", "'s'"); m.use("jsonb operators") },
		func() { arg(JSON)(); m.put("#>>", "'{a,0}'"); m.use("jsonb operators") },
		func() { arg(Texts)(); m.put("["); m.put("1", "]"); m.use("array subscript") },
		func() {
			m.put("substring", "(")
			arg(Text)()
			m.put("FROM", "1", "FOR", "3", ")")
			m.use("SUBSTRING FROM")
		},
		func() { m.put("trim", "(", "BOTH", "'a'", "FROM"); arg(Text)(); m.put(")"); m.use("TRIM") },
		func() {
			m.put("overlay", "(")
			arg(Text)()
			m.put("PLACING", "'zz'", "FROM", "1", ")")
			m.use("OVERLAY")
		},
		func() { arg(Text)(); m.put("COLLATE", m.one(`"C"`, `pg_catalog."C"`, `"POSIX"`)); m.use("COLLATE") },
		func() { m.cast(arg([]Type{Int, Bool, Date, Numeric, Big, UUID}[m.r.IntN(6)]), Text) },
	)
}

func (m *maker) cast(arg func(), t Type) {
	m.use("cast")
	if m.chance(30) {
		m.put("CAST", "(")
		arg()
		m.put("AS", string(t), ")")
		return
	}
	arg()
	m.put("::", string(t))
}

// number puts arithmetic that stays small for the server's own rows.
func (m *maker) number(arg func(Type) func(), t Type) {
	m.use("arithmetic")
	plain := func() {
		arg(t)()
		m.put(m.one("+", "-", "+", "OPERATOR ( pg_catalog.+ )"), m.one("1", "2", "3"))
	}
	switch t {
	case Big:
		m.any(plain, func() { m.cast(arg(Int), Big) }, func() { m.call("abs", arg(Big)) })
	case Numeric:
		m.any(plain, func() { m.cast(arg(Int), Numeric) }, func() { m.call("round", arg(Numeric), m.word("1")) }, func() { arg(Numeric)(); m.put("*", "2") })
	case Float:
		m.any(plain, func() { m.cast(arg(Int), Float) })
	default:
		m.any(plain,
			func() { arg(Int)(); m.put(m.one("%", "/"), "7") },
			func() { m.put("-"); arg(Int)() },
			func() { m.call("length", arg(Text)) },
			func() { m.call("strpos", arg(Text), m.word("'a'")) },
			func() { m.put("position", "(", "'a'", "IN"); arg(Text)(); m.put(")"); m.use("POSITION") },
			func() { m.call("cardinality", arg(Texts)) },
			func() { m.call("num_nulls", arg(Text), arg(Date)) },
			func() { arg(Date)(); m.put("-", "'2024-01-01'", "::", "date") },
			func() { m.put("EXTRACT", "(", "day", "FROM"); arg(Time)(); m.put(")", "::", "int4"); m.use("EXTRACT") },
			func() { arg(Ints)(); m.put("["); m.put("1", "]"); m.use("array subscript") },
			func() { m.call("octet_length", arg(Bytes)) },
		)
	}
}

func (m *maker) time(arg func(Type) func(), t Type) {
	m.use("dates")
	if t == Date {
		m.any(func() { arg(Date)(); m.put("+", "3") }, func() { m.cast(arg(Time), Date) }, func() { m.call("make_date", m.word("2024"), m.word("2"), m.word("3")) })
		return
	}
	m.any(func() { arg(Time)(); m.put("+", "INTERVAL", "'1 day'") }, func() { m.call("date_trunc", m.word("'month'"), arg(Time)) }, func() { m.cast(arg(Date), Time) },
		func() {
			arg(Time)()
			m.put("AT", "TIME", "ZONE", "'UTC'", "AT", "TIME", "ZONE", "'UTC'")
			m.use("AT TIME ZONE")
		})
}

func (m *maker) json(arg func(Type) func()) {
	m.use("jsonb operators")
	m.any(
		func() { m.call("jsonb_build_object", m.word("'k'"), arg(Text), m.word("'v'"), arg(Int)) },
		func() { m.call("to_jsonb", arg(Text)) },
		func() { m.call("jsonb_build_array", arg(Int), arg(Bool)) },
		func() { arg(JSON)(); m.put("->", m.one("'a'", "'n'", "0")) },
		func() { arg(JSON)(); m.put("#>", "'{a,1}'") },
		func() { arg(JSON)(); m.put("||", `'{"z": 1}'`, "::", "jsonb") },
		func() { m.call("jsonb_set", arg(JSON), m.word("'{n}'"), m.word("'9'")) },
		func() { m.call("jsonb_strip_nulls", arg(JSON)) },
	)
}

func (m *maker) array(l *level, arg func(Type) func(), t Type, depth int) {
	m.use("arrays")
	element := Text
	if t == Ints {
		element = Int
	}
	m.any(
		func() { m.put("ARRAY", "["); arg(element)(); m.put(","); arg(element)(); m.put("]") },
		func() { arg(t)(); m.put("||"); arg(element)() },
		func() { m.call("array_append", arg(t), arg(element)) },
		func() { arg(t)(); m.put("[", "1", ":", "2", "]"); m.use("array slice") },
		func() {
			m.use("ARRAY sub-select")
			m.put("ARRAY")
			m.in(func() { m.set(l, element, depth); m.put("ORDER", "BY", "1") })
		},
	)
}
