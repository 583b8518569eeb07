package fence

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// The planner has statistics of scope columns, and they hold which servers have most rows. A hash join of several
// batches keeps what meets one of these in a bucket of its own (ExecHashBuildSkewHash, 15 to 18): a server that writes
// others' ids into a text of its own, and joins that with a scope column, would see in the order of rows which of them
// have most. So a comparison of a scope column with any other column is no leakproof one, and the barrier hides it:
// equality of two unchanged scope columns, which both hold the server's own id, and comparisons with a parameter stay.
// It hides those with computed values, too: of several values that a scope column is equal to, Postgres restricts the table
// by the last one, and a condition that costs less than computing it would be evaluated before.
// Where the planner estimates the equality of two, it shows how far the same servers have many rows in both tables
// (docs/isolation.md lists that).

// OfScope tells whether an expression holds a scope column, or what a sub-query has made of one.
func (j *Judge) OfScope(m proto.Message) bool {
	switch n := m.(type) {
	case *pg.ColumnRef:
		return j.names.Reference(n).Scope
	case *pg.SubLink:
		return false
	}
	return tree.AnyChild(m, j.OfScope)
}

func (j *Judge) operatorMeetsScope(e *pg.A_Expr) bool {
	switch e.Kind {
	case pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN, pg.A_Expr_Kind_AEXPR_BETWEEN_SYM, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		return j.meetsScope("<=", e.Lexpr, e.Rexpr) // its name is BETWEEN
	}
	return j.meetsScope(tree.LastName(e.Name), e.Lexpr, e.Rexpr)
}

// isOurs tells a column that holds the server's id or NULL.
func (j *Judge) isOurs(n *pg.Node) bool {
	return n.GetColumnRef() != nil && j.names.Reference(n.GetColumnRef()).Ours
}

// meetsScope tells whether an operator compares a scope column with another column, or with what is computed.
func (j *Judge) meetsScope(op string, left, right *pg.Node) bool {
	if left == nil || right == nil || !tree.IsComparison(op) {
		return false
	}
	if list := right.GetList(); list != nil { // of IN and BETWEEN
		return slices.ContainsFunc(list.Items, func(n *pg.Node) bool { return j.meetsScope(op, left, n) })
	}
	if l, r := left.GetRowExpr(), right.GetRowExpr(); l != nil && r != nil {
		return j.meetsScopes(op, l.Args, r.Args)
	}
	switch l, r := j.OfScope(left), j.OfScope(right); {
	case l && r:
		return op != "=" || !j.isOurs(left) || !j.isOurs(right)
	case l:
		return !j.isValue(right)
	case r:
		return !j.isValue(left)
	}
	return false
}

func (j *Judge) meetsScopes(op string, left, right []*pg.Node) bool {
	all := slices.Concat(left, right)
	if len(left) != len(right) || slices.ContainsFunc(all, tree.ExpandsToColumns) { // which stands beside which is not known
		return tree.IsComparison(op) && slices.ContainsFunc(all, func(n *pg.Node) bool { return j.OfScope(n) })
	}
	for i := range left {
		if j.meetsScope(op, left[i], right[i]) {
			return true
		}
	}
	return false
}

// meetsScopeIn is meetsScope for x IN (SELECT …), which Postgres makes a join of.
func (j *Judge) meetsScopeIn(s *pg.SubLink) bool {
	if s.SubLinkType != pg.SubLinkType_ANY_SUBLINK && s.SubLinkType != pg.SubLinkType_ALL_SUBLINK {
		return false
	}
	tests := []*pg.Node{s.Testexpr}
	if row := s.Testexpr.GetRowExpr(); row != nil {
		tests = row.Args
	}
	return j.meetsScopeOf(linkOperator(s), tests, s.Subselect.GetSelectStmt())
}

func (j *Judge) meetsScopeOf(op string, tests []*pg.Node, query *pg.SelectStmt) bool {
	if query == nil {
		return false
	}
	if query.Op != pg.SetOperation_SETOP_NONE {
		return j.meetsScopeOf(op, tests, query.Larg) || j.meetsScopeOf(op, tests, query.Rarg)
	}
	var values []*pg.Node
	for _, n := range query.TargetList {
		values = append(values, n.GetResTarget().GetVal())
	}
	return j.meetsScopes(op, tests, values) ||
		slices.ContainsFunc(query.ValuesLists, func(row *pg.Node) bool { return j.meetsScopes(op, tests, row.GetList().GetItems()) })
}

// isValue tells a parameter or literal, and an array of such; one with a cast only where it has no type before: then the cast costs
// nothing. What costs may take the place of the server's id as what Postgres compares the scope column with.
func (j *Judge) isValue(n *pg.Node) bool {
	switch x := n.GetNode().(type) {
	case *pg.Node_ParamRef, *pg.Node_AConst:
		return true
	case *pg.Node_TypeCast:
		return j.IsUntyped(x.TypeCast.Arg) && len(x.TypeCast.TypeName.GetTypmods()) == 0
	case *pg.Node_AArrayExpr:
		return !slices.ContainsFunc(x.AArrayExpr.Elements, func(e *pg.Node) bool { return !j.isValue(e) })
	}
	return false
}
