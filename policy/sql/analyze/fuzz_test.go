package analyze

import (
	"slices"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/lex"
	"github.com/tenantgate/tenantgate/policy/sql/refusal"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
	"github.com/tenantgate/tenantgate/policy/sql/treetest"
	"github.com/tenantgate/tenantgate/proof/texts"
)

// Ensure that a table which does not fit the parser admits nothing.
func TestCatalogWithoutKindsRefuses(t *testing.T) {
	stmt, fault := tree.Parse("SELECT 1")
	if fault != nil {
		t.Fatal(fault)
	}
	if _, fault := Analyze(stmt, &tree.Catalog{Limit: tree.Complexity{MaxNodes: 9, MaxDepth: 9}}); fault == nil {
		t.Error("a catalog without kinds admits a statement")
	}
}

// FuzzAnalyze holds what must be true of the analysis of a tree: no panic, a fault with a
// place, and each name of a table in an admitted tree among the facts.
func FuzzAnalyze(f *testing.F) {
	for _, text := range append(append(texts.Nasty(), texts.Statements()...), texts.Corpus(f)...) {
		f.Add(text)
		f.Add("select " + text)
	}
	c := treetest.Catalog()
	f.Fuzz(func(t *testing.T, text string) {
		tr, fault := lex.Translate(text, lex.Guard{})
		if fault != nil {
			return
		}
		s, fault := tree.Parse(tr.Text)
		if fault != nil {
			return
		}
		found, fault := Analyze(s, c)
		if fault != nil {
			if fault.Code == "" || fault.Code == refusal.Internal || fault.Message == "" || fault.Offset < -1 || fault.Offset > len(tr.Text) {
				t.Fatalf("%q: %+v", text, fault)
			}
			return
		}
		if name := forgotten(s, found, withNames(s, map[string]bool{})); name != "" {
			t.Fatalf("%q: the table %s is not among the facts", text, name)
		}
	})
}

// withNames gives the names of all queries in WITH.
func withNames(m proto.Message, names map[string]bool) map[string]bool {
	if x, ok := m.(*pg.CommonTableExpr); ok {
		names[x.Ctename] = true
	}
	tree.Children(m, func(c proto.Message) bool {
		withNames(c, names)
		return true
	})
	return names
}

// forgotten gives a table's name that the facts lack. FOR UPDATE names aliases, and SET
// (…) = … holds its source once for each column.
func forgotten(m proto.Message, found *facts.Facts, with map[string]bool) (name string) {
	switch n := m.(type) {
	case *pg.LockingClause:
		return ""
	case *pg.MultiAssignRef:
		if n.Colno > 1 {
			return ""
		}
	case *pg.RangeVar:
		known := n.Schemaname == "" && with[n.Relname] || slices.ContainsFunc(found.Tables, func(use *facts.TableUse) bool { return use.Node == n })
		if !known {
			return n.Relname
		}
	}
	tree.Children(m, func(c proto.Message) bool {
		name = forgotten(c, found, with)
		return name == ""
	})
	return name
}
