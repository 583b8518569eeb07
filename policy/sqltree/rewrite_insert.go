package sqltree

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// insert spells the columns of an INSERT that names none, so that a table altered
// meanwhile can't shift them, and adds the scope column to one that does not name it, and
// to its conflict target. Where the column is named its value is replaced elsewhere (values).
func (r *rewriter) insert(ins *Insert) {
	if !r.inject {
		return // the column list and the scope column in it are a rule then
	}
	r.conflictTarget(ins)
	if ins.Listed && ins.Named {
		return
	}
	t, ok := r.at(ins.Offset)
	if !ok {
		return
	}
	t.name()
	if ins.stmt.Relation.Alias != nil {
		t.i += 2 // AS alias: here AS is not optional
	}
	scope := quote(ins.Table.Scope)
	source := ins.stmt.SelectStmt.GetSelectStmt()
	switch {
	case source == nil:
		r.replace(t.start(), t.start()+r.defaultValues(t), "("+scope+") VALUES ("+r.server(ins.Table)+")")
		return
	case ins.Listed:
		r.close(t.end(), " ("+strings.Join(quoteAll(ins.cols), ", ")+")")
		return
	case ins.Named:
		r.open(int(ins.stmt.Cols[0].GetResTarget().Location), scope+", ")
		t.group()
	default:
		r.close(t.end(), " ("+scope+", "+strings.Join(quoteAll(ins.cols), ", ")+")")
	}
	r.source(t, ins.Table, source)
}

// defaultValues gives the length of DEFAULT VALUES at the cursor.
func (r *rewriter) defaultValues(t tokens) int {
	start := t.start()
	t.i += 2
	if t.i > len(t.tr.Tokens) {
		r.fail(unplaced())
		return 0
	}
	return t.end() - start
}

func quoteAll(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = quote(n)
	}
	return out
}

// source puts the server's id first in every row of VALUES and every select list of the
// query at the cursor.
func (r *rewriter) source(t tokens, table *Table, s *pg.SelectStmt) {
	if t.is("overriding") {
		t.i += 3 // SYSTEM VALUE, or USER VALUE
	}
	if s.WithClause != nil {
		t.seek("select", "values")
	}
	arms, ok := arms(nil, s)
	starts := t.arms(len(arms))
	// VALUES names its columns by their position, so ORDER BY would mean another one.
	shifts := some(s, byPosition) || some(s, func(s *pg.SelectStmt) bool { return sortsByType(s, table) }) ||
		some(s, func(s *pg.SelectStmt) bool { return len(s.ValuesLists) > 0 }) && some(s, func(s *pg.SelectStmt) bool { return len(s.SortClause) > 0 })
	if !ok || shifts || len(starts) != len(arms) {
		r.fail(r.unscoped(table))
		return
	}
	for i, arm := range arms {
		at := starts[i]
		at.i++
		if len(arm.ValuesLists) > 0 {
			r.rows(at, table, arm)
			continue
		}
		if len(arm.TargetList) == 0 || int(arm.TargetList[0].GetResTarget().Location) < at.start() {
			r.fail(r.unscoped(table)) // TABLE t has a * that is not in the text
			return
		}
		r.open(int(arm.TargetList[0].GetResTarget().Location), r.server(table)+", ")
	}
}

// arms gives the queries that a query is the set operation of, in the order of the text;
// false where one of them has a WITH of its own, whose queries stand in between.
func arms(list []*pg.SelectStmt, s *pg.SelectStmt) ([]*pg.SelectStmt, bool) {
	if s.Op == pg.SetOperation_SETOP_NONE {
		return append(list, s), true
	}
	list, left := arms(list, s.Larg)
	list, right := arms(list, s.Rarg)
	return list, left && right && s.Larg.WithClause == nil && s.Rarg.WithClause == nil
}

// arms finds the words with which the arms of the query at the cursor begin, SELECT,
// VALUES or TABLE; at most one more than expected.
func (t tokens) arms(expected int) (starts []tokens) {
	for depth := 0; !t.done() && len(starts) <= expected; t.i++ {
		for t.is("(") {
			depth++
			t.i++
		}
		if !t.is("select") && !t.is("values") && !t.is("table") {
			return starts
		}
		starts = append(starts, t)
		t.i++
		t.seek("union", "intersect", "except")
		for depth > 0 && t.is(")") {
			depth--
			t.i++
			t.seek("union", "intersect", "except")
		}
		if !t.is("union") && !t.is("intersect") && !t.is("except") {
			return starts
		}
		if after := (tokens{t.tr, t.i + 1}); after.is("all") || after.is("distinct") {
			t.i++
		}
	}
	return starts
}

// rows goes through the (…), (…) at the cursor.
func (r *rewriter) rows(t tokens, table *Table, s *pg.SelectStmt) {
	for range s.ValuesLists {
		if !t.is("(") {
			r.fail(r.unscoped(table))
			return
		}
		r.open(t.start()+1, r.server(table)+", ")
		t.group()
		t.i++ // the comma
	}
}

// unscoped is the refusal where the scope column can't be added to the source.
func (r *rewriter) unscoped(t *Table) *Fault {
	f := construct(-1, "the column "+t.Scope+" can't be added to this INSERT")
	f.Hint = "name the columns, and use VALUES or a plain SELECT without ordinals in ORDER BY and GROUP BY"
	return f
}

// some tells whether a query, or one that it is the set operation of, passes a test.
func some(s *pg.SelectStmt, test func(*pg.SelectStmt) bool) bool {
	return s != nil && (test(s) || some(s.Larg, test) || some(s.Rarg, test))
}

// byPosition tells whether a query refers to its columns by number, which an added first
// column would shift; or groups by sets, which would make NULL of it.
func byPosition(s *pg.SelectStmt) bool {
	ordinal := func(n *pg.Node) bool { return n.GetAConst().GetIval() != nil }
	return slices.ContainsFunc(s.GroupClause, ordinal) || slices.ContainsFunc(s.DistinctClause, ordinal) || groupsBySets(s) ||
		slices.ContainsFunc(s.SortClause, func(n *pg.Node) bool { return ordinal(n.GetSortBy().GetNode()) })
}

// conflictTarget adds the scope column to ON CONFLICT (…) where only that makes it a
// unique key of the table.
func (r *rewriter) conflictTarget(ins *Insert) {
	c := ins.stmt.OnConflictClause
	if !needsScope(ins.Table, c) {
		return
	}
	t, ok := r.at(int(c.Location))
	if !ok {
		return
	}
	t.i += 2 // ON CONFLICT
	if !t.is("(") {
		r.fail(unplaced())
		return
	}
	r.open(t.start()+1, quote(ins.Table.Scope)+", ")
}

// needsScope tells whether a conflict target names no unique key of the table but does
// so with the scope column.
func needsScope(t *Table, c *pg.OnConflictClause) bool {
	if t.Scope == "" || len(c.GetInfer().GetIndexElems()) == 0 {
		return false
	}
	var names []string
	for _, e := range c.Infer.IndexElems {
		names = append(names, e.GetIndexElem().GetName())
	}
	return !t.hasKey(names) && t.hasKey(append(names, t.Scope))
}

// hasKey tells whether some unique index has just these columns, in any order.
func (t *Table) hasKey(names []string) bool {
	want := slices.Sorted(slices.Values(names))
	return slices.ContainsFunc(t.Keys, func(key []string) bool {
		return slices.Equal(slices.Sorted(slices.Values(key)), want)
	})
}
