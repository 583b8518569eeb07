package tree

import (
	"cmp"

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
