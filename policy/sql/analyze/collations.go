package analyze

import (
	"maps"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// conflict tells whether two operands may have two collations of their own, with no COLLATE
// to decide: then their comparison has none, and fails.
func (a *analyzer) conflict(left, right *pg.Node) bool {
	l, r := a.collated(left), a.collated(right)
	switch {
	case left.GetCollateClause() != nil || right.GetCollateClause() != nil || !l && !r:
		return false
	case l && r:
		known := a.collationOf(left)
		return known == "" || known != a.collationOf(right)
	case l:
		return !a.yields(right)
	}
	return !a.yields(left)
}

// yields tells whether an expression certainly has the collation of its type, which gives
// way to another's, or none. What is of type name has one of its own.
func (a *analyzer) yields(n *pg.Node) bool {
	parts := append(slices.Clone(n.GetList().GetItems()), n.GetAArrayExpr().GetElements()...)
	if len(parts) > 0 {
		return !slices.ContainsFunc(parts, func(part *pg.Node) bool { return !a.yields(part) })
	}
	t, known := a.typeOf(n)
	return n == nil || known && t != "name" || a.names[n.GetColumnRef()].typ != tree.TypeName{}
}

// collationOf gives the collation of an expression where it has another one than its type:
// that of all in it which has one. "" where that isn't known.
func (a *analyzer) collationOf(n *pg.Node) string {
	found := map[string]bool{}
	a.collations(n, found)
	if len(found) != 1 {
		return ""
	}
	return slices.Collect(maps.Keys(found))[0]
}

func (a *analyzer) collations(m proto.Message, found map[string]bool) {
	switch x := m.(type) {
	case *pg.CollateClause:
		names, _ := tree.Strings(x.Collname)
		found[spelled(names)] = true
		return
	case *pg.ColumnRef:
		if a.names[x].collated {
			found[a.names[x].collation] = true
		}
	case *pg.TypeName:
		if a.isName(x) {
			found[nameCollation] = true
		}
	}
	tree.Children(m, func(c proto.Message) bool {
		a.collations(c, found)
		return true
	})
}

// spelled gives the collation that COLLATE names as the catalog does. What stands in no
// schema is pg_catalog's if that has it, as it has these.
func spelled(names []string) string {
	if len(names) == 1 && (names[0] == "C" || names[0] == "POSIX") {
		names = []string{"pg_catalog", names[0]}
	}
	if len(names) == 2 {
		return names[0] + "." + lex.Quote(names[1])
	}
	return "COLLATE " + strings.Join(names, ".")
}

// nameCollation is that of the type name.
const nameCollation = `pg_catalog."C"`

// isName tells the type name, and an array of it.
func (a *analyzer) isName(t *pg.TypeName) bool {
	name := a.catalogType(t)
	return name == "name" || name == "_name"
}

// collated tells whether something in an expression may have another collation than its type.
func (a *analyzer) collated(n *pg.Node) bool { return n != nil && a.collatedBeneath(n) }

func (a *analyzer) collatedBeneath(m proto.Message) bool {
	switch x := m.(type) {
	case *pg.Node:
		found, done := a.collates[x]
		if !done {
			found = tree.AnyChild(m, a.collatedBeneath)
			a.collates[x] = found
		}
		return found
	case *pg.CollateClause:
		return true
	case *pg.ColumnRef:
		return a.names[x].collated
	case *pg.TypeName:
		return a.isName(x)
	case *pg.A_Expr: // a truth value has no collation
		if x.Kind == pg.A_Expr_Kind_AEXPR_OP && tree.IsComparison(tree.LastName(x.Name)) {
			return false
		}
	}
	return tree.AnyChild(m, a.collatedBeneath)
}
