package doctor

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/wall"
)

// table is what all policies together say of one table: what any of them admits is
// admitted. It is what the relation named of prelude.go is made of.
type table struct {
	Schema     string        `json:"schema"`
	Name       string        `json:"name"`
	Scoped     bool          `json:"scoped"`
	Column     string        `json:"column"`
	Scopes     []string      `json:"scopes"` // the columns by which policies scope it: one, or they differ
	Ruled      []string      `json:"ruled"`  // columns that a policy opens or closes
	Access     []policy.Kind `json:"access"`
	Hidden     []string      `json:"hidden"`     // columns that no policy lets read
	Locked     []string      `json:"locked"`     // columns that no policy lets write
	Shared     []string      `json:"shared"`     // policies that declare the table not scoped
	Expression string        `json:"expression"` // what the wall's policy compares
	Textual    string        `json:"textual"`    // what it would compare were the scope column text
	Custom     bool          `json:"custom"`     // every policy that scopes it lets the planner see values

	ident string // the name as SQL writes it; "" if there is no such table, or no column that it is scoped by
	oid   uint32 // with ident
}

// function is one outside pg_catalog that a policy allows.
type function struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
}

// named is what the policies name in the database.
type named struct {
	Tables    []*table   `json:"tables"`
	Functions []function `json:"functions"`
}

func newNamed(files []*policy.File, sets map[string][]string) (*named, error) {
	n := &named{Tables: []*table{}, Functions: []function{}}
	for _, f := range files {
		for _, t := range f.Tables {
			n.add(f, t)
		}
		functions, err := f.AllowedFunctions(sets)
		if err != nil {
			return nil, fmt.Errorf("reading the functions of the policy %s: %w", f.Name, err)
		}
		for _, name := range functions {
			if name.Schema != "pg_catalog" {
				n.Functions = append(n.Functions, function(name))
			}
		}
	}
	return n, nil
}

// add joins what one policy says of a table to what others said.
func (n *named) add(f *policy.File, section policy.TableSection) {
	i := slices.IndexFunc(n.Tables, func(t *table) bool { return t.Schema == section.Schema && t.Name == section.Name })
	first := i < 0
	if first {
		i = len(n.Tables)
		n.Tables = append(n.Tables, &table{Schema: section.Schema, Name: section.Name, Access: []policy.Kind{}, Scopes: []string{}, Ruled: []string{}, Shared: []string{}})
	}
	t := n.Tables[i]
	var access []policy.Kind
	for _, kind := range section.Access {
		if slices.Contains(f.Statement.Kinds, kind) {
			access = append(access, kind)
		}
	}
	hidden, locked := closedColumns(section)
	if first {
		t.Hidden, t.Locked = hidden, locked
	} else {
		t.Hidden, t.Locked = both(t.Hidden, hidden), both(t.Locked, locked)
	}
	if !section.Scoped && len(access) > 0 {
		t.Shared = append(t.Shared, f.Name)
	}
	if section.Scoped {
		t.Custom = f.Planner == policy.Custom && (t.Custom || !t.Scoped)
		t.Scoped, t.Column = true, section.Column
		t.Scopes = joined(t.Scopes, section.Column)
	}
	for _, c := range section.Columns {
		t.Ruled = joined(t.Ruled, c.Name)
	}
	for _, kind := range access {
		t.Access = joined(t.Access, kind)
	}
}

// joined adds one to a list that does not have it.
func joined[T comparable](list []T, one T) []T {
	if slices.Contains(list, one) {
		return list
	}
	return append(list, one)
}

// closedColumns are those that a policy keeps from being read, and from being written.
func closedColumns(section policy.TableSection) (hidden, locked []string) {
	hidden, locked = []string{}, []string{}
	for _, c := range section.Columns {
		if !c.Read {
			hidden = append(hidden, c.Name)
		}
		if !c.Write {
			locked = append(locked, c.Name)
		}
	}
	return hidden, locked
}

// both keeps what is in both lists.
func both(a, b []string) []string {
	kept := []string{}
	for _, name := range a {
		if slices.Contains(b, name) {
			kept = append(kept, name)
		}
	}
	return kept
}

// settle notes the types of the scope columns, by which the wall's expressions differ.
func (n *named) settle(types map[policy.TableName]policy.Type) {
	for _, t := range n.Tables {
		if typ, ok := types[policy.TableName{Schema: t.Schema, Name: t.Name}]; ok && t.Scoped {
			t.Expression, t.Textual = wall.Expression(t.Column, typ.Schema, typ.Name), wall.Expression(t.Column, "pg_catalog", "text")
		}
	}
}

// text is what the queries are given.
func (n *named) text() (string, error) {
	src, err := json.Marshal(n)
	if err != nil {
		return "", fmt.Errorf("writing what the policies name: %w", err)
	}
	return string(src), nil
}
