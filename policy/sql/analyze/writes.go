package analyze

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/fence"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// updateStmt analyzes an UPDATE: its target and FROM are one level.
func (a *analyzer) updateStmt(s *pg.UpdateStmt, outer *level, ctes *cte) output {
	l, use, items := a.target(s.Relation, facts.AccessUpdate, s.WithClause, outer, ctes)
	items = append(items, a.from(l, s.FromClause)...)
	reads := len(a.facts.Reads)
	a.assignments(l, use.Table, s.TargetList)
	if len(a.facts.Reads) > reads {
		use.Access |= facts.AccessSelect
	}
	return a.finish(l, use, items, s.WhereClause, s.ReturningList)
}

// deleteStmt analyzes a DELETE: its target and USING are one level.
func (a *analyzer) deleteStmt(s *pg.DeleteStmt, outer *level, ctes *cte) output {
	l, use, items := a.target(s.Relation, facts.AccessDelete, s.WithClause, outer, ctes)
	items = append(items, a.from(l, s.UsingClause)...)
	return a.finish(l, use, items, s.WhereClause, s.ReturningList)
}

// target opens the level of a write. Its target is always a table: a WITH name never hides it.
func (a *analyzer) target(v *pg.RangeVar, access facts.Access, w *pg.WithClause, outer *level, ctes *cte) (*level, *facts.TableUse, []item) {
	visible := a.with(w, outer, ctes)
	l := &level{outer: outer, ctes: visible, facts: &facts.Level{}, start: a.judge.Start()}
	a.relate()
	use := a.tableUse(v, access, true)
	r := aliased(tableRelation(use), v.Alias)
	use.Column = scopeRef(use.Table, r)
	a.judge.Seen(&r.Relation)
	items := []item{a.add(l, r, use.Offset)}
	if use.Table != nil && use.Table.Scope != "" && access != facts.AccessInsert {
		l.facts.Scoped = append(l.facts.Scoped, use)
	}
	return l, use, items
}

// finish analyzes what an UPDATE and a DELETE end with.
func (a *analyzer) finish(l *level, use *facts.TableUse, items []item, where *pg.Node, returning []*pg.Node) output {
	a.where(l, where)
	if where != nil || len(returning) > 0 {
		use.Access |= facts.AccessSelect
	}
	a.facts.Filters = append(a.facts.Filters, &facts.Filter{Use: use, Where: where, From: use.Offset})
	a.close(l)
	return a.targets(l, items, returning)
}

// assignments analyzes a SET list and notes what it gives to the scope column.
func (a *analyzer) assignments(l *level, t *tree.Table, list []*pg.Node) {
	for i, n := range list {
		set := n.GetResTarget()
		a.write(t, set.Name, facts.AccessUpdate, int(set.Location))
		a.exprs(l, set.Indirection)
		ref := set.Val.GetMultiAssignRef()
		if ref == nil {
			a.expr(l, set.Val)
		} else if ref.Colno == 1 {
			a.expr(l, ref.Source) // one source for a whole row of columns
		}
		if t == nil || t.Scope == "" || set.Name != t.Scope {
			continue
		}
		if len(set.Indirection) > 0 {
			a.fail(refusal.Unsupported(int(set.Location), "the scope column can be set as a whole only"))
		}
		if slices.ContainsFunc(list[:i], func(n *pg.Node) bool { return n.GetResTarget().Name == t.Scope }) {
			a.fail(&refusal.Refusal{Code: refusal.QueryFailed, SQLState: "42601", Offset: int(set.Location), Message: "multiple assignments to same column " + t.Scope})
		}
		a.assignScope(t, list[i].GetResTarget())
	}
}

func (a *analyzer) assignScope(t *tree.Table, set *pg.ResTarget) {
	ref := set.Val.GetMultiAssignRef()
	switch {
	case ref == nil:
		a.facts.Assigned = append(a.facts.Assigned, scopeValue(t, set.Val, int(set.Location)))
	case ref.Source.GetRowExpr() != nil && int(ref.Colno) <= len(ref.Source.GetRowExpr().Args) && !slices.ContainsFunc(ref.Source.GetRowExpr().Args, tree.ExpandsToColumns):
		a.facts.Assigned = append(a.facts.Assigned, scopeValue(t, ref.Source.GetRowExpr().Args[ref.Colno-1], int(set.Location)))
	case ref.Source.GetSubLink() != nil:
		s := ref.Source.GetSubLink().Subselect.GetSelectStmt()
		if !t.Columns[t.Index(t.Scope)].NotNull && !a.alwaysOneRow(s) { // no row would make it NULL, and the row nobody's
			a.facts.Assigned = append(a.facts.Assigned, facts.ScopeValue{Table: t, Offset: int(set.Location)})
			return
		}
		a.facts.Assigned = append(a.facts.Assigned, a.sourceValues(t, s, int(ref.Colno)-1, int(set.Location))...)
	default:
		a.facts.Assigned = append(a.facts.Assigned, facts.ScopeValue{Table: t, Offset: int(set.Location)})
	}
}

// insertStmt analyzes an INSERT. The inserting itself reads nothing; its source and its
// ON CONFLICT are analyzed apart, as Postgres scopes them.
func (a *analyzer) insertStmt(s *pg.InsertStmt, outer *level, ctes *cte) output {
	l, use, items := a.target(s.Relation, facts.AccessInsert, s.WithClause, outer, ctes)
	if len(s.ReturningList) > 0 {
		use.Access |= facts.AccessSelect
	}
	a.insertColumns(s, use) // before the source, as Postgres looks at them
	if src := s.SelectStmt.GetSelectStmt(); src != nil {
		if len(src.ValuesLists) == 0 {
			a.facts.Kinds |= facts.AccessSelect
		}
		a.selectStmt(src, nil, l.ctes, nil)
	}
	a.onConflict(l, s.OnConflictClause, use)
	return a.targets(l, items, s.ReturningList)
}

// insertColumns notes the written columns and what stands at the scope column.
func (a *analyzer) insertColumns(s *pg.InsertStmt, use *facts.TableUse) {
	t := use.Table
	if t == nil {
		return
	}
	ins := &facts.Insert{Table: t, Named: len(s.Cols) > 0, Offset: use.Offset, Stmt: s}
	for _, n := range s.Cols {
		c := n.GetResTarget()
		ins.Cols = append(ins.Cols, c.Name)
		if len(c.Indirection) > 0 {
			a.fail(refusal.Unsupported(int(c.Location), "an INSERT gives a column as a whole, not a part of it"))
		}
	}
	if !ins.Named && s.SelectStmt != nil {
		ins.Cols, use.ByPosition = impliedColumns(t, s.SelectStmt.GetSelectStmt()), true
	}
	for i, name := range ins.Cols {
		at := use.Offset
		if ins.Named {
			at = int(s.Cols[i].GetResTarget().Location)
		}
		a.write(t, name, facts.AccessInsert, at)
	}
	if t.Scope == "" {
		return
	}
	if t.Renumbers(s) {
		f := refusal.Unsupported(use.Offset, "OVERRIDING USER VALUE would give "+t.Scope+" a number of its sequence")
		f.Hint = "leave out the columns that are to have a number of their sequence"
		a.fail(f)
	}
	for i, name := range ins.Cols {
		if name == t.Scope {
			ins.Listed = true
			ins.Values = a.sourceValues(t, s.SelectStmt.GetSelectStmt(), i, use.Offset)
			a.keepNames(s.SelectStmt.GetSelectStmt(), i)
			break
		}
	}
	a.facts.Inserts = append(a.facts.Inserts, ins)
}

// impliedColumns are those that an INSERT without a column list fills: the table's
// first ones, as many as the source has.
func impliedColumns(t *tree.Table, s *pg.SelectStmt) []string {
	width := sourceWidth(s)
	var names []string
	for i := 0; i < len(t.Columns) && (width < 0 || i < width); i++ {
		names = append(names, t.Columns[i].Name)
	}
	return names
}

// sourceWidth is the number of columns of a query; -1 where a star hides it.
func sourceWidth(s *pg.SelectStmt) int {
	for s.GetOp() > pg.SetOperation_SETOP_NONE {
		s = s.Larg
	}
	if len(s.GetValuesLists()) > 0 {
		return len(s.ValuesLists[0].GetList().GetItems())
	}
	for _, n := range s.GetTargetList() {
		if tree.Star(n.GetResTarget().GetVal()) != nil {
			return -1
		}
	}
	return len(s.GetTargetList())
}

// onConflict analyzes ON CONFLICT. Its SET and WHERE see the target's row and the row
// that was to be inserted, as excluded.
func (a *analyzer) onConflict(l *level, c *pg.OnConflictClause, use *facts.TableUse) {
	if c == nil {
		return
	}
	a.conflictTarget(l, c.Infer)
	if c.Action != pg.OnConflictAction_ONCONFLICT_UPDATE {
		return
	}
	use.Access |= facts.AccessUpdate | facts.AccessSelect
	excluded := aliased(tableRelation(use), &pg.Alias{Aliasname: "excluded"})
	excluded.cols = qualify(excluded.name, excluded.cols)
	excluded.Relation = fence.Relation{Table: true}
	a.judge.Enter(&excluded.Relation)
	set := &level{outer: l.outer, ctes: l.ctes, rels: append(l.rels[:1:1], excluded), facts: &facts.Level{}, start: l.start}
	if l.rels[0].name == "excluded" {
		a.fail(refusal.Unsupported(use.Offset, "a table with ON CONFLICT must not be named excluded"))
	}
	a.assignments(set, use.Table, c.TargetList)
	a.where(set, c.WhereClause)
	if len(set.facts.Conditions) > 0 {
		a.facts.Levels = append(a.facts.Levels, set.facts)
	}
	a.facts.Filters = append(a.facts.Filters, &facts.Filter{Use: use, Where: c.WhereClause, From: int(c.Location), Upsert: true})
}

// conflictTarget analyzes the index columns; to infer by a column is to read it.
func (a *analyzer) conflictTarget(l *level, infer *pg.InferClause) {
	if infer == nil {
		return
	}
	for _, n := range infer.IndexElems {
		e := n.GetIndexElem()
		a.expr(l, e.Expr)
		if e.Name != "" {
			a.bareColumn(&level{rels: l.rels}, nil, e.Name, int(infer.Location))
		}
	}
	a.expr(l, infer.WhereClause)
}
