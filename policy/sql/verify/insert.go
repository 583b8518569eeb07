package verify

import (
	"errors"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

func (v *verifier) insertStmt(a, b *pg.InsertStmt) error {
	if b == nil {
		return errors.New("an INSERT became something else")
	}
	defer v.enter()()
	if err := v.with(a.WithClause, b.WithClause); err != nil {
		return err
	}
	t, err := v.target(a.Relation, b.Relation)
	if err != nil {
		return err
	}
	if err := v.same(a, b, "WithClause", "Relation", "Cols", "SelectStmt", "OnConflictClause", "ReturningList"); err != nil {
		return err
	}
	if t.Renumbers(b) {
		return errors.New("a sequence gives the scope column")
	}
	g, err := insertColumns(a, b, t)
	if err != nil {
		return err
	}
	return errors.Join(
		v.insertSource(a.SelectStmt, b.SelectStmt, g),
		v.onConflict(a.OnConflictClause, b.OnConflictClause, b.Relation, t),
		v.targets(a.ReturningList, b.ReturningList, -1, nil))
}

// insertColumns compares two column lists and tells where the scope column is.
func insertColumns(a, b *pg.InsertStmt, t *tree.Table) (*given, error) {
	old, now := columnNames(a.Cols), columnNames(b.Cols)
	if slices.ContainsFunc(slices.Concat(a.Cols, b.Cols), func(n *pg.Node) bool { return len(n.GetResTarget().GetIndirection()) > 0 }) {
		return nil, errors.New("a part of a column is inserted")
	}
	if t.Scope == "" {
		return nil, sameNames(old, now)
	}
	if len(now) == 0 { // DEFAULT VALUES would be left with the scope column's default
		return nil, errors.New("the columns of an INSERT are not spelled out")
	}
	if natural := firstNames(t, len(now)); len(old) == 0 && a.SelectStmt != nil && slices.Equal(natural, now) && slices.Contains(now, t.Scope) {
		return &given{table: t, index: t.Index(t.Scope)}, nil
	}
	if at := slices.Index(old, t.Scope); at >= 0 {
		return &given{table: t, index: at}, sameNames(old, now)
	}
	if len(old) == 0 { // the table's first columns, as the source fills them
		old = firstNames(t, len(now)-1)
	}
	if now[0] != t.Scope {
		return nil, errors.New("an INSERT lacks the scope column")
	}
	return &given{table: t, index: -1, added: true}, sameNames(old, now[1:])
}

// firstNames gives the names of a table's first n columns, or of all.
func firstNames(t *tree.Table, n int) []string {
	names := make([]string, 0, n)
	for i := 0; i < n && i < len(t.Columns); i++ {
		names = append(names, t.Columns[i].Name)
	}
	return names
}

func columnNames(list []*pg.Node) []string {
	names := make([]string, len(list))
	for i, n := range list {
		names[i] = n.GetResTarget().GetName()
	}
	return names
}

func sameNames(a, b []string) error {
	if !slices.Equal(a, b) {
		return errors.New("the columns of an INSERT changed")
	}
	return nil
}

// insertSource compares what is inserted. DEFAULT VALUES into a scoped table became a
// row of one column.
func (v *verifier) insertSource(a, b *pg.Node, g *given) error {
	switch {
	case g == nil && a == nil && b == nil:
		return nil
	case a == nil && g != nil && g.added:
		rows := b.GetSelectStmt().GetValuesLists()
		plain := &pg.SelectStmt{ValuesLists: rows, LimitOption: pg.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg.SetOperation_SETOP_NONE}
		if len(rows) != 1 || !tree.Equal(b.GetSelectStmt(), plain) {
			return errors.New("DEFAULT VALUES became something else")
		}
		return v.row(nil, rows[0].GetList().GetItems(), g)
	case a == nil:
		return errors.New("DEFAULT VALUES omits the scope column")
	}
	return v.source(a, b, g)
}

// onConflict checks ON CONFLICT: its DO UPDATE reaches the server's rows only.
func (v *verifier) onConflict(a, b *pg.OnConflictClause, rel *pg.RangeVar, t *tree.Table) error {
	if a == nil && b == nil {
		return nil
	}
	if a == nil || b == nil || a.Action != b.Action {
		return errors.New("ON CONFLICT changed")
	}
	if err := v.inferred(a.Infer, b.Infer, t); err != nil {
		return err
	}
	if a.Action != pg.OnConflictAction_ONCONFLICT_UPDATE {
		return v.same(a, b, "Infer")
	}
	if rel.Alias.GetAliasname() == "excluded" {
		return errors.New("the target is named excluded")
	}
	return errors.Join(v.assignments(a.TargetList, b.TargetList, t), v.filter(a.WhereClause, b.WhereClause, rel, t))
}

// inferred compares two conflict targets; the final one may have gained the scope column.
func (v *verifier) inferred(a, b *pg.InferClause, t *tree.Table) error {
	if (a == nil) != (b == nil) {
		return errors.New("the conflict target changed")
	}
	if a == nil {
		return nil
	}
	now := b.IndexElems
	if t.Scope != "" && len(now) == len(a.IndexElems)+1 && tree.Equal(now[0].GetIndexElem(), plainElem(t.Scope, now[0])) {
		now = now[1:]
	}
	if len(now) != len(a.IndexElems) {
		return errors.New("the conflict target changed")
	}
	for i := range now {
		if err := v.node(a.IndexElems[i], now[i]); err != nil {
			return err
		}
	}
	return v.same(a, b, "IndexElems")
}

// plainElem is how the grammar gives a bare column name in a conflict target.
func plainElem(name string, like *pg.Node) *pg.IndexElem {
	e := like.GetIndexElem()
	return &pg.IndexElem{Name: name, Ordering: e.GetOrdering(), NullsOrdering: e.GetNullsOrdering()}
}
