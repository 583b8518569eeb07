package verify

import (
	"errors"
	"fmt"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// fromTable checks a name in FROM.
func (v *verifier) fromTable(a *pg.RangeVar, b *pg.Node) error {
	if y := b.GetRangeVar(); y != nil {
		if y.Schemaname == "" {
			return v.cteName(a, y)
		}
		if a.Schemaname == "" && slices.Contains(v.ctes, a.Relname) {
			return errors.New("a WITH name became a table")
		}
		t, err := v.table(a, y)
		if err == nil && t.Scope != "" {
			err = fmt.Errorf("table %s is not restricted", t.Name)
		}
		return err
	}
	return v.restricted(a, b.GetJoinExpr())
}

// cteName checks a name that stayed bare: it must be a visible WITH name, since
// anything else would be looked up on the search path.
func (v *verifier) cteName(a, b *pg.RangeVar) error {
	if !slices.Contains(v.ctes, b.Relname) {
		return errors.New("a bare name is not a visible WITH name")
	}
	v.scope.note(tree.RefName(b), columns{})
	return sameVar(a, b)
}

// table checks a name that is a table's: qualified, in the catalog, and the one that
// the caller meant.
func (v *verifier) table(a, b *pg.RangeVar) (*tree.Table, error) {
	t := v.catalog.Table(b.Schemaname, b.Relname)
	switch {
	case b.Schemaname == "" || t == nil:
		return nil, errors.New("a table is not in the catalog")
	case v.catalog.Table(a.Schemaname, a.Relname) != t:
		return nil, fmt.Errorf("table %s stands for another one", t.Name)
	}
	v.scope.note(tree.RefName(b), asNamed(b, t))
	named := &pg.RangeVar{Schemaname: b.Schemaname, Relname: a.Relname, Inh: a.Inh, Relpersistence: a.Relpersistence, Alias: a.Alias}
	return t, sameVar(named, b)
}

func sameVar(a, b *pg.RangeVar) error { return tree.Diff(a, b) }

// restricted checks (schema.t alias JOIN (SELECT) added ON alias.scope = server), whose
// columns are those of the table.
func (v *verifier) restricted(a *pg.RangeVar, j *pg.JoinExpr) error {
	y := j.GetLarg().GetRangeVar()
	if y == nil {
		return errors.New("a table became something else")
	}
	if a.Schemaname == "" && slices.Contains(v.ctes, a.Relname) {
		return errors.New("a WITH name became a table")
	}
	t, err := v.table(a, y)
	if err != nil {
		return err
	}
	sub := j.Rarg.GetRangeSubselect()
	empty := &pg.JoinExpr{Jointype: pg.JoinType_JOIN_INNER, Larg: j.Larg, Rarg: j.Rarg, Quals: j.Quals}
	nothing := &pg.SelectStmt{LimitOption: pg.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg.SetOperation_SETOP_NONE}
	switch {
	case t.Scope == "":
		return fmt.Errorf("table %s is joined though it is not scoped", t.Name)
	case !tree.Equal(j, empty) || sub == nil || sub.Lateral || sub.Alias == nil || len(sub.Alias.Colnames) > 0:
		return fmt.Errorf("the join that restricts table %s is malformed", t.Name)
	case !tree.Equal(sub.Subquery.GetSelectStmt(), nothing):
		return fmt.Errorf("the join that restricts table %s reads something", t.Name)
	}
	return v.restriction(j.Quals, y, t)
}

// restriction checks alias.scope = server, the scope column being named by its position
// where the alias renames columns.
func (v *verifier) restriction(n *pg.Node, rel *pg.RangeVar, t *tree.Table) error {
	name, column := rel.Relname, t.Scope
	at := t.Index(t.Scope)
	if rel.Alias != nil {
		name = rel.Alias.Aliasname
		if renamed, ok := tree.Strings(rel.Alias.Colnames); ok && at < len(renamed) {
			column = renamed[at]
		}
	}
	e := n.GetAExpr()
	if at < 0 || e == nil || e.Kind != pg.A_Expr_Kind_AEXPR_OP {
		return fmt.Errorf("table %s is not restricted", t.Name)
	}
	op, ok1 := tree.Strings(e.Name)
	ref, ok2 := tree.Strings(e.Lexpr.GetColumnRef().GetFields())
	if !ok1 || !ok2 || !slices.Equal(op, []string{"="}) || !slices.Equal(ref, []string{name, column}) {
		return fmt.Errorf("table %s is not restricted by its scope column", t.Name)
	}
	return v.isServer(e.Rexpr, t)
}

// with compares two WITH clauses and makes their names visible as Postgres does. The
// caller puts v.ctes back when the statement ends.
func (v *verifier) with(a, b *pg.WithClause) error {
	if (a == nil) != (b == nil) || a.GetRecursive() != b.GetRecursive() || len(a.GetCtes()) != len(b.GetCtes()) {
		return errors.New("the WITH clause changed")
	}
	v.ctes = slices.Clone(v.ctes)
	names := make([]string, len(b.GetCtes()))
	for i, n := range b.GetCtes() {
		names[i] = n.GetCommonTableExpr().GetCtename()
	}
	if b.GetRecursive() {
		v.ctes = append(v.ctes, names...)
	}
	for i := range names {
		x, y := a.Ctes[i].GetCommonTableExpr(), b.Ctes[i].GetCommonTableExpr()
		if err := v.same(x, y); err != nil {
			return err
		}
		if !b.Recursive {
			v.ctes = append(v.ctes, names[i])
		}
	}
	return nil
}

// selectStmt compares two queries; b must be one.
func (v *verifier) selectStmt(a *pg.SelectStmt, b proto.Message) error {
	y, ok := b.(*pg.SelectStmt)
	if !ok {
		return errors.New("a query became something else")
	}
	return v.query(a, y, nil)
}

// query compares two queries level by level. given, where not nil, says what a write
// does with one of the columns.
func (v *verifier) query(a, b *pg.SelectStmt, given *given) error {
	defer v.enter()()
	if err := v.with(a.WithClause, b.WithClause); err != nil {
		return err
	}
	if a.Op != b.Op || (a.Larg == nil) != (b.Larg == nil) || (a.Rarg == nil) != (b.Rarg == nil) || len(a.ValuesLists) != len(b.ValuesLists) {
		return errors.New("a query changed its form")
	}
	apart, err := v.barrier(a, b)
	if err != nil {
		return err
	}
	if a.Larg != nil && a.Rarg != nil {
		if err := errors.Join(v.query(a.Larg, b.Larg, given), v.query(a.Rarg, b.Rarg, given)); err != nil {
			return err
		}
		return v.same(a, b, append(apart, "WithClause", "Larg", "Rarg")...)
	}
	// FROM first: it tells which columns are hidden, should a * be spelled out.
	if err := v.same(a, b, append(apart, "WithClause", "TargetList", "ValuesLists", "WhereClause", "HavingClause")...); err != nil {
		return err
	}
	if err := errors.Join(v.condition(a.WhereClause, b.WhereClause), v.condition(a.HavingClause, b.HavingClause)); err != nil {
		return err
	}
	for i := range a.ValuesLists {
		if err := v.row(a.ValuesLists[i].GetList().GetItems(), b.ValuesLists[i].GetList().GetItems(), given); err != nil {
			return err
		}
	}
	if len(a.ValuesLists) > 0 {
		return nil
	}
	return v.selectList(a, b, given)
}

// selectList compares two select lists; that of TABLE t has its * where the table stands.
func (v *verifier) selectList(a, b *pg.SelectStmt, given *given) error {
	otherwise := -1
	if len(a.FromClause) > 0 {
		otherwise = tree.Offset(a.FromClause[0])
	}
	return v.targets(a.TargetList, b.TargetList, otherwise, given)
}

// targets compares two lists of results, where a * may have become columns.
func (v *verifier) targets(a, b []*pg.Node, tableForm int, given *given) error {
	b, err := v.prepended(b, given, func(n *pg.Node) *pg.Node { return n.GetResTarget().GetVal() })
	if err != nil {
		return err
	}
	if g := given; g != nil && g.index >= 0 && !positioned(a, g.index) {
		return errors.New("the position of the scope column is unknown")
	}
	for i, n := range a {
		x := n.GetResTarget()
		if count, ok := v.spelled(x, tableForm); ok {
			if count > len(b) {
				return errors.New("a * lost columns")
			}
			if err := v.plainColumns(b[:count]); err != nil {
				return err
			}
			b = b[count:]
			continue
		}
		if len(b) == 0 {
			return errors.New("a select list lost entries")
		}
		y := b[0].GetResTarget()
		name := x.Name
		if made := v.Named[n]; made != "" {
			name = made
		}
		if y == nil || name != y.Name || len(x.Indirection)+len(y.Indirection) > 0 {
			return errors.New("a select list changed")
		}
		if err := v.value(x.Val, y.Val, i, given); err != nil {
			return err
		}
		b = b[1:]
	}
	if len(b) > 0 {
		return errors.New("a select list gained entries")
	}
	return nil
}

// positioned tells whether a list has an entry at index and no * up to it.
func positioned(list []*pg.Node, index int) bool {
	return index < len(list) && !slices.ContainsFunc(list[:index+1], func(n *pg.Node) bool {
		return tree.ExpandsToColumns(n.GetResTarget().GetVal())
	})
}

// spelled tells whether an entry is a * that was spelled out, and as how many entries.
func (v *verifier) spelled(x *pg.ResTarget, tableForm int) (int, bool) {
	ref := tree.Star(x.GetVal())
	if ref == nil {
		return 0, false
	}
	at := int(ref.Location)
	if at < 0 {
		at = tableForm
	}
	count, ok := v.stars[at]
	return count, ok
}

// plainColumns checks what a * became: references to columns that may be read, or to
// all columns of a relation that has no other, and no expressions.
func (v *verifier) plainColumns(list []*pg.Node) error {
	for _, n := range list {
		t := n.GetResTarget()
		fields := t.GetVal().GetColumnRef().GetFields()
		all := len(fields) == 2 && fields[1].GetAStar() != nil
		if all {
			fields = fields[:1]
		}
		names, ok := tree.Strings(fields)
		switch {
		case t.GetName() != "" || !ok || len(names) == 0 || len(names) > 2:
			return errors.New("a * became something else than columns")
		case all && v.scope.hides(names[0]),
			!all && len(names) == 1 && !v.scope.mayReadBare(names[0]), // of a FULL join, which has no name
			!all && len(names) == 2 && !v.scope.mayRead(names[0], names[1]):
			return errors.New("a * was spelled out with a column that must not be read")
		}
	}
	return nil
}
