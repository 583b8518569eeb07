package analyze

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// figureName gives the name that Postgres gives to an unnamed expression of a select
// list (FigureColname in its parser), once the expression was analyzed; "" where that is
// not known. A cast names what has no strong name of its own.
func (a *analyzer) figureName(n *pg.Node) string {
	if name := a.strongName(n); name != "" || a.unnamed(n) {
		return name
	}
	return tree.WeakName(n)
}

// unnamed tells whether an expression takes its name from a sub-query, whose own is not
// known.
func (a *analyzer) unnamed(n *pg.Node) bool {
	sub := tree.Naming(n).GetSubLink()
	_, known := a.subqueries[sub]
	return sub != nil && sub.SubLinkType == pg.SubLinkType_EXPR_SUBLINK && !known
}

// strongName is tree.StrongName, and for a sub-query that is a value the name of its column.
func (a *analyzer) strongName(n *pg.Node) string {
	if s := tree.Naming(n).GetSubLink(); s != nil && s.SubLinkType == pg.SubLinkType_EXPR_SUBLINK {
		return a.subqueries[s]
	}
	return tree.StrongName(n)
}
