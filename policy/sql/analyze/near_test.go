package analyze

import (
	"slices"
	"testing"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// TestNear asks which columns a fault carries, whatever is made of it.
func TestNear(t *testing.T) {
	columns := []tree.Column{{Name: "id"}, {Name: "body"}, {Name: "hidden", NoRead: true}, {Name: "fixed", NoWrite: true}, {Name: "made", Generated: true}, {Name: "Sent at"}}
	c := tree.NewCatalog([]*tree.Table{
		{Schema: "public", Name: "notes", Columns: columns}, {Schema: "public", Name: "shut", Closed: true, Columns: columns},
	}, nil, nil, nil, tree.Complexity{MaxNodes: 5000, MaxDepth: 100})
	for text, want := range map[string][]string{
		"SELECT bdy FROM notes":                             {"notes.body"},
		"SELECT hiden FROM notes":                           nil,
		"SELECT fxed FROM notes":                            {"notes.fixed"},
		`SELECT "sent at" FROM notes AS "N"`:                {`"N"."Sent at"`},
		"SELECT bdy FROM shut":                              nil,
		"SELECT shut.bdy FROM shut":                         nil,
		"SELECT notes.bdy FROM shut, notes":                 {"notes.body"},
		"SELECT bdy FROM notes JOIN shut ON true":           {"notes.body"},
		"SELECT 1 FROM notes JOIN shut USING (bdy)":         nil,
		"SELECT 1 FROM notes a JOIN notes b USING (bdy)":    {"body"},
		"SELECT 1 FROM notes a JOIN notes b USING (hiden)":  nil,
		"SELECT a, bdy FROM notes":                          nil, // a is the first fault
		"SELECT bdy FROM (SELECT body AS bdi FROM notes) n": {"n.bdi"},
	} {
		stmt, fault := tree.Parse(text)
		if fault != nil {
			t.Fatal(fault)
		}
		if _, fault = Analyze(stmt, c); fault == nil || fault.SQLState != "42703" || !slices.Equal(fault.Near, want) {
			t.Errorf("%s: %+v, want %q", text, fault, want)
		}
	}
}
