package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
)

// TestScopeColumnsThatDoNotServe compiles tables whose scope column can't keep servers apart.
func TestScopeColumnsThatDoNotServe(t *testing.T) {
	src, _ := policies.Named("default")
	file, err := policy.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		column policy.Column
		serves bool
	}{
		{policy.Column{TypeSchema: "pg_catalog", TypeName: "text"}, true}, {policy.Column{TypeSchema: "pg_catalog", TypeName: "uuid"}, true},
		{policy.Column{TypeSchema: "pg_catalog", TypeName: "int8"}, true}, {policy.Column{TypeSchema: "public", TypeName: "citext"}, true},
		{policy.Column{TypeSchema: "pg_catalog", TypeName: "text", Loose: true}, false}, {policy.Column{TypeSchema: "pg_catalog", TypeName: "numeric"}, false},
		{policy.Column{TypeSchema: "public", TypeName: "text"}, false}, {policy.Column{TypeSchema: "pg_catalog", TypeName: "_text"}, false},
		{policy.Column{TypeSchema: "pg_catalog", TypeName: "char"}, false}, {policy.Column{}, false},
	} {
		schema := readSchema(t)
		columns := schema.Tables[0].Columns
		c.column.Name = "server_id"
		columns[slices.IndexFunc(columns, func(c policy.Column) bool { return c.Name == "server_id" })] = c.column
		_, err := policy.Compile(file, schema, policy.Sets{Functions: policies.Sets(), Types: policies.Types(), Operators: policies.Operators(), Leakproof: policies.Leakproof()})
		if (err == nil) != c.serves || err != nil && !strings.Contains(err.Error(), "can't be a scope column") {
			t.Errorf("%+v: %v", c.column, err)
		}
	}
}

// TestShapesOfAPlan asks on which tables' columns a plan relies: those whose * was spelled
// out, those that an alias renames, and those that an INSERT fills by position.
func TestShapesOfAPlan(t *testing.T) {
	for name, statements := range map[string]map[string]int{
		"default": {
			"SELECT name FROM end_users WHERE server_id = ?":                                       0,
			"SELECT * FROM messages WHERE server_id = ?":                                           0,
			"SELECT * FROM end_users WHERE server_id = ?":                                          1,
			"SELECT f.a FROM files AS f(a, b) WHERE f.b = ?":                                       1,
			"SELECT e.*, f.a FROM end_users e, files AS f(a, b), messages m WHERE e.server_id = ?": 2,
		},
		"inject": {
			"INSERT INTO files VALUES ('f', 'srv-a')":                   1,
			"INSERT INTO files AS f SELECT id, server_id FROM messages": 1,
			"INSERT INTO files (id, server_id) VALUES ('f', 'srv-a')":   0,
			"INSERT INTO files DEFAULT VALUES":                          0,
		},
	} {
		p := compile(t, name, readSchema(t))
		for text, want := range statements {
			bound, reason := p.Decide(text, policy.REST).Approved.Bind("srv-a", nil)
			if reason != nil {
				t.Fatalf("%s: %+v", text, reason)
			}
			if shapes := bound.Approved().Shapes(); len(shapes) != want || want > 0 && !slices.Contains(shapes[0].Columns, "server_id") {
				t.Errorf("%s: %v", text, shapes)
			}
		}
	}
}

// TestAccess asks what each access of a table allows: what ON CONFLICT, RETURNING, WHERE and
// FOR UPDATE do is more than the first word says.
func TestAccess(t *testing.T) {
	for access, allowed := range map[string]string{"select": "s", "insert": "i", "update": "u", "delete": "d", "select, insert": "sir", "insert, update": "iu", "select, insert, update": "sirxlwu", "select, delete": "sdD"} {
		src := "apiVersion: tenantgate/v1\nkind: Policy\nmetadata: {name: x}\nmode: enforce\nstatement: {kinds: [select, insert, update, delete]}\nscope: {mode: inject}\n" +
			"tables: {messages: {scoped: true, access: [" + access + "]}}\n"
		file, err := policy.Parse([]byte(src))
		if err != nil {
			t.Fatal(err)
		}
		p, err := policy.Compile(file, readSchema(t), policy.Sets{Operators: []string{"="}})
		if err != nil {
			t.Fatal(err)
		}
		for letter, text := range map[string]string{
			"s": "SELECT id FROM messages", "i": "INSERT INTO messages (id) VALUES ('a')", "r": "INSERT INTO messages (id) VALUES ('a') RETURNING id",
			"x": "INSERT INTO messages (id) VALUES ('a') ON CONFLICT (server_id, id) DO UPDATE SET role = 'x'", "l": "SELECT id FROM messages FOR UPDATE",
			"u": "UPDATE messages SET role = 'x'", "w": "UPDATE messages SET role = 'x' WHERE id = 'a'", "d": "DELETE FROM messages", "D": "DELETE FROM messages WHERE id = 'a'",
		} {
			d := p.Decide(text, policy.REST)
			want := policy.Code("")
			if !strings.Contains(allowed, letter) {
				want = policy.TableNotAllowed
			}
			if d.Refusal.Code != want {
				t.Errorf("[%s] %s: %+v", access, text, d.Refusal)
			}
		}
	}
}

// TestTooManyArguments binds more arguments than a policy takes.
func TestTooManyArguments(t *testing.T) {
	d := compile(t, "default", readSchema(t)).Decide("SELECT 1 WHERE ? = 'a'", policy.REST)
	if _, reason := d.Approved.Bind("srv-a", make([]policy.Arg, 1001)); reason == nil || reason.Code != policy.ArgumentCount || !strings.Contains(reason.Message, "at most 1000") {
		t.Errorf("%+v", reason)
	}
}
