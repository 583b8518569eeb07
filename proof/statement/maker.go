package statement

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/tenantgate/tenantgate/policy"
)

// None is the scope mode of statements that never reach the policy: they carry no scope
// condition but by chance, and give the scope column its right value.
const None policy.ScopeMode = ""

// Generator makes statements for one server.
type Generator struct {
	server string
	tables []*Table
}

// New gives a generator for a server; it uses the tables that the server's id fits.
func New(server string) *Generator {
	g := &Generator{server: server}
	for _, t := range Tables() {
		if t.Fits(server) {
			g.tables = append(g.tables, t)
		}
	}
	return g
}

// Make gives the statement of a seed and a number.
func (g *Generator) Make(seed uint64, number int, mode policy.ScopeMode) Statement {
	m := &maker{
		r: rand.New(rand.NewPCG(seed, uint64(number))), server: g.server, tables: g.tables, mode: mode, //nolint:gosec // chance, not secrecy
		uses: map[string]bool{},
	}
	m.budget = 6 + m.r.IntN(30)
	m.Dollar, m.Tight, m.Mode = m.chance(30), m.chance(30), mode
	m.statement()
	m.Tokens = m.out
	for name := range m.uses {
		m.Uses = append(m.Uses, name)
	}
	slices.Sort(m.Uses)
	return m.Statement
}

// maker makes one statement.
type maker struct {
	Statement
	r       *rand.Rand
	server  string
	tables  []*Table
	mode    policy.ScopeMode
	out     []Token
	uses    map[string]bool
	ctes    []*relation // visible WITH names, the innermost last
	freed   []*Table    // whose names a WITH hid up to the end of its query
	names   int         // of aliases given so far
	budget  int         // of queries and compound expressions
	given   bool        // a scope condition stands somewhere
	pending []*relation // scoped tables of the level that is being made

	skewed    bool     // of mode order: values are those that others may hold
	values    Values   // and how they are written
	mentioned []*Table // the tables that were named
	ids       *Column  // of the last one: it holds other servers' ids
	tie       *Column  // of the last one: many rows have one value there, held
	held      string
}

// relation is something in FROM.
type relation struct {
	name   string // as it is referred to
	cols   []column
	table  *Table
	hides  bool
	sealed bool // no row lock can name it
}

// column is a column of a relation.
type column struct {
	ref  string // how it is referred to
	name string // unquoted
	by   string // how GROUP BY writes it; "": like ref
	typ  Type
	kind Kind
	of   *Table
	own  *Column

	constant bool // it is made without a column
}

// level is the relations that an expression sees.
type level struct {
	rels   []*relation
	outer  *level
	merged bool // USING or NATURAL has merged columns
}

func (m *maker) chance(percent int) bool { return m.r.IntN(100) < percent }

// one picks one of several words.
func (m *maker) one(words ...string) string { return words[m.r.IntN(len(words))] }

// spend tells whether there is something left of the budget.
func (m *maker) spend() bool {
	m.budget--
	return m.budget > 0
}

// use notes that a construct is in the statement.
func (m *maker) use(construct string) { m.uses[construct] = true }

// put adds words to the statement.
func (m *maker) put(words ...string) {
	for _, w := range words {
		m.out = append(m.out, Token{Text: w})
	}
}

// plain adds a word that is another one on a plain database.
func (m *maker) plain(text, plain string) { m.out = append(m.out, Token{Text: text, Plain: plain}) }

// capture gives what f puts, without putting it.
func (m *maker) capture(f func()) []Token {
	saved := m.out
	m.out = nil
	f()
	got := m.out
	m.out = saved
	return got
}

// list puts n things with commas between.
func (m *maker) list(n int, f func(i int)) {
	for i := range n {
		if i > 0 {
			m.put(",")
		}
		f(i)
	}
}

// in puts something in brackets.
func (m *maker) in(f func()) {
	m.put("(")
	f()
	m.put(")")
}

// call puts a function call.
func (m *maker) call(name string, args ...func()) {
	if m.chance(4) {
		name = "pg_catalog." + name
		m.use("qualified function")
	}
	m.put(name, "(")
	m.list(len(args), func(i int) { args[i]() })
	m.put(")")
}

// word gives a function that puts words.
func (m *maker) word(words ...string) func() { return func() { m.put(words...) } }

func (m *maker) alias(prefix string) string {
	m.names++
	name := fmt.Sprintf("%s%d", prefix, m.names)
	if m.chance(6) {
		m.use("quoted name")
		return `"` + strings.ToUpper(name[:1]) + " " + name[1:] + `"`
	}
	return name
}

// Quote spells a name as the catalog has it.
func Quote(name string) string {
	plain := name != "order"
	for i := range len(name) {
		c := name[i]
		plain = plain && (c == '_' || 'a' <= c && c <= 'z' || i > 0 && '0' <= c && c <= '9')
	}
	if plain {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// spell writes a name in one of the ways that mean the same.
func (m *maker) spell(name string) string {
	quoted := Quote(name)
	switch {
	case quoted != name:
		return quoted
	case m.chance(3):
		m.use("quoted name")
		return `"` + name + `"`
	case m.chance(3):
		m.use("name in capitals")
		return strings.ToUpper(name)
	}
	return name
}

// table picks a table, with some preference for those whose name meant another thing
// before; write says that it is to be changed.
func (m *maker) table(write bool) *Table {
	for {
		t := m.tables[m.r.IntN(len(m.tables))]
		if len(m.freed) > 0 && m.chance(60) {
			t = m.freed[m.r.IntN(len(m.freed))]
		}
		if !write || t.ScopeType != "" {
			return t
		}
	}
}

// tableName writes a table's name; "shop" needs none as the only schema that has it.
func (m *maker) tableName(t *Table) string {
	if m.chance(15) || m.hidden(t.Name) {
		m.use("qualified table")
		return t.Schema + "." + m.spell(t.Name)
	}
	return m.spell(t.Name)
}
