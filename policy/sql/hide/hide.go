// Package hide finds the values of a statement that must be hidden from the planner.
//
// The planner estimates how many rows a condition admits from statistics of the whole table,
// which hold every server's values. The estimate decides on the plan, and the plan on the
// order of rows. So a constant that a caller compares with a scoped table's column must not
// take part in an estimate: it would tell whether other servers' rows hold that value. It is
// hidden from the planner, which then estimates as for any value:
//
//   - a literal becomes a parameter that carries its value;
//   - a call without columns, such as now(), to_tsquery('cat') or date('2027-01-01'), becomes (SELECT now()): the
//     planner evaluates it for an estimate, but not a sub-query. One that GROUP BY, DISTINCT or ORDER BY repeats becomes
//     CASE WHEN parameter THEN NULL ELSE now() END, since a sub-query is another value in each place;
//   - a column of type bool that is a condition by itself becomes (column = parameter), the
//     parameter being true: by itself the planner looks up how often it is true. So does NULL IS
//     NULL, where it is compared with something: it is a constant without a literal;
//   - of IS DISTINCT FROM between columns of sub-queries, which may be NULLs to the planner, the left side becomes
//     CASE WHEN parameter THEN NULL ELSE … END; so does a column that is a condition by itself where its type is not known, and
//     Postgres says of another type than bool what it would have said.
//
// Parameters hide their values only under plans that are made for any value
// (plan_cache_mode = force_generic_plan), which package upstream asks for.
//
// What only computes on columns, as the 'day' of date_trunc('day', created_at), stays: the
// planner has statistics of columns and of indexed expressions, not of what is computed
// from them here. So does what a volatile call or one that gives rows computes with, for the planner does not know what
// that gives; LIMIT and OFFSET; and the select list of the outermost query, which no
// condition can look at. A literal in a call that is a condition by itself does not stay: of starts_with(title, 'a') and
// its like the planner makes an estimate of their own.
package hide

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
	"github.com/tenantgate/tenantgate/policy/sql/types"
)

// hider finds what is to be hidden in a statement all of whose names are resolved.
type hider struct {
	*types.Types
	facts    *facts.Facts
	fault    *refusal.Refusal
	replaced map[int]bool // offsets of the constants that the server's id replaces
	found    map[*pg.Node]*facts.Hidden
	order    []*facts.Hidden
	closes   map[*pg.Node]bool         // by expression: it is closed
	casts    map[*pg.Node]*pg.TypeCast // by literal: the type that is written before it
	tests    map[*pg.Node]*pg.A_Expr   // by left side: the IS DISTINCT FROM
}

// Find notes in the facts what the rewrite has to hide of a statement that reads a scoped table, all of whose names are resolved.
func Find(stmt *pg.RawStmt, f *facts.Facts, t *types.Types) *refusal.Refusal {
	if !f.NamesScoped() {
		return nil
	}
	h := &hider{Types: t, facts: f, replaced: f.ScopeConstants(), found: map[*pg.Node]*facts.Hidden{}, closes: map[*pg.Node]bool{}, casts: map[*pg.Node]*pg.TypeCast{}, tests: map[*pg.Node]*pg.A_Expr{}}
	h.surroundings(stmt)
	h.statement(stmt.Stmt, true)
	f.Hides, f.Hidden = true, h.order
	return h.fault
}

// fail refuses the statement; the first refusal stays.
func (h *hider) fail(f *refusal.Refusal) {
	if h.fault == nil {
		h.fault = f
	}
}

func (h *hider) add(n *pg.Node, form facts.HideForm) *facts.Hidden {
	if f := h.found[n]; f != nil {
		return f
	}
	f := &facts.Hidden{Node: n, Form: form, Cast: h.casts[n], Test: h.tests[n]}
	h.found[n] = f
	h.order = append(h.order, f)
	return f
}

// statement looks through a statement; no condition can look at the results of an outermost one.
func (h *hider) statement(n *pg.Node, outermost bool) {
	switch s := n.GetNode().(type) {
	case *pg.Node_SelectStmt:
		h.query(s.SelectStmt, outermost)
	case *pg.Node_InsertStmt:
		h.with(s.InsertStmt.WithClause)
		if source := s.InsertStmt.SelectStmt.GetSelectStmt(); source != nil {
			h.query(source, true)
		}
		h.computed(s.InsertStmt.ReturningList...)
		if c := s.InsertStmt.OnConflictClause; c != nil { // its WHERE is asked of one row
			h.computed(append(slices.Clone(c.TargetList), c.WhereClause)...)
		}
	case *pg.Node_UpdateStmt:
		h.with(s.UpdateStmt.WithClause)
		h.computed(slices.Concat(s.UpdateStmt.TargetList, s.UpdateStmt.ReturningList)...)
		h.from(s.UpdateStmt.FromClause...)
		h.condition(s.UpdateStmt.WhereClause)
	case *pg.Node_DeleteStmt:
		h.with(s.DeleteStmt.WithClause)
		h.computed(s.DeleteStmt.ReturningList...)
		h.from(s.DeleteStmt.UsingClause...)
		h.condition(s.DeleteStmt.WhereClause)
	}
}

func (h *hider) with(w *pg.WithClause) {
	for _, n := range w.GetCtes() {
		h.statement(n.GetCommonTableExpr().GetCtequery(), false)
	}
}

// query looks through one query level.
func (h *hider) query(s *pg.SelectStmt, outermost bool) {
	h.with(s.WithClause)
	results := h.results
	if outermost {
		results = h.computed
	}
	if s.Larg != nil && s.Rarg != nil {
		h.query(s.Larg, outermost)
		h.query(s.Rarg, outermost)
	}
	for _, row := range s.ValuesLists {
		results(row.GetList().GetItems()...)
	}
	h.from(s.FromClause...)
	for _, n := range s.TargetList {
		results(n.GetResTarget().GetVal())
	}
	if !outermost || s.HavingClause != nil { // HAVING may repeat what is in the outermost list
		h.name(s.TargetList)
	}
	h.condition(s.WhereClause)
	h.condition(s.HavingClause)
	h.computed(slices.Concat(s.DistinctClause, s.GroupClause, s.WindowClause, s.SortClause)...)
	h.computed(s.LimitCount, s.LimitOffset)
	h.count(s.LimitCount, s.LimitOffset)
	h.link(s)
}

// name notes the entries whose name Postgres makes of a constant or a parameter, which becomes a sub-query, or a CASE: the column
// would be called otherwise.
func (h *hider) name(targets []*pg.Node) {
	for _, n := range targets {
		t := n.GetResTarget()
		if from := tree.Naming(t.GetVal()); t.GetName() == "" && (from.GetAConst() != nil || from.GetParamRef() != nil) {
			h.facts.Named[n] = tree.WeakName(t.Val)
		}
	}
}

func (h *hider) from(items ...*pg.Node) {
	for _, n := range items {
		switch x := n.GetNode().(type) {
		case *pg.Node_JoinExpr:
			h.from(x.JoinExpr.Larg, x.JoinExpr.Rarg)
			h.condition(x.JoinExpr.Quals)
		case *pg.Node_RangeSubselect:
			h.statement(x.RangeSubselect.Subquery, false)
		case *pg.Node_RangeFunction:
			h.functions(x.RangeFunction)
		}
	}
}

// functions looks through functions in FROM. One that gives a single value becomes that
// value, where its arguments are known.
func (h *hider) functions(f *pg.RangeFunction) {
	for _, n := range f.Functions {
		for _, part := range n.GetList().GetItems() {
			if call := part.GetFuncCall(); call != nil && h.closed(part) && !h.givesRows(call) {
				h.arguments(call)
			} else {
				h.comparisons(part)
			}
		}
	}
}

// givesRows tells a call of a function of pg_catalog that is known to give rows.
func (h *hider) givesRows(f *pg.FuncCall) bool {
	return tree.GivesRows(h.CatalogCall(f))
}

// condition looks through a condition: a WHERE, ON or HAVING, or a part of one.
func (h *hider) condition(n *pg.Node) {
	switch x := n.GetNode().(type) {
	case *pg.Node_ColumnRef:
		h.boolColumn(n)
	case *pg.Node_BoolExpr:
		h.conditions(x.BoolExpr.Args)
	case *pg.Node_BooleanTest:
		h.condition(x.BooleanTest.Arg)
	case *pg.Node_CoalesceExpr:
		h.conditions(x.CoalesceExpr.Args)
	case *pg.Node_CaseExpr:
		h.caseExpr(x.CaseExpr, h.condition)
	case *pg.Node_FuncCall:
		h.asks(n, x.FuncCall)
	case *pg.Node_AConst, *pg.Node_NullTest:
		h.computed(n)
	default:
		switch e := n.GetAExpr(); {
		case n == nil || h.closed(n):
		case e.GetKind() == pg.A_Expr_Kind_AEXPR_NULLIF: // of NULLIF (x, NULL) Postgres makes x
			h.condition(e.Lexpr)
			h.value(e.Rexpr)
		case tree.IsDistinct(e): // nothing is compared with what it gives
			h.sides(e)
		case h.toBool(n.GetTypeCast()):
			h.madeBool(n, n.GetTypeCast().Arg)
		default:
			h.value(n)
		}
	}
}

func (h *hider) conditions(list []*pg.Node) {
	for _, n := range list {
		h.condition(n)
	}
}

func (h *hider) caseExpr(c *pg.CaseExpr, result func(*pg.Node)) {
	h.value(c.Arg)
	for _, n := range c.Args {
		if c.Arg == nil {
			h.condition(n.GetCaseWhen().Expr)
		} else {
			h.value(n.GetCaseWhen().Expr)
		}
		result(n.GetCaseWhen().Result)
	}
	result(c.Defresult)
}

// results looks through what a query gives. A row is compared as a whole, so that its literals stay. The planner would compare
// it with the values of a composite column, too. But no comparison with a row is judged leakproof (fence): the planner can't see
// into a query that gives one.
func (h *hider) results(list ...*pg.Node) {
	for _, n := range list {
		switch {
		case n.GetRowExpr() != nil:
			h.comparisons(n)
		case n.GetCollateClause().GetArg().GetAConst().GetSval() != nil: // in a set operation Postgres finds no type for a parameter there
			h.text(n)
		default:
			h.value(n)
		}
	}
}

// comparisons looks through an expression whose value is not compared with a column. Only what is compared within it is hidden.
func (h *hider) comparisons(m proto.Message) {
	switch x := m.(type) {
	case *pg.CaseExpr:
		h.caseExpr(x, func(n *pg.Node) { h.comparisons(n) })
		return
	case *pg.A_Expr:
		if !tree.IsComputation(x) {
			h.sides(x)
			return
		}
	case *pg.FuncCall, *pg.NullTest, *pg.SubLink: // what they give is computed
	default:
		tree.Children(m, func(c proto.Message) bool {
			h.comparisons(c)
			return true
		})
		return
	}
	tree.SubLinks(m, h.subLink)
}

func (h *hider) values(list ...*pg.Node) {
	for _, n := range list {
		h.value(n)
	}
}

// value looks through an expression whose value may be compared with a column.
func (h *hider) value(n *pg.Node) {
	switch x := n.GetNode().(type) {
	case *pg.Node_AConst:
		if at := tree.Offset(n); !x.AConst.Isnull && at >= 0 && !h.replaced[at] { // substring(x FOR 2) has a 1 that stands nowhere
			h.add(n, facts.AsParameter)
		}
	case *pg.Node_SqlvalueFunction:
		h.add(n, facts.AsSubquery)
	case *pg.Node_TypeCast:
		h.cast(n, x.TypeCast)
	case *pg.Node_FuncCall:
		h.call(n, x.FuncCall)
	case *pg.Node_AExpr:
		h.operator(n, x.AExpr)
	case *pg.Node_BoolExpr:
		h.values(x.BoolExpr.Args...)
	case *pg.Node_BooleanTest:
		h.value(x.BooleanTest.Arg)
		h.test(n, x.BooleanTest.Arg)
	case *pg.Node_NullTest:
		h.computed(n)
		h.test(n, x.NullTest.Arg)
	case *pg.Node_CaseExpr:
		h.caseExpr(x.CaseExpr, h.value)
	case *pg.Node_CoalesceExpr:
		h.values(x.CoalesceExpr.Args...)
	case *pg.Node_MinMaxExpr:
		h.values(x.MinMaxExpr.Args...)
	case *pg.Node_AArrayExpr:
		h.values(x.AArrayExpr.Elements...)
	case *pg.Node_RowExpr:
		h.texts(x.RowExpr.Args...)
	case *pg.Node_CollateClause:
		h.value(x.CollateClause.Arg)
	case *pg.Node_AIndirection:
		h.value(x.AIndirection.Arg)
		h.comparisons(&pg.List{Items: x.AIndirection.Indirection})
	case *pg.Node_SubLink:
		h.subLink(x.SubLink)
	default:
		h.comparisons(n)
	}
}

// cast looks through a cast. Postgres cuts a literal to numeric(3,1) as it reads it, and a
// parameter while the statement runs, where that may fail on some rows and not on others. So
// such a literal stays a literal, and so does interval '1' day. It cuts one to a domain over varchar(3), too, where a parameter
// that is too long for the domain is an error.
func (h *hider) cast(n *pg.Node, c *pg.TypeCast) {
	bare := h.casts[c.Arg] != nil && slices.Contains([]string{"bit", "bpchar"}, h.CatalogType(c.TypeName)) // of any length; $1::bit is bit(1)
	if literal := c.Arg.GetAConst(); literal != nil && !literal.Isnull && (len(c.TypeName.Typmods) > 0 || bare || h.Catalog.Domains[h.Named(n)]) {
		h.add(n, facts.AsSubquery)
		return
	}
	h.value(c.Arg)
}

// surroundings notes of literals the type before them, and of left sides their IS DISTINCT FROM.
func (h *hider) surroundings(m proto.Message) {
	switch x := m.(type) {
	case *pg.TypeCast:
		if literal := x.Arg.GetAConst(); literal != nil && x.TypeName.GetLocation() >= 0 && x.TypeName.Location < literal.Location {
			h.casts[x.Arg] = x
		}
	case *pg.A_Expr:
		if tree.IsDistinct(x) {
			h.tests[x.Lexpr] = x
		}
	}
	tree.Children(m, func(c proto.Message) bool {
		h.surroundings(c)
		return true
	})
}

// subLink looks through a sub-query of an expression. Nothing looks at the select list of
// EXISTS.
func (h *hider) subLink(s *pg.SubLink) {
	if row := s.Testexpr.GetRowExpr(); row != nil { // compared with the sub-query field by field
		h.values(row.Args...)
	} else {
		h.value(s.Testexpr)
	}
	if q := s.Subselect.GetSelectStmt(); q != nil {
		h.query(q, s.SubLinkType == pg.SubLinkType_EXISTS_SUBLINK)
	}
}

// computed looks only for the sub-queries in what no estimate looks at.
func (h *hider) computed(list ...*pg.Node) {
	for _, n := range list {
		tree.SubLinks(tree.Unwrap(n), h.subLink)
	}
}

// count notes the placeholders of LIMIT and OFFSET, and of these cast to an integer.
func (h *hider) count(list ...*pg.Node) {
	for _, n := range list {
		if c := n.GetTypeCast(); c != nil && len(c.TypeName.Typmods) == 0 && slices.Contains([]string{"int4", "int8"}, h.CatalogType(c.TypeName)) {
			n = c.Arg
		}
		if p := n.GetParamRef(); p != nil {
			h.facts.Counts = append(h.facts.Counts, p.Number)
		}
	}
}
