package tree

import (
	"cmp"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// What Postgres calls a column that has no name in the text (FigureColname in its parser): a column, a call or a sub-query has a strong
// name. A cast, COLLATE, an element or CASE has that of what it holds. Where this has none, a cast has the name of its type, and
// CASE is called case.

// Holds gives what a cast, COLLATE, an element or the ELSE of a CASE takes its name from; nil for any other expression.
func Holds(n *pg.Node) *pg.Node {
	switch x := n.GetNode().(type) {
	case *pg.Node_TypeCast:
		return x.TypeCast.Arg
	case *pg.Node_CollateClause:
		return x.CollateClause.Arg
	case *pg.Node_AIndirection:
		return x.AIndirection.Arg
	case *pg.Node_CaseExpr:
		return x.CaseExpr.Defresult
	}
	return nil
}

// Naming gives the expression that may give an entry of a select list a strong name.
func Naming(n *pg.Node) *pg.Node {
	for held := Holds(n); held != nil; held = Holds(n) {
		n = held
	}
	return n
}

// WeakName gives the name of an entry of a select list without a strong one.
func WeakName(n *pg.Node) string {
	return cmp.Or(weakName(n), "?column?")
}

func weakName(n *pg.Node) string {
	switch x := n.GetNode().(type) {
	case *pg.Node_TypeCast:
		return LastName(x.TypeCast.TypeName.Names)
	case *pg.Node_CaseExpr:
		return "case"
	case *pg.Node_CollateClause, *pg.Node_AIndirection:
		return weakName(Holds(n))
	}
	return ""
}

// StrongName gives the strong name of an entry of a select list; "" for none, and for a sub-query that is a value.
func StrongName(n *pg.Node) string {
	n = Naming(n)
	switch x := n.GetNode().(type) {
	case *pg.Node_ColumnRef:
		return LastName(x.ColumnRef.Fields)
	case *pg.Node_FuncCall:
		return LastName(x.FuncCall.Funcname)
	case *pg.Node_AExpr:
		if x.AExpr.Kind == pg.A_Expr_Kind_AEXPR_NULLIF {
			return "nullif"
		}
	case *pg.Node_MinMaxExpr:
		if x.MinMaxExpr.Op == pg.MinMaxOp_IS_LEAST {
			return "least"
		}
		return "greatest"
	case *pg.Node_SqlvalueFunction:
		op := strings.TrimPrefix(x.SqlvalueFunction.Op.String(), "SVFOP_")
		return strings.ToLower(strings.TrimSuffix(op, "_N"))
	}
	return fixedName(n)
}

func fixedName(n *pg.Node) string {
	switch x := n.GetNode().(type) {
	case *pg.Node_GroupingFunc:
		return "grouping"
	case *pg.Node_AArrayExpr:
		return "array"
	case *pg.Node_RowExpr:
		return "row"
	case *pg.Node_CoalesceExpr:
		return "coalesce"
	case *pg.Node_SubLink:
		switch x.SubLink.SubLinkType {
		case pg.SubLinkType_EXISTS_SUBLINK:
			return "exists"
		case pg.SubLinkType_ARRAY_SUBLINK:
			return "array"
		}
	}
	return ""
}

// isCalled tells whether Postgres may call an entry of a select list so: the name of a sub-query's column is not known here.
func isCalled(t *pg.ResTarget, name string) bool {
	if t.GetName() != "" {
		return t.Name == name
	}
	isValue := Naming(t.GetVal()).GetSubLink().GetSubLinkType() == pg.SubLinkType_EXPR_SUBLINK
	return isValue || cmp.Or(StrongName(t.GetVal()), WeakName(t.GetVal())) == name
}

// Groups gives the expressions by which a query level groups: of a list in brackets and of sets each, and what a position in the
// select list or a name there may stand for.
func Groups(s *pg.SelectStmt) (list []*pg.Node) {
	for _, n := range s.GroupClause {
		list = groups(n, s.TargetList, list)
	}
	return list
}

// Sorted gives the expressions by which a query level sorts, and by which DISTINCT ON picks rows, as Groups does.
func Sorted(s *pg.SelectStmt) (list []*pg.Node) {
	for _, n := range slices.Concat(s.DistinctClause, s.SortClause) {
		if by := n.GetSortBy(); by != nil {
			n = by.Node
		}
		list = append(groups(n, s.TargetList, list), n)
	}
	return list
}

func groups(n *pg.Node, targets, list []*pg.Node) []*pg.Node {
	parts, at, name := n.GetGroupingSet().GetContent(), -1, ""
	switch x := n.GetNode().(type) {
	case *pg.Node_RowExpr:
		if x.RowExpr.RowFormat == pg.CoercionForm_COERCE_IMPLICIT_CAST {
			parts = x.RowExpr.Args
		}
	case *pg.Node_AConst:
		at = int(x.AConst.GetIval().GetIval())
	case *pg.Node_ColumnRef:
		if names, _ := Strings(x.ColumnRef.Fields); len(names) == 1 {
			name = names[0]
		}
	}
	for _, part := range parts {
		list = groups(part, targets, list)
	}
	if len(parts) > 0 {
		return list
	}
	starred := false
	for i, t := range targets {
		target := t.GetResTarget()
		starred = starred || Star(target.GetVal()) != nil // how many columns that is does not show here
		stands := at == i+1 || at > 0 && starred || name != "" && isCalled(target, name)
		if stands && !slices.Contains(list, target.GetVal()) {
			list = append(list, target.GetVal())
		}
	}
	return append(list, n)
}
