package statement

// trap is a predicate over a column that fails, or tells, on a canary of its kind and
// on none of the server's own values. COL stands for the column.
type trap struct {
	of   Kind
	typ  Type // of the expression; Bool for a predicate
	name string
	sql  []string
}

const col = "COL"

// traps are those of all kinds. What fails is what others' rows hold, so where a trap
// goes off in the shared database and not in the server's own, a row was looked at that
// should not have been.
var traps = []trap{
	{Name, Bool, "trap: regular expression", []string{"'x'", "~", col}},
	{Name, Text, "trap: regular expression", []string{"regexp_replace", "(", "'xyz'", ",", col, ",", "'y'", ")"}},
	{Name, Bool, "trap: SIMILAR TO", []string{"'x'", "SIMILAR TO", col}},
	{Name, Text, "trap: substring", []string{"substring", "(", "'abc'", ",", "1", ",", "11", "-", "length", "(", col, ")", ")"}},
	{Name, Text, "trap: chr", []string{"chr", "(", "12", "-", "length", "(", col, ")", ")"}},
	{Digits, Int, "trap: cast to int", []string{col, "::", "int4"}},
	{Digits, Numeric, "trap: cast to numeric", []string{"CAST", "(", col, "AS", "numeric", ")"}},
	{Digits, Bool, "trap: cast to int", []string{col, "::", "int8", ">=", "0"}},
	{Day, Date, "trap: cast to date", []string{col, "::", "date"}},
	{Day, Time, "trap: cast to date", []string{"CAST", "(", col, "AS", "timestamptz", ")"}},
	{Mark, Bool, "trap: escape", []string{"'a'", "LIKE", "'b%'", "ESCAPE", col}},
	{Mark, Text, "trap: escape", []string{"CASE", "WHEN", "'ab'", "NOT LIKE", "'b%'", "ESCAPE", col, "THEN", "'yes'", "END"}},
	{Document, JSON, "trap: cast to jsonb", []string{col, "::", "jsonb"}},
	{Document, Text, "trap: cast to jsonb", []string{col, "::", "json", "->>", "'n'"}},
	{Small, Int, "trap: division", []string{"1000", "/", "(", col, "-", "8675309", ")"}},
	{Small, Bool, "trap: division", []string{"1000", "%", "(", col, "-", "8675309", ")", "<", "2000"}},
	{Small, Int, "trap: overflow", []string{col, "*", "10000"}},
	{Small, Int, "trap: cast to smallint", []string{col, "::", "int2", "::", "int4"}},
	{Large, Big, "trap: overflow", []string{col, "*", "2"}},
	{Large, Int, "trap: cast to int", []string{col, "::", "int4"}},
	{Twice, Int, "trap: cast to smallint", []string{col, "::", "int2", "::", "int4"}},
	{Amount, Numeric, "trap: root", []string{"sqrt", "(", "8675309", "-", col, ")"}},
	{Amount, Numeric, "trap: division", []string{"1", "/", "(", "8675309.75", "-", col, ")"}},
	{Amount, Bool, "trap: logarithm", []string{"ln", "(", "1000", "-", col, ")", ">", "0"}},
	{When, Date, "trap: make_date", []string{"make_date", "(", "2675", "-", "EXTRACT", "(", "year", "FROM", col, ")", "::", "int4", ",", "1", ",", "1", ")"}},
	{Moment, Time, "trap: interval", []string{col, "+", "INTERVAL", "'292000 years'"}},
	{Moment, Int, "trap: division", []string{"1000", "/", "(", "2675", "-", "EXTRACT", "(", "year", "FROM", col, ")", "::", "int4", ")"}},
	{Object, Int, "trap: cast of a jsonb field", []string{"(", col, "->>", "'n'", ")", "::", "int4"}},
	{Object, Int, "trap: jsonb_array_length", []string{"jsonb_array_length", "(", col, "->", "'a'", ")"}},
	{Object, Bool, "trap: cast of a jsonb field", []string{"(", col, "->", "'on'", ")", "::", "bool"}},
	{Object, Bool, "trap: regular expression", []string{"'x'", "!~", "(", col, "->>", "'s'", ")"}},
	{Words, Bool, "trap: regular expression", []string{"'x'", "~", col, "[", "1", "]"}},
	{Numbers, Int, "trap: division", []string{"1000", "/", "(", col, "[", "1", "]", "-", "8675309", ")"}},
	{Octets, Text, "trap: convert_from", []string{"convert_from", "(", col, ",", "'UTF8'", ")"}},
	{Octets, Int, "trap: get_byte", []string{"get_byte", "(", col, ",", "7", ")"}},
	{Weight, Int, "trap: cast to smallint", []string{col, "::", "int2", "::", "int4"}},
	{Weight, Float, "trap: root", []string{"sqrt", "(", "8675309", "-", col, ")"}},
}

// trapped gives the columns in sight that have traps of a type; "" for any.
func (m *maker) trapped(l *level, t Type) (trap, column, bool) {
	found := l.columns("")
	for range 6 {
		if len(found) == 0 {
			break
		}
		c := found[m.r.IntN(len(found))]
		at := m.r.IntN(len(traps))
		for i := range traps {
			p := traps[(at+i)%len(traps)]
			if p.of == c.kind && c.own != nil && (t == "" || p.typ == t) {
				return p, c, true
			}
		}
	}
	return trap{}, column{}, false
}

func (m *maker) spring(l *level, p trap, c column) {
	m.use(p.name)
	for _, w := range p.sql {
		if w == col {
			m.ref(l, c)
		} else {
			m.put(w)
		}
	}
}

// failing puts a trap as a condition; false where no column in sight has one.
func (m *maker) failing(l *level) bool {
	p, c, ok := m.trapped(l, "")
	if !ok {
		return false
	}
	m.in(func() {
		m.spring(l, p, c)
		if p.typ != Bool {
			m.put(m.one("IS NOT NULL", "IS NOT NULL", "IS NULL"))
		}
	})
	return true
}

// failingOf puts a trap of a type, or some other expression.
func (m *maker) failingOf(l *level, t Type) {
	if p, c, ok := m.trapped(l, t); ok {
		m.in(func() { m.spring(l, p, c) })
		return
	}
	if !m.column(l, t) {
		m.literal(t)
	}
}
