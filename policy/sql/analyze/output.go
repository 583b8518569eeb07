package analyze

import (
	"fmt"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
	"github.com/tenantgate/tenantgate/policy/sql/types"
)

// output is what a query gives: its columns, as far as they are known.
type output struct {
	cols  []column
	known bool
	// partial: a * in it stands for columns that are not known, so that a column's place is not known.
	partial bool
	mixed   bool // the arms of a set operation may differ in type, so that values are converted
	clash   bool // and in collation, so that the values have none
}

// unite takes in the other arm of a set operation.
func (o *output) unite(other output) {
	o.mixed = o.mixed || other.mixed || len(o.cols) != len(other.cols)
	o.cols = slices.Clone(o.cols)
	if o.partial || other.partial {
		o.blur(other.cols)
		return
	}
	for i := range o.cols {
		if i >= len(other.cols) {
			break
		}
		c, d := &o.cols[i], other.cols[i]
		switch {
		case !c.collated: // that of the type gives way
			c.collated, c.collation = d.collated, d.collation
		case d.collated && (c.collation != d.collation || c.collation == ""):
			o.clash = true
		}
		c.plain = c.plain && d.plain
		c.single, c.scalar = c.single || d.single, c.scalar && d.scalar
		c.scope, c.ours = c.scope || d.scope, c.ours && d.ours
		c.weight = max(c.weight, d.weight)
		switch {
		case c.typ == d.typ && (c.typ != tree.TypeName{}), d.untyped:
		case c.untyped:
			c.typ, c.untyped = d.typ, false
		default:
			c.typ, o.mixed = tree.TypeName{}, true
		}
	}
}

// blur leaves nothing of the columns but their names: each may be any of both arms', or one that is not known.
func (o *output) blur(others []column) {
	weight := 0
	for _, c := range slices.Concat(o.cols, others) {
		weight = max(weight, c.weight)
	}
	for i, c := range o.cols {
		o.cols[i] = column{name: c.name, guessed: c.guessed, collated: true, converted: true, single: true, scope: true, weight: weight}
	}
	o.mixed = true
}

// targets analyzes a select list or RETURNING list and gives the columns it makes.
func (a *analyzer) targets(l *level, items []item, list []*pg.Node) output {
	out := output{known: true}
	for _, n := range list {
		t := n.GetResTarget()
		if ref := tree.Star(t.GetVal()); ref != nil {
			if t.GetName() != "" {
				a.fail(refusal.Unsupported(int(ref.Location), "a * takes no alias"))
			}
			a.star(l, items, ref, &out)
			continue
		}
		before := a.weight()
		a.expr(l, t.GetVal())
		c := a.outputColumn(t.GetVal())
		c.name, c.weight = t.GetName(), a.atMost(a.weight()-before)
		if c.name == "" {
			c.guessed = true
			c.name = a.figureName(t.GetVal())
			out.known = out.known && c.name != ""
		}
		out.cols = append(out.cols, c)
	}
	return out
}

// outputColumn is what an entry of a select list makes, without its name.
func (a *analyzer) outputColumn(n *pg.Node) column {
	c := column{typ: a.types.OutputType(n), untyped: a.types.IsUntyped(n), plain: a.judge.IsPlain(n), single: a.isSingle(n), scalar: !a.mayBeRow(n), scope: a.judge.OfScope(n), ours: a.names[n.GetColumnRef()].Ours, collated: a.types.IsCollated(n)}
	if t, ok := types.PlainType(c.typ); ok && t != "text" && t != "bpchar" && t != "name" { // of a type that has none
		c.collated = false
	}
	if c.collated {
		c.collation = a.types.CollationOf(n)
	}
	return c
}

// isSingle tells whether an expression is made of a column that is a single value.
func (a *analyzer) isSingle(m proto.Message) bool {
	switch n := m.(type) {
	case *pg.ColumnRef:
		return a.names[n].Single
	case *pg.SubLink:
		return false
	}
	return tree.AnyChild(m, a.isSingle)
}

// star adds what * or r.* stands for. Where that covers a column that must not be
// read, the star is noted to be spelled out without it.
func (a *analyzer) star(l *level, items []item, ref *pg.ColumnRef, out *output) {
	a.resolveStar(l, items, ref)
	if len(ref.Fields) > 1 {
		names, ok := tree.Strings(ref.Fields[:len(ref.Fields)-1])
		if !ok || len(names) > 2 {
			a.fail(refusal.Unsupported(int(ref.Location), "a column name with this many parts is not supported"))
			return
		}
		r, _ := a.qualifier(l, names, int(ref.Location))
		if r == nil {
			return
		}
		spread := r.readable()
		items = []item{{cols: r.cols, known: r.known, partial: r.partial, hides: r.hides(), spread: spread, count: len(spread)}}
	}
	a.see(ref)
	s := facts.Star{Offset: int(ref.Location)}
	if s.Offset < 0 && len(a.facts.Tables) > 0 { // TABLE t has a * that is not in the text
		s.Offset = a.facts.Tables[len(a.facts.Tables)-1].Offset
	}
	var spelled []string
	hides := false
	for _, it := range items {
		a.spend(len(it.cols), s.Offset)
		if a.fault != nil {
			return
		}
		for _, c := range it.cols {
			if !c.noRead() {
				out.cols = append(out.cols, column{name: c.name, guessed: c.guessed, typ: c.typ, untyped: c.untyped, collated: c.collated, collation: c.collation, plain: c.plain, single: c.single, scalar: c.scalar, scope: c.scope, ours: c.ours, weight: c.weight + 1})
			}
		}
		out.known, out.partial = out.known && it.known, out.partial || it.partial
		hides = hides || it.hides
		spelled = append(spelled, it.spread...)
		s.Count += it.count
	}
	if !hides {
		return
	}
	for i, it := range items {
		if it.spread == nil || slices.ContainsFunc(slices.Concat(items[:i], items[i+1:]), it.ambiguous) || it.posing(l) {
			a.fail(&refusal.Refusal{Code: refusal.ColumnNotAllowed, Offset: s.Offset, Message: "* covers a column that must not be read and can't be spelled out here", Hint: "name the columns"})
			return
		}
	}
	s.Refs = strings.Join(spelled, ", ")
	a.facts.Stars = append(a.facts.Stars, s)
}

// ambiguous tells whether an unqualified column has a namesake in another item.
func (it item) ambiguous(other item) bool {
	for _, c := range it.cols {
		if c.unqualified() && slices.ContainsFunc(other.cols, func(o column) bool { return o.name == c.name }) {
			return true
		}
	}
	return false
}

// posing tells whether an unqualified column has the name of a relation in sight: the final text does not show which of them it means.
func (it item) posing(l *level) bool {
	for ; l != nil; l = l.outer {
		poses := func(c column) bool {
			return c.unqualified() && slices.ContainsFunc(l.rels, func(r *relation) bool { return r.name == c.name })
		}
		if slices.ContainsFunc(it.cols, poses) {
			return true
		}
	}
	return false
}

// unqualified tells a column that FULL JOIN … USING made: no relation's name qualifies it.
func (c column) unqualified() bool { return c.ref == lex.Quote(c.name) }

// resolveStar notes that * and r.* mean relations of this level, or for r.* of one around.
func (a *analyzer) resolveStar(l *level, items []item, ref *pg.ColumnRef) {
	if len(ref.Fields) == 1 {
		for _, r := range l.rels {
			a.resolveRow(ref, r, false)
		}
		for _, it := range items {
			a.convert(ref, it.cols)
		}
		return
	}
	names, _ := tree.Strings(ref.Fields[:len(ref.Fields)-1])
	if r, of := a.qualifier(l, names, int(ref.Location)); r != nil {
		a.resolveRow(ref, r, of != l)
	}
}

// convert notes whether a row or star covers a column that is computed where it is read, or
// one with a collation of its own.
func (a *analyzer) convert(ref *pg.ColumnRef, cols []column) {
	n := a.names[ref]
	n.Converted = n.Converted || slices.ContainsFunc(cols, func(c column) bool { return c.converted })
	n.Collated = n.Collated || slices.ContainsFunc(cols, func(c column) bool { return c.collated })
	a.names[ref] = n
}

// valuesOutput gives the columns of VALUES. A literal has become text where no other row
// has more.
func (a *analyzer) valuesOutput(rows []*pg.Node) output {
	var out output
	for i, row := range rows {
		next := output{known: true}
		for k, n := range row.GetList().GetItems() {
			if tree.ExpandsToColumns(n) {
				a.fail(refusal.Unsupported(tree.Offset(n), "a * in VALUES is not supported"))
			}
			c := a.outputColumn(n)
			c.name, c.plain = fmt.Sprintf("column%d", k+1), false
			next.cols = append(next.cols, c)
		}
		if i == 0 {
			out = next
		} else {
			out.unite(next)
		}
	}
	for i := range out.cols {
		if c := &out.cols[i]; c.untyped {
			c.typ, c.untyped = tree.TypeName{Schema: "pg_catalog", Name: "text"}, false
		}
	}
	return out
}
