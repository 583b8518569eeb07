package policy_test

import (
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

// hinting compiles a policy of these lines.
func hinting(t *testing.T, schema policy.Schema, lines string) *policy.Policy {
	t.Helper()
	return compileSource(t, []byte("apiVersion: tenantgate/v1\nkind: Policy\nmetadata: {name: x}\n"+lines), schema)
}

// A hint names what may be used instead, and nothing that is refused as well.
func TestHints(t *testing.T) {
	const kinds = "statement: {kinds: [select]}\nscope: {mode: inject}\n"
	for _, c := range []struct {
		policy, statement, hint string
	}{
		{"tables: {messages: {scoped: true}}\n", "SELECT 1", "it allows no statements: its statement.kinds is empty"},
		{kinds, "DELETE FROM messages", "it allows SELECT"},
		{kinds + "tables: {messages: {scoped: true}, files: {scoped: true, access: []}}\n", "SELECT 1 FROM files", "the policy lists messages"},
		{kinds + "tables: {files: {scoped: true, access: []}}\n", "SELECT 1 FROM files", "the policy opens no table"},
	} {
		if r := hinting(t, readSchema(t), c.policy).Decide(c.statement, policy.Postgres).Reason; r.Hint != c.hint {
			t.Errorf("%s under %s: %+v, want the hint %q", c.statement, c.policy, r, c.hint)
		}
	}
}

// A server whose id can't stand in the scope column is told how to make one that can.
func TestUnfitServerID(t *testing.T) {
	schema := scopedBy(t, "pg_catalog", "uuid")
	p := hinting(t, schema, "statement: {kinds: [select]}\nscope: {mode: inject}\ntables: {messages: {scoped: true}}\n")
	_, r := p.Decide("SELECT id FROM messages", policy.Postgres).Approved.Bind("srv-a", nil)
	if r == nil || r.Code != policy.QueryFailed || r.Message != "this server's id can't stand in the scope column, whose type is uuid" || r.Hint != "make a server with an id that is spelled as the rows have it: the member id over REST, or --id of tenantgate server create" {
		t.Errorf("%+v", r)
	}
}
