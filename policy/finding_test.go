package policy_test

import (
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
)

// A breach closes the table for whatever names it, unless the policy accepts just that finding
// of just that object; a tell closes nothing.
func TestBreachClosesTable(t *testing.T) {
	src, _ := policies.Named("inject")
	schema := readSchema(t)
	for i := range schema.Tables {
		if schema.Tables[i].Name == "messages" {
			schema.Tables[i].Findings = []policy.Finding{{Name: "hidden-unique", Object: "k"}, {Name: "hidden-rule", Object: "r", Breach: true}}
		}
	}
	for accept, closed := range map[string]bool{
		"": true, "[]": true,
		"[{finding: hidden-rule, object: r, reason: why}]":                                                         false,
		"[{finding: hidden-rule, object: s, reason: why}]":                                                         true,
		"[{finding: hidden-function, object: r, reason: why}]":                                                     true,
		"[{finding: hidden-rule, object: s, reason: why}, {finding: hidden-rule, object: r, reason: another one}]": false,
	} {
		text := string(src)
		if accept != "" {
			text = strings.Replace(text, "messages:      {scoped: true", "messages: {accept: "+accept+", scoped: true", 1)
		}
		file, err := policy.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		p, err := policy.Compile(file, schema, policy.Sets{Functions: policies.Sets(), Types: policies.Types(), Operators: policies.Operators(), Leakproof: policies.Leakproof()})
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range []string{"SELECT id FROM messages", "DELETE FROM messages", "SELECT id FROM files WHERE EXISTS (SELECT FROM messages)", "SELECT nothing FROM messages"} {
			r := p.Decide(statement, policy.Postgres).Refusal
			if got := r.Code == policy.TableNotAllowed && r.Message == "table messages is closed: hidden-rule" && r.Hint != ""; got != closed {
				t.Errorf("%s, %s: %+v", accept, statement, r)
			}
		}
		if r := p.Decide("SELECT id FROM nothing", policy.Postgres).Refusal; strings.Contains(r.Hint, "messages") == closed {
			t.Errorf("%s: closed is %v, and the hint says %q", accept, closed, r.Hint)
		}
		if r := p.Decide("SELECT id FROM files", policy.Postgres).Refusal; r.Code != "" {
			t.Errorf("another table: %+v", r)
		}
	}
}
