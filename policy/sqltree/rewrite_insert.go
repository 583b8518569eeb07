package sqltree

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// insert adds the scope column to an INSERT that does not name it, and to its conflict
// target. Where the column is named its value is replaced elsewhere (values).
func (r *rewriter) insert(ins *Insert) {
	if !r.inject {
		return
	}
	r.conflictTarget(ins)
	if ins.Listed {
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

// source puts the server's id first in every row of VALUES or every select list.
func (r *rewriter) source(t tokens, table *Table, s *pg.SelectStmt) {
	if s.Op == pg.SetOperation_SETOP_NONE && len(s.ValuesLists) > 0 && s.WithClause == nil {
		r.rows(t, table, s)
		return
	}
	if byPosition(s) || s.WithClause != nil {
		r.fail(r.unscoped(table))
		return
	}
	if s.Op != pg.SetOperation_SETOP_NONE {
		r.source(t, table, s.Larg)
		r.source(t, table, s.Rarg)
		return
	}
	at := -1
	if len(s.TargetList) > 0 {
		at = int(s.TargetList[0].GetResTarget().Location)
	}
	if at < 0 || starRef(s.TargetList[0].GetResTarget().Val) != nil && s.TargetList[0].GetResTarget().Val.GetColumnRef().Location < 0 {
		r.fail(r.unscoped(table))
		return
	}
	r.open(at, r.server(table)+", ")
}

// rows goes through VALUES (…), (…) from a cursor that stands before it.
func (r *rewriter) rows(t tokens, table *Table, s *pg.SelectStmt) {
	first := nodeOffset(s.ValuesLists[0])
	for !t.is("values") {
		if t.done() || t.start() >= first && first >= 0 {
			r.fail(r.unscoped(table))
			return
		}
		t.i++
	}
	t.i++
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

// byPosition tells whether a query refers to its columns by number, which an added
// first column would shift.
func byPosition(s *pg.SelectStmt) bool {
	ordinal := func(n *pg.Node) bool { return n.GetAConst().GetIval() != nil }
	return slices.ContainsFunc(s.GroupClause, ordinal) || slices.ContainsFunc(s.DistinctClause, ordinal) ||
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
