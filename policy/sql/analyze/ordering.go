package analyze

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// has tells whether an output column certainly bears a name, or likely does.
func (o output) has(name string) (certain, likely bool) {
	for _, c := range o.cols {
		if c.name == name {
			certain, likely = certain || !c.guessed, true
		}
	}
	return certain, likely
}

// ordered analyzes what ORDER BY and DISTINCT ON list. A bare name there may be that of an
// output column, which is analyzed already.
func (a *analyzer) ordered(l *level, out output, list []*pg.Node) {
	for _, n := range list {
		if sort := n.GetSortBy(); sort != nil {
			n = sort.Node
		}
		a.listed(l, out, n, true)
	}
}

// listed analyzes an entry of such a list; first says that a name is looked up among the output columns first.
func (a *analyzer) listed(l *level, out output, n *pg.Node, first bool) {
	if ref := n.GetColumnRef(); a.isOutput(l, out, ref, first) {
		a.see(ref)
	} else {
		a.expr(l, n)
	}
}

// grouped is ordered for GROUP BY, which looks among the columns of FROM first, and into sets and rows of names.
func (a *analyzer) grouped(l *level, out output, list []*pg.Node) {
	for _, n := range list {
		switch row := n.GetRowExpr(); {
		case n.GetGroupingSet() != nil:
			a.grouped(l, out, n.GetGroupingSet().Content)
		case row != nil && row.RowFormat == pg.CoercionForm_COERCE_IMPLICIT_CAST:
			a.grouped(l, out, row.Args)
		default:
			a.listed(l, out, n, false)
		}
	}
}

// isOutput tells whether a reference can mean nothing but an output column: no column of
// the level bears the name, and where the output's name is a guess, none further out. A name
// that may mean a column which is not known is refused.
func (a *analyzer) isOutput(l *level, out output, ref *pg.ColumnRef, first bool) bool {
	names, ok := tree.Strings(ref.GetFields())
	if !ok || len(names) != 1 {
		return false
	}
	name, unknown := names[0], l.unknown()
	certain, likely := out.has(name)
	switch {
	case len(l.own(name)) > 0 && (!first || certain || !out.partial), !first && isSystemColumn(name):
		return false
	case first && out.partial && !certain, !first && likely && unknown != nil:
		a.fail(unknownName(unknown, name, int(ref.Location)))
		return false
	}
	_, further := l.columns(name)
	return certain || likely && further == nil
}
