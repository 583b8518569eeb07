package policy_test

import (
	"strings"
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
		if r := hinting(t, readSchema(t), c.policy).Decide(c.statement, policy.Postgres).Refusal; r.Hint != c.hint {
			t.Errorf("%s under %s: %+v, want the hint %q", c.statement, c.policy, r, c.hint)
		}
	}
}

// A hint names a type by its name in SQL only where the type may be named.
func TestHintsNameAllowedTypes(t *testing.T) {
	file, err := policy.Parse([]byte("apiVersion: tenantgate/v1\nkind: Policy\nmetadata: {name: x}\nstatement: {kinds: [select]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for hint, types := range map[string][]string{
		"built-in data types and the types of the policy's tables may be named": {"text"},
		"perhaps you meant integer": {"text", "int4"},
	} {
		p, err := policy.Compile(file, policy.Schema{}, policy.Sets{Types: types})
		if err != nil {
			t.Fatal(err)
		}
		if r := p.Decide("SELECT '1'::intger", policy.Postgres).Refusal; r.Code != policy.TypeNotAllowed || r.Hint != hint {
			t.Errorf("with %s: %+v", types, r)
		}
	}
}

// TestNearInClosed misspells columns of tables that are closed: by a finding, or by the policy.
func TestNearInClosed(t *testing.T) {
	schema := readSchema(t)
	for i := range schema.Tables {
		if schema.Tables[i].Name == "messages" {
			schema.Tables[i].Findings = []policy.Finding{{Name: "hidden-rule", Object: "r", Breach: true}}
		}
	}
	p := hinting(t, schema, "statement: {kinds: [select, insert, update]}\nscope: {mode: inject}\ntables: {messages: {scoped: true}, files: {scoped: true, access: []}, conversations: {scoped: true}}\n")
	for _, text := range []string{
		"SELECT contnt FROM messages", "SELECT m.contnt FROM conversations, messages m", "SELECT contnt FROM conversations WHERE EXISTS (SELECT FROM messages)",
		"COPY messages (contnt) TO STDOUT", "COPY messages (contnt) FROM STDIN", "COPY messages (contnt, contnt) FROM STDIN",
		"SELECT storage_ky FROM files", "COPY files (storage_ky) TO STDOUT", "COPY files (storage_ky) FROM STDIN",
	} {
		if r := p.Decide(text, policy.Postgres).Refusal; r.Code != policy.TableNotAllowed || strings.Contains(r.Hint, "content") || strings.Contains(r.Hint, "storage_key") {
			t.Errorf("%s: %+v", text, r)
		}
	}
}

// A server whose id can't stand in the scope column is told how to make one that can.
func TestUnfitServerID(t *testing.T) {
	schema := scopedBy(t, "pg_catalog", "uuid")
	p := hinting(t, schema, "statement: {kinds: [select]}\nscope: {mode: inject}\ntables: {messages: {scoped: true}}\n")
	_, r := p.Decide("SELECT id FROM messages", policy.Postgres).Approved.Bind("srv-a", nil)
	if r == nil || r.Code != policy.QueryFailed || r.Message != "this server's id can't be stored in the scope column, whose type is uuid" || r.Hint != "make a server with an id that is spelled as the rows have it: the member id over REST, or --id of tenantgate server create" {
		t.Errorf("%+v", r)
	}
}
