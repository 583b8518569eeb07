package sqltree

import (
	"fmt"
	"slices"
	"strings"
)

// Rewritten is a final text before it is proved. Parameter $i+1 of Text takes Params[i].
type Rewritten struct {
	Text   string
	Params []FinalParam
	stars  map[int]int // offset of each spelled-out * in the source → entries that it became
	pieces []piece
}

// FinalParam is what a parameter of the final text carries: the caller's placeholder of
// that number; a literal of the text; or, where Number is 0 and Literal nil, the server's id
// as the scope column's type.
type FinalParam struct {
	Number  int32
	Type    TypeName
	Literal *LiteralParam
}

// IsServer tells whether the parameter carries the server's id.
func (p FinalParam) IsServer() bool { return p.Number == 0 && p.Literal == nil }

// Rewrite edits the text so that every reference to a scoped table is restricted to
// the server. It never prints a tree: what the caller wrote stays as it is, and only
// the places named in facts are touched. With inject, an INSERT that does not name the
// scope column gets it. The result is worth nothing until Verify has proved it.
func Rewrite(tr *Translation, f *Facts, c *Catalog, inject bool) (*Rewritten, *Fault) {
	r := &rewriter{tr: tr, facts: f, inject: inject, alias: freshName(tr.Text), stars: map[int]int{}}
	r.plan()
	r.hideEnds()
	for _, use := range f.Tables {
		r.reference(use)
	}
	stretches := r.stretches()
	for _, s := range stretches { // a guard stands inside the brackets of a filter
		r.close(s.end, ") END")
	}
	for _, fl := range f.filters {
		r.filter(fl)
	}
	for _, s := range stretches {
		r.open(s.start, r.guardText(s.guard))
	}
	r.barriers()
	r.hide()
	for _, ins := range f.Inserts {
		r.insert(ins)
	}
	r.values()
	r.spellStars()
	r.qualify(f.Functions, c.functions)
	r.qualify(f.Types, c.types)
	r.placeholders()
	if r.fault != nil {
		return nil, r.fault
	}
	text, pieces, fault := apply(tr.Text, r.edits)
	if fault != nil {
		return nil, fault
	}
	return &Rewritten{Text: text, Params: r.params, stars: r.stars, pieces: pieces}, nil
}

// Offset maps a byte offset of Text to one of the translated text; false where the
// byte was put there by the rewrite.
func (r *Rewritten) Offset(final int) (int, bool) {
	i, found := slices.BinarySearchFunc(r.pieces, final, func(p piece, at int) int { return p.final - at })
	if !found {
		i--
	}
	if i < 0 || final >= r.pieces[i].final+r.pieces[i].length {
		return 0, false
	}
	return r.pieces[i].source + final - r.pieces[i].final, true
}

// rewriter collects the edits of one text. The first fault stays.
type rewriter struct {
	tr        *Translation
	facts     *Facts
	inject    bool
	alias     string // what the names of the added joins start with
	aliases   int
	edits     []edit
	params    []FinalParam
	index     map[int32]int       // caller's placeholder → index in params
	scoped    map[int32]*Table    // placeholders of scope conditions
	condition map[int]*Table      // offset of a scope condition's placeholder → its table
	replaced  map[int]*ScopeValue // offset of a placeholder that is a scope value
	stars     map[int]int
	fault     *Fault
}

func (r *rewriter) fail(f *Fault) {
	if r.fault == nil {
		r.fault = f
	}
}

// freshName gives a prefix that no name in the text starts with.
func freshName(text string) string {
	name, lower := "_tg", strings.ToLower(text)
	for i := 1; strings.Contains(lower, name); i++ {
		name = fmt.Sprintf("_tg%d_", i)
	}
	return name
}

// plan decides which placeholders are the server's id, and numbers those that remain.
func (r *rewriter) plan() {
	r.scoped, r.condition, r.replaced = map[int32]*Table{}, map[int]*Table{}, map[int]*ScopeValue{}
	for _, l := range r.facts.Levels {
		for _, c := range l.Conditions {
			r.scoped[c.Number] = c.Table
			r.condition[c.Offset] = c.Table
		}
	}
	for _, v := range r.scopeValues() {
		if v.Kind == ScopeParam {
			r.replaced[v.Offset] = v
		}
	}
	var numbers []int32
	for _, p := range r.tr.Placeholders {
		if n := int32(p.Number); r.scoped[n] == nil && r.replaced[p.Start] == nil && !slices.Contains(numbers, n) { //nolint:gosec // at most 65,535
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	r.index = map[int32]int{}
	for i, n := range numbers {
		r.index[n] = i
		r.params = append(r.params, FinalParam{Number: n})
	}
}

func (r *rewriter) scopeValues() []*ScopeValue {
	var all []*ScopeValue
	for _, ins := range r.facts.Inserts {
		for i := range ins.Values {
			all = append(all, &ins.Values[i])
		}
	}
	for i := range r.facts.Assigned {
		all = append(all, &r.facts.Assigned[i])
	}
	return all
}

// server spells the parameter that carries the server's id, as the type of the table's
// scope column: one parameter can't serve a uuid and a bigint, nor an untyped place.
func (r *rewriter) server(t *Table) string {
	want := FinalParam{Type: t.ScopeType}
	i := slices.Index(r.params, want)
	if i < 0 {
		i = len(r.params)
		r.params = append(r.params, want)
	}
	return fmt.Sprintf("$%d::%s.%s", i+1, quote(t.ScopeType.Schema), quote(t.ScopeType.Name))
}

func (r *rewriter) restriction(use *TableUse) string {
	return use.column + " = " + r.server(use.Table)
}

// qualify gives a bare name outside pg_catalog the schema that the catalog says it means.
func (r *rewriter) qualify(uses []NameUse, schemas map[string]string) {
	for _, use := range uses {
		if schema := schemas[use.Name]; use.Schema == "" && schema != "" {
			r.open(use.Offset, quote(schema)+".")
		}
	}
}

// placeholders gives every placeholder of the text its final number.
func (r *rewriter) placeholders() {
	for _, p := range r.tr.Placeholders {
		n := int32(p.Number) //nolint:gosec // at most 65,535
		switch {
		case r.replaced[p.Start] != nil:
			r.replace(p.Start, p.End, r.server(r.replaced[p.Start].Table))
		case r.condition[p.Start] != nil:
			r.replace(p.Start, p.End, r.server(r.condition[p.Start]))
		case r.scoped[n] != nil: // OFFSET $1 ROWS takes a cast in brackets only
			r.replace(p.Start, p.End, "("+r.server(r.scoped[n])+")")
		default:
			r.replace(p.Start, p.End, fmt.Sprintf("$%d", r.index[n]+1))
		}
	}
}
