package types

import (
	"maps"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// Conflict tells whether two operands may have two collations of their own, with no COLLATE
// to decide: then their comparison has none, and fails.
func (ts *Types) Conflict(left, right *pg.Node) bool {
	l, r := ts.IsCollated(left), ts.IsCollated(right)
	switch {
	case left.GetCollateClause() != nil || right.GetCollateClause() != nil || !l && !r:
		return false
	case l && r:
		known := ts.CollationOf(left)
		return known == "" || known != ts.CollationOf(right)
	case l:
		return !ts.yields(right)
	}
	return !ts.yields(left)
}

// yields tells whether an expression certainly has the collation of its type, which gives
// way to another's, or none. What is of type name has one of its own.
func (ts *Types) yields(n *pg.Node) bool {
	parts := append(slices.Clone(n.GetList().GetItems()), n.GetAArrayExpr().GetElements()...)
	if len(parts) > 0 {
		return !slices.ContainsFunc(parts, func(part *pg.Node) bool { return !ts.yields(part) })
	}
	t, known := ts.TypeOf(n)
	return n == nil || known && t != "name" || ts.names.Column(n.GetColumnRef()).Type != tree.TypeName{}
}

// CollationOf gives the collation of an expression where it has another one than its type:
// that of all in it which has one. "" where that isn't known.
func (ts *Types) CollationOf(n *pg.Node) string {
	found := map[string]bool{}
	ts.collations(n, found)
	if len(found) != 1 {
		return ""
	}
	return slices.Collect(maps.Keys(found))[0]
}

func (ts *Types) collations(m proto.Message, found map[string]bool) {
	switch x := m.(type) {
	case *pg.CollateClause:
		names, _ := tree.Strings(x.Collname)
		found[spelled(names)] = true
		return
	case *pg.ColumnRef:
		if ts.names.Column(x).Collated {
			found[ts.names.Column(x).Collation] = true
		}
	case *pg.TypeName:
		if ts.isName(x) {
			found[NameCollation] = true
		}
	}
	tree.Children(m, func(c proto.Message) bool {
		ts.collations(c, found)
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

// NameCollation is that of the type name.
const NameCollation = `pg_catalog."C"`

// isName tells the type name, and an array of it.
func (ts *Types) isName(t *pg.TypeName) bool {
	name := ts.CatalogType(t)
	return name == "name" || name == "_name"
}

// IsCollated tells whether something in an expression may have another collation than its type.
func (ts *Types) IsCollated(n *pg.Node) bool { return n != nil && ts.collatedBeneath(n) }

func (ts *Types) collatedBeneath(m proto.Message) bool {
	switch x := m.(type) {
	case *pg.Node:
		found, done := ts.collates[x]
		if !done {
			found = tree.AnyChild(m, ts.collatedBeneath)
			ts.collates[x] = found
		}
		return found
	case *pg.CollateClause:
		return true
	case *pg.ColumnRef:
		return ts.names.Column(x).Collated
	case *pg.TypeName:
		return ts.isName(x)
	case *pg.A_Expr: // a truth value has no collation
		if x.Kind == pg.A_Expr_Kind_AEXPR_OP && tree.IsComparison(tree.LastName(x.Name)) {
			return false
		}
	}
	return tree.AnyChild(m, ts.collatedBeneath)
}
