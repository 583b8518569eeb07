package treetest

import (
	"slices"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// Catalog has scoped tables, one with a column that must not be read, one of another
// type and one of another schema, and a shared one.
func Catalog() *tree.Catalog {
	text := tree.TypeName{Schema: "pg_catalog", Name: "text"}
	c := tree.NewCatalog([]*tree.Table{
		{Schema: "public", Name: "users", Scope: "tenant", Walled: true, ScopeType: text, Columns: []tree.Column{{Name: "id"}, {Name: "tenant"}, {Name: "secret", NoRead: true}, {Name: "name"}}, Keys: [][]string{{"tenant", "id"}}},
		{Schema: "public", Name: "notes", Scope: "tenant", Walled: true, ScopeType: text, Columns: []tree.Column{{Name: "id", Type: text}, {Name: "tenant"}, {Name: "body"}}},
		{Schema: "public", Name: "things", Scope: "tenant", Walled: true, ScopeType: tree.TypeName{Schema: "pg_catalog", Name: "uuid"}, Columns: []tree.Column{{Name: "id"}, {Name: "tenant"}}},
		{Schema: "public", Name: "logs", Scope: "tenant", ScopeType: text, Columns: []tree.Column{{Name: "id", Type: text}, {Name: "tenant", NotNull: true}, {Name: "body"}}},
		{Schema: "public", Name: "events", Scope: "tenant", ScopeType: text, Columns: []tree.Column{{Name: "id"}, {Name: "tenant"}, {Name: "body", Collation: `pg_catalog."C"`}}},
		{Schema: "other", Name: "notes", Scope: "tenant", Walled: true, ScopeType: text, Columns: []tree.Column{{Name: "id", Type: text}, {Name: "tenant"}, {Name: "body"}}},
		{Schema: "public", Name: "flags", Scope: "tenant", Walled: true, ScopeType: text, Columns: []tree.Column{{Name: "id", Type: text}, {Name: "tenant"}, {Name: "done", Type: tree.TypeName{Schema: "pg_catalog", Name: "bool"}}}},
		{Schema: "public", Name: "shared", Columns: []tree.Column{{Name: "id"}}},
	}, nil, nil, []tree.OperatorName{{Name: "=", Left: "text", Right: "text"}}, tree.Complexity{MaxNodes: 5000, MaxDepth: 100})
	c.Builtin = map[string]bool{}
	for _, name := range slices.Concat(tree.Aggregates, tree.SteadyCalls, tree.ArrayCalls, tree.TypeCalls, []string{"chr", "pi", "unnest", "num_nulls", "jsonb_populate_recordset"}) {
		c.Builtin[name] = true
	}
	return c
}
