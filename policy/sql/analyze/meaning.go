package analyze

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/fence"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
	"github.com/tenantgate/tenantgate/policy/sql/types"
)

// meaning is what a column reference was resolved to.
type meaning struct {
	types.Column
	fence.Reference
	scalar bool // see column
}

// Column and Same are what package types asks; Reference and WithQuery are what package fence does.
func (a *analyzer) Column(ref *pg.ColumnRef) types.Column { return a.names[ref].Column }

func (a *analyzer) Same(x, y *pg.ColumnRef) bool {
	m, n := a.names[x].Relations, a.names[y].Relations
	xs, plainX := tree.Strings(x.GetFields())
	ys, plainY := tree.Strings(y.GetFields())
	return plainX && plainY && slices.Equal(m, n) && xs[len(xs)-1] == ys[len(ys)-1]
}

func (a *analyzer) Reference(ref *pg.ColumnRef) fence.Reference { return a.names[ref].Reference }

func (a *analyzer) WithQuery(v *pg.RangeVar) (query *pg.Node, open bool) {
	if c := a.withs[v]; c != nil {
		return c.query, c.open
	}
	return nil, false
}

// resolve notes that a reference means one of some columns of a relation; a name that may
// mean one of several means all. The relation is of a query further out if inside is true.
func (a *analyzer) resolve(ref *pg.ColumnRef, r *relation, cols []column, inside bool) {
	a.correlate(r, cols, inside)
	if ref == nil {
		return
	}
	a.use(cols)
	n, seen := a.names[ref]
	n.Relations, n.Row = append(n.Relations, &r.Relation), false
	for i, c := range cols {
		n.Single = n.Single || c.single
		n.scalar = c.scalar && (n.scalar || !seen && i == 0)
		n.Scope = n.Scope || c.scope
		n.Ours = c.ours && (n.Ours || !seen && i == 0)
		n.Collated = n.Collated || c.collated
		n.Varying = n.Varying || !c.plain
		n.Converted = n.Converted || c.converted || seen && n.Type != c.typ || seen && c.typ == tree.TypeName{}
		if !seen && i == 0 {
			n.Type, n.Collation = c.typ, c.collation
		} else if n.Type != c.typ || n.Collation != c.collation {
			n.Type, n.Collation = tree.TypeName{}, ""
		}
	}
	a.names[ref] = n
}

// resolveRow is resolve of a relation's whole row, or all of its columns.
func (a *analyzer) resolveRow(ref *pg.ColumnRef, r *relation, inside bool) {
	a.correlate(r, r.cols, inside)
	if ref == nil {
		return
	}
	a.use(r.cols)
	n, seen := a.names[ref]
	n.Relations, n.Row = append(n.Relations, &r.Relation), r.Table && !seen
	n.Type, n.Collation = tree.TypeName{}, ""
	n.Varying = n.Varying || !r.Table
	n.Whole, n.scalar = true, false
	n.Single = n.Single || r.single || slices.ContainsFunc(r.cols, func(c column) bool { return c.single })
	n.Scope, n.Ours = n.Scope || slices.ContainsFunc(r.cols, func(c column) bool { return c.scope }), false
	a.names[ref] = n
	a.convert(ref, r.cols)
}

// correlate has the barrier's judgement look at computed columns that a query inside names.
func (a *analyzer) correlate(r *relation, cols []column, inside bool) {
	if inside && (!r.known || slices.ContainsFunc(cols, func(c column) bool { return !c.plain })) {
		a.judge.Correlated(&r.Relation)
	}
}
