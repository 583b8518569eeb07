package statement

import (
	"strconv"
	"strings"
)

// computedKey makes an expression with a literal of a column by which a level groups. Its list and HAVING repeat it by ref; the
// key itself may name the column otherwise.
func (m *maker) computedKey(l *level, c column) column {
	if !m.chance(30) || c.kind == Scope || l.merged {
		return c
	}
	m.use("GROUP BY an expression")
	by := c.ref
	if c.name != "" && l.only(c) && m.chance(50) {
		by = m.spell(c.name)
		m.use("GROUP BY an expression written otherwise")
	}
	value := constant(c.typ, m.sample(c.typ))
	if c.typ == Text && m.chance(50) { // hidden as a whole
		m.use("GROUP BY an expression with a call")
		value = "lower ( " + value + " )"
	}
	made := column{typ: c.typ, kind: Computed}
	var of func(ref string) string
	switch m.r.IntN(3) {
	case 0:
		made.typ = Bool
		of = func(ref string) string { return "( " + ref + " = " + value + " )" }
	case 1:
		of = func(ref string) string {
			return "CASE WHEN " + ref + " = " + value + " THEN " + value + " ELSE " + ref + " END"
		}
	default:
		of = func(ref string) string { return "coalesce ( " + ref + " , " + value + " )" }
	}
	made.ref, made.by = of(c.ref), of(by)
	return made
}

// byOutput has a key named by its position in the select list, where that has it, or by the name that Postgres makes for it there.
func (m *maker) byOutput(keys []column, entry []Token, i int) {
	for k := range keys {
		if keys[k].by == "" || entry[0].Text != keys[k].ref {
			continue
		}
		switch unnamed := len(entry) == 1; {
		case unnamed && strings.HasPrefix(keys[k].ref, "coalesce ") && m.chance(60):
			keys[k].by = "coalesce"
			m.use("GROUP BY a name that Postgres makes")
		case m.chance(40):
			keys[k].by = strconv.Itoa(i + 1)
			m.use("GROUP BY a position")
		}
	}
}

// key puts what a level groups by.
func (m *maker) key(c column) {
	if c.by != "" {
		m.put(c.by)
		return
	}
	m.put(c.ref)
}

// grouping puts a window function over the groups, and gives what puts its window.
func (m *maker) grouping(keys []column) (window func()) {
	m.use("window of groups")
	m.names++
	name := "g" + strconv.Itoa(m.names)
	m.put("count", "(", "*", ")", "OVER", name, "::", "int4")
	return func() {
		m.put("WINDOW", name, "AS", "(", "PARTITION", "BY")
		m.list(len(keys), func(i int) { m.put(keys[i].ref) })
		m.put(")")
	}
}
