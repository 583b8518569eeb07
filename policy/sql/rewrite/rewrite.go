package rewrite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// Rewrite edits the text so that every reference to a scoped table is restricted to
// the server. It never prints a tree: what the caller wrote stays as it is, and only
// the places named in facts are touched. With inject, an INSERT that does not name the
// scope column gets it. The result is worth nothing until Verify has proved it.
func Rewrite(tr *lex.Translation, f *facts.Facts, c *tree.Catalog, inject bool) (*facts.Rewritten, *refusal.Refusal) {
	r := &rewriter{tr: tr, facts: f, inject: inject, alias: freshName(tr.Text), stars: map[int]int{}}
	r.plan()
	r.hideEnds()
	r.name()
	for _, use := range f.Tables {
		r.reference(use)
	}
	guarded := r.guardedParts()
	for _, p := range guarded { // a guard stands inside the brackets of a filter
		r.close(p.in.End, ") END")
	}
	for _, fl := range f.Filters {
		r.filter(fl)
	}
	for _, p := range guarded {
		r.open(p.in.Start, r.guardText(p.guard))
	}
	r.barriers()
	r.hide()
	for _, ins := range f.Inserts {
		r.insert(ins)
	}
	r.values()
	r.spellStars()
	r.qualify(f.Functions, c.Functions)
	r.qualify(f.Types, c.Types)
	r.placeholders()
	if r.fault != nil {
		return nil, r.fault
	}
	text, pieces, fault := apply(tr.Text, r.edits)
	if fault != nil {
		return nil, fault
	}
	return &facts.Rewritten{Text: text, Params: r.params, Stars: r.stars, Pieces: pieces}, nil
}

// rewriter collects the edits of one text. The first fault stays.
type rewriter struct {
	tr        *lex.Translation
	facts     *facts.Facts
	inject    bool
	alias     string                  // what the names of the added joins start with
	places    map[*facts.TableUse]int // the place of a scoped table among those of its query level, from 1
	edits     []edit
	params    []facts.FinalParam
	index     map[int32]int             // caller's placeholder → index in params
	scoped    map[int32]*tree.Table     // placeholders of scope conditions
	condition map[int]*tree.Table       // offset of a scope condition's placeholder → its table
	replaced  map[int]*facts.ScopeValue // offset of a placeholder that is a scope value
	stars     map[int]int
	fault     *refusal.Refusal
}

func (r *rewriter) fail(f *refusal.Refusal) {
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
	r.scoped, r.condition, r.replaced = map[int32]*tree.Table{}, map[int]*tree.Table{}, map[int]*facts.ScopeValue{}
	r.places = map[*facts.TableUse]int{}
	for _, l := range r.facts.Levels {
		place := 0
		for _, use := range l.Scoped {
			if !use.Target {
				place++
				r.places[use] = place
			}
		}
		for _, c := range l.Conditions {
			r.scoped[c.Number] = c.Table
			r.condition[c.Offset] = c.Table
		}
	}
	for _, v := range r.scopeValues() {
		if v.Kind == facts.ScopeParam {
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
		r.params = append(r.params, facts.FinalParam{Number: n})
	}
}

func (r *rewriter) scopeValues() []*facts.ScopeValue {
	var all []*facts.ScopeValue
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
func (r *rewriter) server(t *tree.Table) string {
	want := facts.FinalParam{Type: t.ScopeType}
	i := slices.Index(r.params, want)
	if i < 0 {
		i = len(r.params)
		r.params = append(r.params, want)
	}
	return fmt.Sprintf("$%d::%s.%s", i+1, lex.Quote(t.ScopeType.Schema), lex.Quote(t.ScopeType.Name))
}

func (r *rewriter) restriction(use *facts.TableUse) string {
	return use.Column + " = " + r.server(use.Table)
}

// qualify gives a bare name outside pg_catalog the schema that the catalog says it means.
func (r *rewriter) qualify(uses []tree.NameUse, schemas map[string]string) {
	for _, use := range uses {
		if schema := schemas[use.Name]; use.Schema == "" && schema != "" {
			r.open(use.Offset, lex.Quote(schema)+".")
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
