package analyze

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
)

// with analyzes a WITH clause and gives the list with its names added. In a plain WITH
// a query sees only the names before it; with RECURSIVE all of them, its own included.
func (a *analyzer) with(w *pg.WithClause, outer *level, ctes *cte) *cte {
	if w == nil {
		return ctes
	}
	var entries []*cte
	for _, n := range w.Ctes {
		e := &cte{name: n.GetCommonTableExpr().GetCtename(), cols: rename(nil, n.GetCommonTableExpr().GetAliascolnames())}
		entries = append(entries, e)
		if w.Recursive {
			e.outer, e.ahead = ctes, true
			ctes = e
		}
	}
	for i, n := range w.Ctes {
		e := entries[i]
		a.cteBody(n.GetCommonTableExpr(), e, outer, ctes)
		if !w.Recursive {
			e.outer = ctes
			ctes = e
		}
	}
	return ctes
}

func (a *analyzer) cteBody(x *pg.CommonTableExpr, e *cte, outer *level, ctes *cte) {
	mixed := false
	settle := func(out output) {
		a.renames(x.Aliascolnames, out.partial, int(x.Location))
		e.cols, e.known, e.partial, mixed = rename(out.cols, x.Aliascolnames), out.known, out.partial, out.mixed
	}
	before := a.judge.Mark()
	e.repeats = x.Ctematerialized == pg.CTEMaterialize_CTEMaterializeNever
	defer a.weighQuery(e)()
	e.query = x.Ctequery
	e.open, e.ahead, e.Body = true, false, x.Ctequery.GetSelectStmt()
	if s := e.Body; s != nil {
		a.facts.Kinds |= facts.AccessSelect
		var first []column
		out := a.selectStmt(s, outer, ctes, func(left output) { first = left.cols; settle(left) })
		if e.recursive {
			a.keepsOurs(x, first, out)
		}
		settle(out)
	} else {
		settle(a.statement(x.Ctequery, outer, ctes))
	}
	e.open = false
	if a.fault != nil {
		return
	}
	e.Relation = a.judge.Subquery(x.Ctequery, e.Body, before, mixed)
	a.seal(e.cols, e.Body)
}

// keepsOurs refuses a recursive query whose first arm gives a column an unchanged scope column and whose second arm gives it
// something else: the second arm was read with the columns of the first, so what it compared with that column was taken
// for a comparison of two scope columns.
func (a *analyzer) keepsOurs(x *pg.CommonTableExpr, first []column, all output) {
	if all.partial {
		a.fail(refusal.Unsupported(int(x.Location), "the columns of the recursive query "+lex.Quote(x.Ctename)+" are not known"))
	}
	for i := range min(len(first), len(all.cols)) {
		if first[i].ours && !all.cols[i].ours {
			a.fail(refusal.Unsupported(int(x.Location), "a column of the recursive query "+lex.Quote(x.Ctename)+" is a scope column in its first arm and something else in its second"))
		}
	}
}
