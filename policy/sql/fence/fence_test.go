package fence

import (
	"testing"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/tenantgate/tenantgate/policy/sql/facts"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
	"github.com/tenantgate/tenantgate/policy/sql/treetest"
	"github.com/tenantgate/tenantgate/policy/sql/types"
)

// oneTable resolves every column reference to a text column of one table; server is its scope column.
type oneTable struct{ table *Relation }

func (o oneTable) Same(a, b *pg.ColumnRef) bool { return tree.Equal(a, b) }

func (o oneTable) Column(ref *pg.ColumnRef) types.Column {
	if ref == nil {
		return types.Column{}
	}
	return types.Column{Type: tree.TypeName{Schema: "pg_catalog", Name: "text"}}
}

func (o oneTable) Reference(ref *pg.ColumnRef) Reference {
	if ref == nil {
		return Reference{}
	}
	scope := tree.LastName(ref.GetFields()) == "server"
	return Reference{Relations: []*Relation{o.table}, Scope: scope, Ours: scope}
}

func (o oneTable) WithQuery(*pg.RangeVar) (*pg.Node, bool) { return nil, false }

// Ensure what can fail, and only that, is guarded, and behind row-level security only what that does not keep.
func TestProtect(t *testing.T) {
	for where, guarded := range map[string]struct{ free, walled bool }{
		"a = 'x'":                 {},
		"a = $1 OR NOT b IS NULL": {},
		"a IN ('x', 'y')":         {},
		"server = $1":             {},
		"server = a":              {true, true}, // the planner's statistics tell of it
		"(t.*, a, server, 'x') = (a, b, server, u.*)": {true, true}, // the two may stand beside others
		"a LIKE 'x'":                    {true, false},
		"lower(a) = 'x'":                {true, false},
		"a = 'x' OR b LIKE 'y'":         {true, false},
		"a = 'x' OR 1 / 0 > 0":          {true, true}, // it holds no column
		"ARRAY[a, b]::text[] @> '{x}'":  {true, true},
		"a[1] = 'x'":                    {true, true},
		"coalesce('x', a) LIKE 'x'":     {true, true}, // a constant to Postgres
		"a = (SELECT b UNION SELECT a)": {true, true},
	} {
		for _, walled := range []bool{false, true} {
			want := guarded.free
			if walled {
				want = guarded.walled
			}
			if got := protects(t, where, InWhere, walled); got != want {
				t.Errorf("%s: guarded %t, walled %t", where, got, walled)
			}
		}
	}
}

// Ensure a HAVING of an aggregate is not guarded, and one of what may be the column of a row is.
func TestProtectHaving(t *testing.T) {
	for having, want := range map[string]bool{
		"max(a) LIKE 'x'":                     false,
		"count(mine.f(a)) > 1":                true,
		"max(mine.f(a)) LIKE 'x'":             true,
		"max(lower(mine.f(a))) LIKE 'x'":      true,
		"max((SELECT mine.f(a))) LIKE 'x'":    true,
		"max(DISTINCT mine.f(a)) LIKE 'x'":    false, // certainly an aggregate
		"max(a) FILTER (WHERE true) LIKE 'x'": false,
	} {
		if got := protects(t, having, InHaving, false); got != want {
			t.Errorf("%s: guarded %t", having, got)
		}
	}
}

// protects tells whether a condition on a scoped table is guarded.
func protects(t *testing.T, where string, of Place, walled bool) bool {
	t.Helper()
	stmt, fault := tree.Parse("SELECT 1 FROM m WHERE " + where)
	if fault != nil {
		t.Fatal(fault)
	}
	names := oneTable{&Relation{Table: true, Exposed: true, Walled: walled, Use: &facts.TableUse{}}}
	f := &facts.Facts{}
	j := New(types.New(treetest.Catalog(), names, nil, nil), names, f)
	query := stmt.Stmt.GetSelectStmt()
	level := Level{Relations: []*Relation{names.table}, Start: j.Begin(query)}
	j.Enter(names.table)
	if fault := j.Protect(level, query.WhereClause, of); fault != nil {
		t.Fatalf("%s: %+v", where, fault)
	}
	return len(f.Clauses) > 0
}
