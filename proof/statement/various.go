package statement

import (
	"slices"
	"strings"
)

// various puts one of the rarer expressions of type text; false where none fits.
func (m *maker) various(l *level) bool {
	switch m.r.IntN(12) {
	case 0, 1, 2:
		return m.wholeRow(l)
	case 3:
		m.use("VARIADIC")
		m.put("concat", "(", "VARIADIC", "ARRAY", "[", "'a'", ",")
		m.expr(l, Text, 0)
		m.put("]", ")")
	case 4:
		m.use("named argument")
		m.put("to_char", "(")
		m.expr(l, Time, 0)
		m.put("+", "make_interval", "(", "days", "=>", "2", ")", ",", "'DD'", ")")
	case 5:
		m.use("value of the moment")
		m.Loose = true
		m.put(m.one("CURRENT_DATE", "now ( )", "random ( )", "LOCALTIMESTAMP", "gen_random_uuid ( )", "clock_timestamp ( )"), "::", "text")
	case 6:
		m.use("bit string")
		m.put("(", "B'101'", "|", "B'010'", ")", "::", "text")
	case 7:
		m.use("escaped string")
		m.put(m.one(`E'a\'b\\'`, "$$a'b$$", "$q$;?$1$q$", "'it''s ?'", `U&'\0061?'`), "::", "text")
	case 8:
		m.use("comment")
		m.put("/* ? ; $1 /* inner */ */", "'c'", "::", "text")
	case 9:
		m.use("composite value")
		m.put("ROW", "(")
		m.expr(l, Int, 0)
		m.put(",")
		m.expr(l, Text, 0)
		m.put(")", "::", "text")
	default:
		return m.qualifiedColumn(l)
	}
	return true
}

// wholeRow puts a table's row as a value.
func (m *maker) wholeRow(l *level) bool {
	for _, r := range l.rels {
		if r.name == "" || r.hides || len(r.cols) == 0 || strings.ContainsAny(r.name, " ") && r.table == nil {
			continue
		}
		m.use("whole row")
		name := Quote1(r.name)
		m.any(
			func() { m.put(name, "::", "text") },
			func() { m.put("row_to_json", "(", name, ")", "::", "text") },
			func() { m.put("(", name, "IS NOT NULL", ")", "::", "text") },
			func() { m.put("to_jsonb", "(", name, ")", "->>", "'id'") },
		)
		return true
	}
	return false
}

// qualifiedColumn puts schema.table.column, for a table without an alias.
func (m *maker) qualifiedColumn(l *level) bool {
	for _, r := range l.rels {
		if r.table == nil || r.name != r.table.Name {
			continue
		}
		for _, c := range r.cols {
			if c.typ == Text {
				m.use("schema.table.column")
				m.put(r.table.Schema + "." + c.ref)
				return true
			}
		}
	}
	return false
}

// percentile puts an ordered-set aggregate.
func (m *maker) percentile(l *level, t Type) {
	m.use("WITHIN GROUP")
	m.put("percentile_disc", "(", "0.5", ")", "WITHIN", "GROUP", "(", "ORDER", "BY")
	if !m.column(&level{rels: l.rels}, t) {
		m.put(constant(t, m.sample(t)), "::", string(t))
	}
	m.put(")")
}

// namedJoin gives a join an alias, which hides the names in it. Two columns of one name
// could not be told apart then.
func (m *maker) namedJoin(l *level, first, start int) {
	seen := map[string]bool{}
	for _, r := range l.rels[first:] {
		for _, c := range r.cols {
			if r.hides || seen[c.name] || c.name == "" {
				return
			}
			seen[c.name] = true
		}
	}
	m.use("join with an alias")
	alias := m.alias("j")
	named := &relation{name: alias, sealed: true}
	for _, r := range l.rels[first:] {
		for i := range r.cols {
			r.cols[i].ref = alias + "." + Quote(r.cols[i].name)
		}
		named.cols = append(named.cols, r.cols...)
	}
	m.out = slices.Insert(m.out, start, Token{Text: "("})
	m.put(")", "AS", alias)
	l.rels = append(l.rels[:first:first], named)
}
