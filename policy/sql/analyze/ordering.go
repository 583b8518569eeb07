package analyze

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/refusal"
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
		sort := n.GetSortBy()
		if sort != nil {
			n = sort.Node
		}
		if ref := n.GetColumnRef(); a.isOutput(l, out, ref, sort != nil) {
			a.see(ref)
		} else {
			a.expr(l, n)
		}
	}
}

// grouped is ordered for GROUP BY, which also looks into sets and rows of names.
func (a *analyzer) grouped(l *level, out output, list []*pg.Node) {
	for _, n := range list {
		switch row := n.GetRowExpr(); {
		case n.GetGroupingSet() != nil:
			a.grouped(l, out, n.GetGroupingSet().Content)
		case row != nil && row.RowFormat == pg.CoercionForm_COERCE_IMPLICIT_CAST:
			a.grouped(l, out, row.Args)
		default:
			a.ordered(l, out, []*pg.Node{n})
		}
	}
}

// isOutput tells whether a reference can mean nothing but an output column: no column of
// the level bears or may bear the name, which would come first but in ORDER BY, and where the
// output's name is a guess, none further out.
func (a *analyzer) isOutput(l *level, out output, ref *pg.ColumnRef, sort bool) bool {
	names, ok := tree.Strings(ref.GetFields())
	if !ok || len(names) != 1 {
		return false
	}
	certain, likely := out.has(names[0])
	switch {
	case sort && out.partial && !certain: // a * may give it
		a.fail(refusal.Unsupported(int(ref.Location), names[0]+" may be a column of a function in FROM whose columns are not known"))
		return false
	case len(l.own(names[0])) > 0, !sort && (isSystemColumn(names[0]) || l.unknown() != nil):
		return false
	}
	_, further := l.columns(names[0])
	return certain || likely && further == nil
}
