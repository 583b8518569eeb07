package analyze

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
	"github.com/tenantgate/tenantgate/policy/sql/treetest"
)

// Ensure a name that the analysis did not come to is refused, whatever kind it is.
func TestUnseenNames(t *testing.T) {
	for _, text := range []string{"SELECT a", "SELECT f()", "SELECT 1::int", "SELECT (SELECT 1)", "TABLE t", "UPDATE t SET (a, b) = (SELECT 1, 2)"} {
		stmt, fault := tree.Parse(text)
		if fault != nil {
			t.Fatal(fault)
		}
		a := &analyzer{catalog: treetest.Catalog(), facts: &facts.Facts{}, seen: map[proto.Message]bool{}}
		if a.unseen(stmt); a.fault == nil {
			t.Errorf("%s passes unseen", text)
		}
	}
}

// Ensure a list that grows with every level ends soon, and without much memory.
func TestManyColumns(t *testing.T) {
	from := "(VALUES (1)) a"
	for range 12 {
		from = "(SELECT *,*,*,*,*,*,*,*,*,* FROM " + from + ") a"
	}
	wide := "WITH a AS (SELECT " + strings.Repeat("1,", 1600) + "1) SELECT 1 FROM a a1"
	for i := range 1000 {
		wide += ", a x" + strings.Repeat("y", i%40) + string(rune('a'+i%26))
	}
	for _, text := range []string{"SELECT 1 FROM " + from, wide} {
		stmt, fault := tree.Parse(text)
		if fault != nil {
			t.Fatal(fault)
		}
		bytes := testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if _, fault = Analyze(stmt, treetest.Catalog()); fault == nil || !strings.Contains(fault.Message, "too m") && !strings.Contains(fault.Message, "too complex") {
					b.Fatalf("%+v", fault)
				}
			}
		}).AllocedBytesPerOp()
		if bytes > 64<<20 {
			t.Errorf("%.40s takes %d bytes", text, bytes)
		}
	}
}

// Ensure only pg_catalog's own functions have the columns that are known of them.
func TestColumnsOfAnotherSchemasFunction(t *testing.T) {
	c := tree.NewCatalog(nil, map[string]string{"generate_series": "mine"}, nil, nil, tree.Complexity{MaxNodes: 5000, MaxDepth: 100})
	for text, known := range map[string]bool{
		"SELECT n.n FROM generate_series(1, 2) AS n": false, "SELECT n.n FROM mine.generate_series(1, 2) AS n": false, "SELECT n.n FROM pg_catalog.generate_series(1, 2) AS n": true,
	} {
		stmt, fault := tree.Parse(text)
		if fault != nil {
			t.Fatal(fault)
		}
		if _, fault = Analyze(stmt, c); (fault == nil) != known {
			t.Errorf("%s: %+v", text, fault)
		}
	}
}

// Ensure only casts that keep an id whole may stand around one.
func TestLossless(t *testing.T) {
	users, things := treetest.Catalog().Bare["users"], treetest.Catalog().Bare["things"]
	for text, keeps := range map[string][2]bool{
		"text": {true, true}, "varchar": {true, true}, "pg_catalog.text": {true, true}, "uuid": {false, true}, "varchar(5)": {}, "text[]": {}, `"char"`: {}, "name": {}, "other.text": {}, "a.b.text": {},
	} {
		stmt, fault := tree.Parse("SELECT $1::" + text)
		if fault != nil {
			t.Fatal(fault)
		}
		cast := stmt.Stmt.GetSelectStmt().TargetList[0].GetResTarget().Val.GetTypeCast().TypeName
		if got := [2]bool{tree.Lossless(cast, users), tree.Lossless(cast, things)}; got != keeps {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// refuses checks what the refusal of each text says; "ok" is none.
func refuses(t *testing.T, cases map[string]string) {
	t.Helper()
	for text, want := range cases {
		stmt, fault := tree.Parse(text)
		if fault != nil {
			t.Fatal(text, fault)
		}
		_, fault = Analyze(stmt, treetest.Catalog())
		if fault == nil && want != "ok" || fault != nil && (want == "ok" || !strings.Contains(fault.Message, want)) {
			t.Errorf("%s: %+v", text, fault)
		}
	}
}
