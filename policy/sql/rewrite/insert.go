package rewrite

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// insert spells the columns of an INSERT that names none, so that a table altered
// meanwhile can't shift them, and adds the scope column to one that does not name it, and
// to its conflict target. Where the column is named its value is replaced elsewhere (values).
func (r *rewriter) insert(ins *facts.Insert) {
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
	t.SkipName()
	if ins.Stmt.Relation.Alias != nil {
		t.Pos += 2 // AS alias: here AS is not optional
	}
	scope := lex.Quote(ins.Table.Scope)
	source := ins.Stmt.SelectStmt.GetSelectStmt()
	switch {
	case source == nil:
		r.replace(t.Start(), t.Start()+r.defaultValues(t), "("+scope+") VALUES ("+r.server(ins.Table)+")")
		return
	case ins.Listed:
		r.close(t.End(), " ("+strings.Join(lex.QuoteAll(ins.Cols), ", ")+")")
		return
	case ins.Named:
		r.open(int(ins.Stmt.Cols[0].GetResTarget().Location), scope+", ")
		t.SkipGroup()
	default:
		r.close(t.End(), " ("+scope+", "+strings.Join(lex.QuoteAll(ins.Cols), ", ")+")")
	}
	r.source(t, ins.Table, source)
}

// defaultValues gives the length of DEFAULT VALUES at the cursor.
func (r *rewriter) defaultValues(t lex.Cursor) int {
	start := t.Start()
	t.Pos += 2
	if t.Pos > len(t.Source.Tokens) {
		r.fail(refusal.Unplaced())
		return 0
	}
	return t.End() - start
}

// source puts the server's id first in every row of VALUES and every select list of the
// query at the cursor.
func (r *rewriter) source(t lex.Cursor, table *tree.Table, s *pg.SelectStmt) {
	if t.Is("overriding") {
		t.Pos += 3 // SYSTEM VALUE, or USER VALUE
	}
	if s.WithClause != nil {
		t.Seek("select", "values")
	}
	arms, ok := arms(nil, s)
	starts := t.Arms(len(arms))
	// VALUES names its columns by their position, so ORDER BY would mean another one.
	shifts := some(s, byPosition) || some(s, func(s *pg.SelectStmt) bool { return tree.SortsByType(s, table) }) ||
		some(s, func(s *pg.SelectStmt) bool { return len(s.ValuesLists) > 0 }) && some(s, func(s *pg.SelectStmt) bool { return len(s.SortClause) > 0 })
	if !ok || shifts || len(starts) != len(arms) {
		r.fail(r.unscoped(table))
		return
	}
	for i, arm := range arms {
		at := starts[i]
		at.Pos++
		if len(arm.ValuesLists) > 0 {
			r.rows(at, table, arm)
			continue
		}
		if len(arm.TargetList) == 0 || int(arm.TargetList[0].GetResTarget().Location) < at.Start() {
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

// rows goes through the (…), (…) at the cursor.
func (r *rewriter) rows(t lex.Cursor, table *tree.Table, s *pg.SelectStmt) {
	for range s.ValuesLists {
		if !t.Is("(") {
			r.fail(r.unscoped(table))
			return
		}
		r.open(t.Start()+1, r.server(table)+", ")
		t.SkipGroup()
		t.Pos++ // the comma
	}
}

// unscoped is the refusal where the scope column can't be added to the source.
func (r *rewriter) unscoped(t *tree.Table) *refusal.Refusal {
	f := refusal.Unsupported(-1, "the column "+t.Scope+" can't be added to this INSERT")
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
	return slices.ContainsFunc(s.GroupClause, ordinal) || slices.ContainsFunc(s.DistinctClause, ordinal) || tree.GroupsBySets(s) ||
		slices.ContainsFunc(s.SortClause, func(n *pg.Node) bool { return ordinal(n.GetSortBy().GetNode()) })
}

// conflictTarget adds the scope column to ON CONFLICT (…) where only that makes it a
// unique key of the table.
func (r *rewriter) conflictTarget(ins *facts.Insert) {
	c := ins.Stmt.OnConflictClause
	if !needsScope(ins.Table, c) {
		return
	}
	t, ok := r.at(int(c.Location))
	if !ok {
		return
	}
	t.Pos += 2 // ON CONFLICT
	if !t.Is("(") {
		r.fail(refusal.Unplaced())
		return
	}
	r.open(t.Start()+1, lex.Quote(ins.Table.Scope)+", ")
}

// needsScope tells whether a conflict target names no unique key of the table but does
// so with the scope column.
func needsScope(t *tree.Table, c *pg.OnConflictClause) bool {
	if t.Scope == "" || len(c.GetInfer().GetIndexElems()) == 0 {
		return false
	}
	var names []string
	for _, e := range c.Infer.IndexElems {
		names = append(names, e.GetIndexElem().GetName())
	}
	return !t.HasKey(names) && t.HasKey(append(names, t.Scope))
}
