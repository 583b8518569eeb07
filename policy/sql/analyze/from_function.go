package analyze

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
	"github.com/tenantgate/tenantgate/policy/sql/types"
)

// rangeFunction analyzes a function in FROM. Its columns are known where it gives rows of known columns or certainly one value, or
// where a column definition list gives them; of others only those that the alias names.
func (a *analyzer) rangeFunction(l *level, f *pg.RangeFunction) *relation {
	r := &relation{}
	a.relate()
	defer func() {
		if a.fault == nil {
			r.Reach = a.judge.Reach(f)
		}
	}()
	for _, n := range f.Functions {
		for _, part := range n.GetList().GetItems() {
			a.functionPart(l, part)
		}
	}
	call := f.Functions[0].GetList().GetItems()[0].GetFuncCall()
	switch {
	case call != nil: // several in ROWS FROM go by the first one's name
		r.name = tree.LastName(call.Funcname)
	case f.Alias == nil:
		a.fail(refusal.Unsupported(tree.Offset(f.Functions[0]), "this expression in FROM needs an alias"))
	}
	if len(f.Functions) == 1 {
		r.cols, r.known = a.setColumns(call, f.Alias)
		r.Rows = r.known || call != nil && a.types.CatalogCall(call) == "unnest"
		if !r.known && !r.Rows && a.isOneColumn(f) {
			r.cols, r.known = []column{{name: ownName(r.name, f.Alias), scalar: true}}, true
		}
	}
	for _, d := range f.Coldeflist {
		r.cols = append(r.cols, column{name: d.GetColumnDef().GetColname(), scalar: a.isScalar(d.GetColumnDef().GetTypeName())})
		a.functionPart(l, d)
		r.known, r.Rows = true, true
	}
	if len(f.Coldeflist) > 0 {
		a.makesRow(len(f.Coldeflist))
	}
	if f.Ordinality && r.known {
		r.cols = append(r.cols, column{name: "ordinality", scalar: true})
	}
	r = aliased(r, f.Alias)
	r.partial = !r.known
	r.single = a.givesOne(f, r)
	inlined := a.mayBeInlined(f, call)
	for i := range r.cols {
		r.cols[i].single, r.cols[i].converted = r.single, inlined
	}
	return r
}

// mayBeInlined tells a function in FROM whose body Postgres may put into the query, if it is in SQL: then its columns are computed where
// they are read. Those of pg_catalog it does not: none in SQL gives rows without being STRICT.
func (a *analyzer) mayBeInlined(f *pg.RangeFunction, call *pg.FuncCall) bool {
	return len(f.Functions) == 1 && !f.Ordinality && call != nil && a.types.CatalogCall(call) == ""
}

// givesOne tells a function in FROM that may give a single value which Postgres knows when it plans: then it puts that
// value in the place of the function's column. What holds an argument is known when the statement runs.
func (a *analyzer) givesOne(f *pg.RangeFunction, r *relation) bool {
	return !r.Rows && len(f.Functions) == 1 && !f.Ordinality && !a.types.KeepsOne(f.Functions[0].GetList().GetItems()[0], types.IsGiven)
}

// isOneColumn tells a function in FROM that certainly has one column: it gives a value that is no row.
func (a *analyzer) isOneColumn(f *pg.RangeFunction) bool {
	return len(f.Coldeflist) == 0 && !a.mayBeRow(f.Functions[0].GetList().GetItems()[0])
}

// ownName is the name of the only column of a function in FROM that has no name of its own.
func ownName(function string, alias *pg.Alias) string {
	if alias != nil {
		return alias.Aliasname
	}
	return function
}

// setColumns gives the columns of a call in FROM; false where they are not known.
func (a *analyzer) setColumns(call *pg.FuncCall, alias *pg.Alias) ([]column, bool) {
	names, ok := tree.Strings(call.GetFuncname())
	if !ok || len(names) == 0 || len(names) > 2 {
		return nil, false
	}
	name := names[len(names)-1]
	if a.catalog.UnjudgedCall(strings.Join(names[:len(names)-1], "."), name) {
		return nil, false // another schema's function of that name
	}
	known, ok := tree.FunctionColumns[name]
	if name == "unnest" && len(call.Args) == 1 && a.isArray(call.Args[0]) {
		known, ok = []string{""}, true
	}
	var cols []column
	for _, c := range known {
		if c == "" {
			c = ownName(name, alias)
		}
		cols = append(cols, column{name: c, scalar: true})
	}
	if name == "unnest" && len(cols) == 1 {
		cols[0].typ = a.elementType(call.Args[0])
	}
	return cols, ok
}

func (a *analyzer) functionPart(l *level, n *pg.Node) {
	if list := n.GetList(); list != nil {
		a.exprs(l, list.Items)
		return
	}
	a.expr(l, n)
}
