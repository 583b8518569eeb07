package statement

import (
	"slices"
	"strconv"
)

// option narrows what a query level may be.
type option uint8

// bare is an arm of a set operation: without ORDER BY, LIMIT and row locks of its own.
const bare option = 1

// selects puts one query level and gives its columns.
func (m *maker) selects(outer *level, want []Type, depth int, top bool, options ...option) []column {
	l := &level{outer: outer}
	saved := m.pending
	m.pending = nil
	var from []Token
	if !m.chance(3) {
		from = m.capture(func() { m.from(l, depth) })
	}
	scoped := m.pending
	m.pending = saved
	var conditions []*relation
	if len(from) > 0 {
		conditions = m.needsConditions(scoped)
	}
	s := &selection{maker: m, l: l, from: from, conditions: conditions, want: want, depth: depth, top: top, bare: slices.Contains(options, bare)}
	switch n := m.r.IntN(100); {
	case len(from) == 0:
		m.use("SELECT without FROM")
		return s.plain()
	case n < 16:
		return s.grouped()
	case n < 20 && want == nil:
		return s.byKey()
	case n < 25:
		return s.distinctOn()
	case n < 31 && want == nil && !s.bare:
		return s.beneath(s.repeated)
	case n < 33 && want == nil && !s.bare:
		return s.beneath(s.respelled)
	case n < 36 && want == nil && !s.bare:
		return s.volatile()
	case n < 39 && want == nil && !s.bare:
		return s.beneath(s.quantified)
	}
	return s.plain()
}

// selection is one SELECT that is being put.
type selection struct {
	*maker
	l          *level
	from       []Token
	conditions []*relation
	want       []Type
	depth      int
	top, bare  bool
}

// rest puts FROM and WHERE.
func (s *selection) rest() {
	s.out = append(s.out, s.from...)
	s.where(s.l, s.conditions, s.depth)
}

// plain puts a level without groups.
func (s *selection) plain() []column {
	m := s.maker
	m.put("SELECT")
	distinct := m.chance(8)
	if distinct {
		m.use("DISTINCT")
		m.put("DISTINCT")
	} else if m.chance(2) {
		m.put("ALL")
	}
	cols, windows := s.items(distinct)
	s.rest()
	if windows != nil {
		windows()
	}
	if s.bare {
		return cols
	}
	m.order(s.l, cols, s.top, distinct)
	if !distinct && m.chance(map[bool]int{true: 10, false: 2}[s.top]) {
		s.lock()
	}
	return cols
}

// items puts a select list; where it uses a named window it gives what puts that.
func (s *selection) items(distinct bool) (cols []column, windows func()) {
	m := s.maker
	if s.want == nil && len(s.l.rels) > 0 && m.chance(25) {
		if cols, ok := s.star(); ok {
			return cols, nil
		}
	}
	want := s.want
	if want == nil {
		want = m.types(1 + m.r.IntN(4))
	}
	m.list(len(want), func(i int) {
		t := want[i]
		if s.want == nil && m.chance(55) {
			if c, ok := m.pick(s.l, ""); ok {
				m.ref(s.l, c)
				cols = append(cols, m.named(c, i, s.top))
				return
			}
		}
		if !distinct && len(s.l.rels) > 0 && m.chance(12) && s.depth > 0 {
			windows = s.window(t, windows)
		} else if at := len(m.out); true {
			m.expr(s.l, t, s.depth)
			if c, ok := s.passed(at, t); ok {
				cols = append(cols, m.named(c, i, s.top))
				return
			}
		}
		cols = append(cols, m.named(column{typ: t, kind: Computed}, i, s.top))
	})
	if s.want == nil && !s.top && m.chance(8) {
		n := m.nameless(s.l)
		n.text = "( " + n.text + " )"
		cols = append(cols, m.unnamed(n))
	}
	return cols, windows
}

// nameless is an expression that is hidden where a condition may look at it, with the name that Postgres makes of it.
type nameless struct {
	text, name string
	typ        Type
	constant   bool // it has no column
}

func (m *maker) nameless(l *level) *nameless {
	tested := "1"
	if c, ok := m.pick(&level{rels: l.rels}, ""); ok {
		tested = c.ref
	}
	all := []nameless{
		{text: "lower ( 'Q' )", name: "lower", typ: Text}, {text: "'abcd' :: varchar ( 3 ) :: text", name: "text", typ: Text},
		{text: "CASE WHEN " + tested + " IS NULL THEN 'y' ELSE 'x' END", name: "case", typ: Text},
		{text: "( '5' ) :: numeric ( 3 , 1 ) :: int", name: "int4", typ: Int}, {text: "( '{p,q}' :: text [ ] ) [ 1 ]", name: "text", typ: Text},
	}
	n := all[m.r.IntN(len(all))]
	n.constant = n.name != "case" || tested == "1"
	return &n
}

// unnamed puts it last in a select list.
func (m *maker) unnamed(n *nameless) column {
	m.use("column without a name")
	m.put(",", n.text)
	return column{name: n.name, typ: n.typ, kind: Computed}
}

// passed gives the column that the expression since a place is, where it is only that.
func (s *selection) passed(at int, t Type) (column, bool) {
	if len(s.out) != at+1 {
		return column{}, false
	}
	for _, c := range s.l.columns(t) {
		if c.ref == s.out[at].Text {
			return c, true
		}
	}
	return column{}, false
}

// named gives an entry of a select list a name where it needs one.
func (m *maker) named(c column, i int, top bool) column {
	if !top || m.chance(20) {
		if m.chance(80) || c.name == "" {
			c.name = "c" + strconv.Itoa(i) + "n" + strconv.Itoa(m.names)
			m.names++
		} else {
			c.name = Quote(c.name)[:1] + "k" + strconv.Itoa(m.names)
			m.names++
		}
		if c.name[0] == '"' {
			c.name = "q" + c.name[1:]
		}
		m.put("AS", c.name)
	}
	c.ref = ""
	return c
}

// star puts * or r.*, as far as its columns are known and have different names.
func (s *selection) star() ([]column, bool) {
	m := s.maker
	seen := map[string]bool{}
	all := func(rels []*relation) (cols []column, hides, twice bool) {
		for _, r := range rels {
			hides = hides || r.hides
			for _, c := range r.cols {
				twice = twice || seen[c.name]
				seen[c.name] = true
				cols = append(cols, c)
			}
		}
		return cols, hides, twice
	}
	r := s.l.rels[m.r.IntN(len(s.l.rels))]
	if m.chance(40) || s.l.merged {
		if r.name == "" {
			return nil, false
		}
		cols, hides, _ := all([]*relation{r})
		m.use("r.*")
		m.starToken(Quote1(r.name)+".*", cols, hides)
		return cols, true
	}
	cols, hides, twice := all(s.l.rels)
	if twice && !s.top || len(cols) == 0 {
		return nil, false
	}
	m.use("*")
	m.starToken("*", cols, hides)
	return cols, true
}

// everything puts a * whose columns are of no interest.
func (m *maker) everything(l *level) {
	for _, r := range l.rels {
		if r.hides {
			m.starToken("*", r.cols, true)
			return
		}
	}
	m.put("*")
}

// Quote1 leaves an alias, which is spelled already, and spells a table's name.
func Quote1(name string) string {
	if name[0] == '"' {
		return name
	}
	return Quote(name)
}

func (m *maker) starToken(text string, cols []column, hides bool) {
	t := Token{Text: text}
	if hides {
		m.use("* over a hidden column")
		for i, c := range cols {
			if i > 0 {
				t.Plain += ", "
			}
			t.Plain += c.ref
		}
	}
	m.out = append(m.out, t)
}

// lock puts FOR UPDATE or its like.
func (s *selection) lock() {
	m := s.maker
	var names []string
	for _, r := range s.l.rels {
		if r.sealed {
			continue
		}
		if r.table != nil && r.table.ScopeType != "" {
			names = append(names, Quote1(r.name))
		}
	}
	if len(names) == 0 || len(names) < len(s.l.rels) && m.chance(20) {
		return
	}
	strength := m.one("UPDATE", "SHARE", "NO KEY UPDATE", "KEY SHARE")
	m.use("FOR " + strength)
	m.put("FOR", strength)
	if len(names) < len(s.l.rels) || m.chance(50) {
		m.use("FOR UPDATE OF")
		m.put("OF", names[m.r.IntN(len(names))])
	}
	if m.chance(20) {
		m.put(m.one("NOWAIT", "SKIP LOCKED"))
		m.use("SKIP LOCKED")
	}
}
