package verify

import (
	"errors"
	"fmt"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// given says what the source of a write must give to the scope column of table: the
// server, in the column at index, which it may have gained as its first.
type given struct {
	table *tree.Table
	index int  // in the caller's columns; -1 where the caller gives none
	added bool // the final source has it as its first column
}

// prepended takes the added first column off a final row, having checked it.
func (v *verifier) prepended(row []*pg.Node, g *given, value func(*pg.Node) *pg.Node) ([]*pg.Node, error) {
	if g == nil || !g.added {
		return row, nil
	}
	if len(row) == 0 {
		return nil, errors.New("a row lacks the scope column")
	}
	return row[1:], v.isServer(value(row[0]), g.table)
}

// row compares two rows of VALUES or of ROW(…).
func (v *verifier) row(a, b []*pg.Node, g *given) error {
	b, err := v.prepended(b, g, func(n *pg.Node) *pg.Node { return n })
	if err != nil {
		return err
	}
	if len(a) != len(b) || g != nil && (g.index >= len(a) || g.index >= 0 && slices.ContainsFunc(a, tree.ExpandsToColumns)) {
		return errors.New("a row changed its width, or its width is unknown")
	}
	for i := range a {
		if err := v.value(a[i], b[i], i, g); err != nil {
			return err
		}
	}
	return nil
}

// value compares one value of a row: the server where it goes to the scope column, and
// the same expression elsewhere. The caller's own casts around it stay.
func (v *verifier) value(a, b *pg.Node, i int, g *given) error {
	if g == nil || i != g.index {
		return v.node(a, b)
	}
	if x := a.GetTypeCast(); x != nil {
		y := b.GetTypeCast()
		if y == nil || !tree.Lossless(y.TypeName, g.table) {
			return errors.New("a cast of the server's id is missing, or changes the id")
		}
		if err := v.message(x.TypeName, y.TypeName); err != nil {
			return err
		}
		return v.value(x.Arg, y.Arg, i, g)
	}
	return v.isServer(b, g.table)
}

// target checks the target of a write: always a table, never a WITH name.
func (v *verifier) target(a, b *pg.RangeVar) (*tree.Table, error) {
	if a == nil || b == nil {
		return nil, errors.New("a write lost its target")
	}
	return v.table(a, b)
}

// filter checks the WHERE of a write: the caller's, and for a scoped table AND the
// restriction. Postgres' grammar flattens an AND whose left side is one.
func (v *verifier) filter(a, b *pg.Node, rel *pg.RangeVar, t *tree.Table) error {
	if t.Scope == "" {
		return v.condition(a, b)
	}
	parts := tree.Conjuncts(b)
	if len(parts) == 0 {
		return fmt.Errorf("the condition on table %s is not restricted", t.Name)
	}
	last := len(parts) - 1
	if err := v.restriction(parts[last], rel, t); err != nil {
		return err
	}
	return v.parts(tree.Conjuncts(a), parts[:last])
}

func (v *verifier) updateStmt(a, b *pg.UpdateStmt) error {
	if b == nil {
		return errors.New("an UPDATE became something else")
	}
	defer v.enter()()
	if err := v.with(a.WithClause, b.WithClause); err != nil {
		return err
	}
	t, err := v.target(a.Relation, b.Relation)
	if err != nil {
		return err
	}
	if err := v.same(a, b, "WithClause", "Relation", "TargetList", "WhereClause", "ReturningList"); err != nil {
		return err
	}
	return errors.Join(
		v.assignments(a.TargetList, b.TargetList, t),
		v.filter(a.WhereClause, b.WhereClause, b.Relation, t),
		v.targets(a.ReturningList, b.ReturningList, -1, nil))
}

func (v *verifier) deleteStmt(a, b *pg.DeleteStmt) error {
	if b == nil {
		return errors.New("a DELETE became something else")
	}
	defer v.enter()()
	if err := v.with(a.WithClause, b.WithClause); err != nil {
		return err
	}
	t, err := v.target(a.Relation, b.Relation)
	if err != nil {
		return err
	}
	if err := v.same(a, b, "WithClause", "Relation", "WhereClause", "ReturningList"); err != nil {
		return err
	}
	return errors.Join(
		v.filter(a.WhereClause, b.WhereClause, b.Relation, t),
		v.targets(a.ReturningList, b.ReturningList, -1, nil))
}

// assignments compares two SET lists: what goes to the scope column is the server.
func (v *verifier) assignments(a, b []*pg.Node, t *tree.Table) error {
	if len(a) != len(b) {
		return errors.New("a SET list changed")
	}
	for i := range a {
		x, y := a[i].GetResTarget(), b[i].GetResTarget()
		if x == nil || y == nil || x.Name != y.Name {
			return errors.New("a SET list changed")
		}
		if err := v.same(x, y, "Val"); err != nil {
			return err
		}
		if m, n := x.Val.GetMultiAssignRef(), y.Val.GetMultiAssignRef(); copied(a, i, m) && copied(b, i, n) {
			continue
		}
		if err := v.assignment(a, i, x, y, t); err != nil {
			return err
		}
	}
	return nil
}

// copied tells whether an entry of SET (a, b, …) = … is not the first of its group, and
// its source the same as that one's: the text has it once.
func copied(list []*pg.Node, i int, m *pg.MultiAssignRef) bool {
	first := i - int(m.GetColno()) + 1
	if m.GetColno() < 2 || first < 0 {
		return false
	}
	of := list[first].GetResTarget().GetVal().GetMultiAssignRef()
	return of.GetColno() == 1 && of.Ncolumns == m.Ncolumns && proto.Equal(of.Source, m.Source)
}

func (v *verifier) assignment(list []*pg.Node, i int, x, y *pg.ResTarget, t *tree.Table) error {
	scope := t.Scope != "" && x.Name == t.Scope
	if scope && len(x.Indirection) > 0 {
		return errors.New("the scope column is set in part")
	}
	m := x.Val.GetMultiAssignRef()
	if m == nil {
		g := &given{table: t, index: -1}
		if scope {
			g.index = 0
		}
		return v.value(x.Val, y.Val, 0, g)
	}
	n := y.Val.GetMultiAssignRef()
	if n == nil || m.Colno != n.Colno || m.Ncolumns != n.Ncolumns {
		return errors.New("a SET list changed")
	}
	return v.multiSource(m.Source, n.Source, v.group(list, i, m, t))
}

// group says which column of SET (a, b, …) = … is the scope column. All entries of the
// group carry the same source, so each is checked against the whole group.
func (v *verifier) group(list []*pg.Node, i int, m *pg.MultiAssignRef, t *tree.Table) *given {
	first := i - int(m.Colno) + 1
	for k := 0; k < int(m.Ncolumns); k++ {
		if first+k >= 0 && first+k < len(list) && t.Scope != "" && list[first+k].GetResTarget().GetName() == t.Scope {
			return &given{table: t, index: k}
		}
	}
	return nil
}

func (v *verifier) multiSource(a, b *pg.Node, g *given) error {
	switch {
	case a.GetRowExpr() != nil && b.GetRowExpr() != nil:
		if err := v.same(a.GetRowExpr(), b.GetRowExpr(), "Args"); err != nil {
			return err
		}
		return v.row(a.GetRowExpr().Args, b.GetRowExpr().Args, g)
	case a.GetSubLink() != nil && b.GetSubLink() != nil:
		if err := v.same(a.GetSubLink(), b.GetSubLink(), "Subselect"); err != nil {
			return err
		}
		return v.source(a.GetSubLink().Subselect, b.GetSubLink().Subselect, g)
	case g == nil:
		return v.node(a, b)
	}
	return errors.New("the value of the scope column is unknown")
}

// source compares the query that feeds a write.
func (v *verifier) source(a, b *pg.Node, g *given) error {
	x, y := a.GetSelectStmt(), b.GetSelectStmt()
	if x == nil || y == nil {
		return errors.New("the source of a write changed")
	}
	return v.query(x, y, g)
}
