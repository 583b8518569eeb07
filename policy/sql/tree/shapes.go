package tree

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// RefName is the name by which a query refers to a table in its FROM.
func RefName(v *pg.RangeVar) string {
	if v.Alias != nil {
		return v.Alias.Aliasname
	}
	return v.Relname
}

// ColumnPair gives the two sides of a.x = b.y; nil for anything else.
func ColumnPair(n *pg.Node) (left, right *pg.Node) {
	left, right = Equation(n)
	if left.GetColumnRef() == nil || right.GetColumnRef() == nil {
		return nil, nil
	}
	return left, right
}

// Equation gives the two sides of x = y; nil for anything else.
func Equation(n *pg.Node) (left, right *pg.Node) {
	e := n.GetAExpr()
	if e.GetKind() != pg.A_Expr_Kind_AEXPR_OP || LastName(e.Name) != "=" {
		return nil, nil
	}
	return e.Lexpr, e.Rexpr
}

// IsDistinct tells IS [NOT] DISTINCT FROM, which is a test for NULL where one side is NULL.
func IsDistinct(e *pg.A_Expr) bool {
	return e.GetKind() == pg.A_Expr_Kind_AEXPR_DISTINCT || e.GetKind() == pg.A_Expr_Kind_AEXPR_NOT_DISTINCT
}

// IsComputation tells an operator whose result is computed from both operands and is no
// comparison. What is not known to be one counts as a comparison.
func IsComputation(e *pg.A_Expr) bool {
	return e.Kind == pg.A_Expr_Kind_AEXPR_OP &&
		slices.Contains([]string{"+", "-", "*", "/", "%", "^", "||", "->", "->>", "#>", "#>>", "#-"}, LastName(e.Name))
}

// HasVariable tells whether something beneath m is not known before the statement runs: a column,
// a placeholder or a sub-query.
func HasVariable(m proto.Message) bool {
	switch m.(type) {
	case *pg.ColumnRef, *pg.ParamRef, *pg.SubLink:
		return true
	}
	return AnyChild(m, HasVariable)
}

// HoldsColumn tells whether a column stands in m, at its own query level.
func HoldsColumn(m proto.Message) bool {
	_, isColumn := m.(*pg.ColumnRef)
	return isColumn || AnyOfLevel(m, HoldsColumn)
}

// SubLinks calls visit for the sub-queries of expressions beneath m, and not for those inside
// of them.
func SubLinks(m proto.Message, visit func(*pg.SubLink)) {
	if m == nil {
		return
	}
	switch n := m.(type) {
	case *pg.SubLink:
		visit(n)
		return
	case *pg.MultiAssignRef:
		if n.Colno > 1 { // a copy of the first one's source
			return
		}
	}
	Children(m, func(c proto.Message) bool {
		SubLinks(c, visit)
		return true
	})
}

// Comparisons are the operators that compare by order or equality. BETWEEN, IN, CASE and USING use them without writing them.
func Comparisons() []string { return []string{"=", "<>", "!=", "<", "<=", ">", ">="} }

// IsComparison tells whether an operator is one of Comparisons.
func IsComparison(op string) bool { return slices.Contains(Comparisons(), op) }

// Star gives the reference when an entry of a list is * or r.*.
func Star(n *pg.Node) *pg.ColumnRef {
	ref := n.GetColumnRef()
	if ref == nil || ref.Fields[len(ref.Fields)-1].GetAStar() == nil {
		return nil
	}
	return ref
}

// LastName gives the last plain name of a list of names, stars and subscripts.
func LastName(nodes []*pg.Node) string {
	for i := len(nodes) - 1; i >= 0; i-- {
		if s := nodes[i].GetString_(); s != nil {
			return s.Sval
		}
	}
	return ""
}

// Conjuncts gives what is joined by AND at the top of a condition.
func Conjuncts(n *pg.Node) []*pg.Node {
	if n == nil {
		return nil
	}
	b := n.GetBoolExpr()
	if b == nil || b.Boolop != pg.BoolExprType_AND_EXPR {
		return []*pg.Node{n}
	}
	var all []*pg.Node
	for _, arg := range b.Args {
		all = append(all, Conjuncts(arg)...)
	}
	return all
}

// WithoutCasts takes the casts off an expression.
func WithoutCasts(n *pg.Node) *pg.Node {
	for n.GetTypeCast() != nil {
		n = n.GetTypeCast().Arg
	}
	return n
}

// Lossless tells whether a cast that a caller has around the server's id keeps it whole:
// ?::varchar(5) would write another one.
func Lossless(n *pg.TypeName, t *Table) bool {
	names, ok := Strings(n.Names)
	if !ok || len(n.Typmods)+len(n.ArrayBounds) > 0 || len(names) == 0 || len(names) > 1 && (len(names) > 2 || names[0] != "pg_catalog") {
		return false
	}
	name := names[len(names)-1]
	return name == "text" || name == "varchar" || t.ScopeType == TypeName{"pg_catalog", name}
}

// PlainSubquery gives what (SELECT …) without anything else selects.
func PlainSubquery(n *pg.Node) (*pg.Node, bool) {
	s := n.GetSubLink()
	list := s.GetSubselect().GetSelectStmt().GetTargetList()
	if s.GetSubLinkType() != pg.SubLinkType_EXPR_SUBLINK || s.Testexpr != nil || len(s.OperName) > 0 || len(list) != 1 {
		return nil, false
	}
	plain := &pg.SelectStmt{TargetList: list, LimitOption: pg.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg.SetOperation_SETOP_NONE}
	t := list[0].GetResTarget()
	return t.GetVal(), Equal(s.Subselect.GetSelectStmt(), plain) && t.GetName() == "" && len(t.Indirection) == 0
}

// ExpandsToColumns tells whether an item of a row is as many items as something has columns.
func ExpandsToColumns(n *pg.Node) bool {
	fields := n.GetColumnRef().GetFields()
	if steps := n.GetAIndirection().GetIndirection(); len(steps) > 0 {
		fields = steps
	}
	return len(fields) > 0 && fields[len(fields)-1].GetAStar() != nil
}

// GroupsBySets tells whether a query has ROLLUP, CUBE or GROUPING SETS: they make NULL of
// what they group by in some of their rows.
func GroupsBySets(s *pg.SelectStmt) bool {
	return slices.ContainsFunc(s.GroupClause, func(n *pg.Node) bool { return n.GetGroupingSet() != nil })
}

// SortsByType tells whether ORDER BY or DISTINCT ON has a bare name that is the scope
// column's type: in a select list the server's parameter bears that name.
func SortsByType(s *pg.SelectStmt, t *Table) bool {
	named := func(n *pg.Node) bool {
		names, ok := Strings(n.GetColumnRef().GetFields())
		return ok && len(names) == 1 && names[0] == t.ScopeType.Name
	}
	return slices.ContainsFunc(s.DistinctClause, named) ||
		slices.ContainsFunc(s.SortClause, func(n *pg.Node) bool { return named(n.GetSortBy().GetNode()) })
}
