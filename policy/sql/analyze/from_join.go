package analyze

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/fence"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
	"github.com/tenantgate/tenantgate/policy/sql/types"
)

// join analyzes both sides, then the condition, which sees these two, not what stands
// beside the join: a name that neither has is looked up in the query around.
func (a *analyzer) join(l *level, j *pg.JoinExpr) item {
	first := len(l.rels)
	left := a.fromItem(l, j.Larg)
	second := len(l.rels)
	right := a.fromItem(l, j.Rarg)
	on := &level{outer: l.outer, ctes: l.ctes, rels: l.rels[first:], facts: l.facts, start: l.start}
	a.expr(on, j.Quals)
	a.protectOn(on, j, l.rels[first:second], l.rels[second:])
	if a.fault == nil {
		a.fault = a.judge.Anchored(on.judged(), j.Quals)
	}
	outerJoin(j.Jointype, l.rels[first:second], l.rels[second:])
	if j.Jointype == pg.JoinType_JOIN_INNER {
		a.conditions(on, j.Quals)
	}
	it, merged := a.merge(j, left, right)
	if slices.ContainsFunc(merged, func(c column) bool { return !c.plain }) {
		for _, r := range l.rels[first:] {
			a.judge.Merged(&r.Relation)
		}
	}
	if j.JoinUsingAlias != nil {
		ours := fence.Relation{Parts: judged(l.rels[first:])}
		a.add(l, &relation{name: j.JoinUsingAlias.Aliasname, cols: merged, known: true, Relation: ours}, tree.Offset(j.Rarg))
	}
	if j.Alias == nil {
		return it
	}
	if len(j.Alias.Colnames) > 0 && !it.known {
		a.fail(refusal.Unsupported(tree.Offset(j.Larg), "the columns of this join are not known, so they can't be renamed"))
	}
	ours := fence.Relation{Parts: judged(l.rels[first:]), Masked: true}
	l.rels = l.rels[:first]
	r := aliased(&relation{cols: it.cols, known: it.known, partial: it.partial, Relation: ours}, j.Alias)
	r.joined = len(j.Alias.Colnames) > 0
	return a.add(l, r, tree.Offset(j.Larg))
}

// protectOn is protect of the condition of a join.
func (a *analyzer) protectOn(on *level, j *pg.JoinExpr, left, right []*relation) {
	if a.fault != nil || j.Quals == nil {
		return
	}
	seen, where := on.judged(), fence.InWhere
	switch j.Jointype {
	case pg.JoinType_JOIN_FULL:
		where = fence.InFull
	case pg.JoinType_JOIN_LEFT:
		where, seen.Padded = fence.InOuter, judged(right)
	case pg.JoinType_JOIN_RIGHT:
		where, seen.Padded = fence.InOuter, judged(left)
	}
	a.fault = a.judge.Protect(seen, j.Quals, where)
}

// merge gives the columns of a join: for USING and NATURAL the shared ones once, first.
func (a *analyzer) merge(j *pg.JoinExpr, left, right item) (item, []column) {
	a.spend(len(left.cols)+len(right.cols), tree.Offset(j.Rarg))
	if a.fault != nil {
		return item{}, nil
	}
	names, _ := tree.Strings(j.UsingClause)
	if j.IsNatural {
		names = shared(left.cols, right.cols)
	}
	if len(names) == 0 && !j.IsNatural {
		return item{
			cols: append(append([]column(nil), left.cols...), right.cols...), known: left.known && right.known, partial: left.partial || right.partial,
			hides: left.hides || right.hides, spread: concat(left.spread, right.spread), count: left.count + right.count,
		}, nil
	}
	it := item{known: left.known && right.known, partial: left.partial || right.partial, hides: left.hides || right.hides}
	if !it.known && (it.hides || j.IsNatural) {
		a.fail(unknownColumns(tree.Offset(j.Larg)))
	}
	var merged []column
	at := tree.Offset(j.Rarg)
	for _, name := range names {
		if left.lacks(name) || right.lacks(name) {
			a.noColumn(`"`+name+`"`, name, inBoth(left, right), at)
		}
		if !left.has(name) || !right.has(name) {
			a.fail(unknownColumns(at))
		}
		merged = append(merged, a.mergedColumn(j, name, left.cols, right.cols, at))
	}
	if slices.ContainsFunc(merged, func(c column) bool { return c.converted }) {
		a.judge.Mixes(j)
	}
	it.cols = append(append(append([]column(nil), merged...), without(left.cols, names)...), without(right.cols, names)...)
	if it.known {
		it.spread = refs(it.cols)
		it.count = len(it.spread)
	}
	return it, merged
}

func unknownColumns(at int) *refusal.Refusal {
	f := refusal.Unsupported(at, "the columns of this join are not known")
	f.Hint = "name the columns of functions in FROM, f(…) AS f(a, b), or compare columns in ON"
	return f
}

// mergedColumn is what USING (name) makes of the two sides' columns; comparing them reads both.
func (a *analyzer) mergedColumn(j *pg.JoinExpr, name string, left, right []column, at int) column {
	lc, rc := pick(left, name), pick(right, name)
	if (lc.collated || rc.collated) && (lc.collation != rc.collation || lc.collation == "") {
		f := refusal.Unsupported(at, "the columns "+name+" of this join differ in collation, or may do so")
		f.Hint = "compare them in ON, with the COLLATE that is meant"
		a.fail(f)
	}
	switch {
	case lc.single || rc.single: // the planner would look that value up in the statistics of the other column
		f := refusal.Unsupported(at, "the column "+name+" of this join is of a function that may give one value")
		f.Hint = "compare them in ON or WHERE"
		a.fail(f)
	case (lc.scope || rc.scope) && !(lc.ours && rc.ours):
		f := refusal.Unsupported(at, "the column "+name+" of this join is not an unchanged scope column on both sides")
		f.Hint = "compare them in ON or WHERE"
		a.fail(f)
	case lc.sealed && rc.sealed:
	case lc.converted || rc.converted:
		f := refusal.Unsupported(at, "the columns "+name+" of this join are computed where they are compared, which is not known never to fail")
		f.Hint = "compare them in ON"
		a.fail(f)
	case a.types.MergeFails(lc.typ, rc.typ):
		f := refusal.Unsupported(at, "the columns "+name+" of this join are of types whose comparison is not known never to fail")
		f.Hint = "compare them in ON, or cast one to the other's type where it is selected"
		a.fail(f)
	}
	lc.typ = types.MergedType(lc.typ, rc.typ)
	lc.converted = lc.typ == tree.TypeName{} || lc.converted || rc.converted
	lc.sealed = lc.sealed && rc.sealed
	rc.typ, rc.converted, rc.sealed = lc.typ, lc.converted, lc.sealed
	lc.plain, rc.plain = lc.plain && rc.plain && !lc.converted, lc.plain && rc.plain && !lc.converted
	lc.collated = lc.collated || rc.collated
	rc.collated = lc.collated
	a.read(lc, at)
	a.read(rc, at)
	switch j.Jointype {
	case pg.JoinType_JOIN_RIGHT:
		rc.name = name
		return rc
	case pg.JoinType_JOIN_FULL:
		return column{scalar: lc.scalar && rc.scalar, scope: lc.scope, ours: lc.ours && rc.ours, weight: lc.weight + rc.weight + 2, name: name, ref: lex.Quote(name), typ: lc.typ, converted: lc.converted, collated: lc.collated, collation: lc.collation} // neither side's
	}
	lc.name = name
	return lc
}

// lacks tells whether there is certainly no column of a name.
func (it item) lacks(name string) bool { return it.known && !it.has(name) }

// has tells whether there is certainly a column of a name.
func (it item) has(name string) bool {
	return slices.ContainsFunc(it.cols, func(c column) bool { return c.name == name })
}

// pick gives the first column of a name.
func pick(cols []column, name string) column {
	for _, c := range cols {
		if c.name == name {
			return c
		}
	}
	return column{name: name}
}

// shared gives the names that both sides of a NATURAL join have, in the left one's order.
func shared(left, right []column) []string {
	var names []string
	has := map[string]bool{}
	for _, c := range right {
		has[c.name] = true
	}
	for _, c := range left {
		if has[c.name] {
			names = append(names, c.name)
		}
	}
	return names
}

func without(cols []column, names []string) []column {
	return slices.DeleteFunc(slices.Clone(cols), func(c column) bool { return slices.Contains(names, c.name) })
}

// refs spells the columns that may be read, each by its own relation; nil where one can't
// be spelled, or two would be spelled alike.
func refs(cols []column) []string {
	out := []string{}
	seen := map[string]bool{}
	for _, c := range cols {
		if c.ref == "" || seen[c.ref] {
			return nil
		}
		seen[c.ref] = true
		if !c.noRead() {
			out = append(out, c.ref)
		}
	}
	return out
}

func concat(a, b []string) []string {
	if a == nil || b == nil {
		return nil
	}
	return append(append([]string(nil), a...), b...)
}
