package analyze

import (
	"fmt"
	"slices"
	"strings"
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
		"INSERT INTO notes (bdy) VALUES ('')":               {"body"},
		"INSERT INTO notes (fixxed) VALUES ('')":            nil,
		"UPDATE notes SET mad = ''":                         nil,
		"UPDATE notes SET hiden = ''":                       nil,
		`UPDATE notes SET "sent at" = ''`:                   {`"Sent at"`},
		"UPDATE shut SET bdy = ''":                          nil,
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

// TestNearOnce misspells many columns of a wide table: all names are compared for the first one alone.
func TestNearOnce(t *testing.T) {
	wide := &tree.Table{Schema: "public", Name: "wide"}
	name := strings.Repeat("a", 50)
	for i := range 1000 {
		wide.Columns = append(wide.Columns, tree.Column{Name: fmt.Sprintf("%s_%04d", name, i)})
	}
	c := tree.NewCatalog([]*tree.Table{wide}, nil, nil, nil, tree.Complexity{MaxNodes: 5000, MaxDepth: 100})
	list := func(format string) string {
		names := make([]string, 150)
		for i := range names {
			names[i] = fmt.Sprintf(format, fmt.Sprintf("%sb%d", name, i))
		}
		return strings.Join(names, ", ")
	}
	for _, text := range []string{
		"SELECT " + list("%s") + " FROM wide", "SELECT " + list("w.%s") + " FROM wide w", "SELECT 1 FROM wide a JOIN wide b USING (" + list("%s") + ")",
		"INSERT INTO wide (" + list("%s") + ") VALUES (1)", "UPDATE wide SET " + list("%s = 1"),
	} {
		stmt, fault := tree.Parse(text)
		if fault != nil {
			t.Fatal(fault)
		}
		allocations := testing.AllocsPerRun(1, func() { _, fault = Analyze(stmt, c) })
		if fault == nil || fault.SQLState != "42703" || allocations > 20_000 {
			t.Errorf("%.80s…: %v allocations, %+v", text, allocations, fault)
		}
	}
}
