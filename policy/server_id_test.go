package policy_test

import (
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

// scopedBy gives the bundled schema with scope columns of a type, but for the table files, where it is text.
func scopedBy(t *testing.T, typeSchema, typeName string) policy.Schema {
	t.Helper()
	schema := readSchema(t)
	for i := range schema.Tables {
		for j, c := range schema.Tables[i].Columns {
			if c.Name == "server_id" && schema.Tables[i].Name != "files" {
				schema.Tables[i].Columns[j].TypeSchema, schema.Tables[i].Columns[j].TypeName = typeSchema, typeName
			}
		}
	}
	return schema
}

// What is said of an id before there is a server is what Bind does with the statements of one that has it.
func TestCheckServerID(t *testing.T) {
	const uuid = "01a1fd8d-0b00-7048-b8e5-47b190298c79"
	const lines = "statement: {kinds: [select]}\nscope: {mode: inject}\ntables: {files: {scoped: true}, messages: {scoped: true}}\n"
	for _, c := range []struct{ schema, name, id, says string }{
		{"pg_catalog", "text", "acme-1", ""}, {"pg_catalog", "varchar", "acme-1", ""}, {"public", "citext", "Acme", ""}, {"public", "citext", uuid, ""},
		{"pg_catalog", "uuid", uuid, ""}, {"pg_catalog", "int8", "42", ""}, {"pg_catalog", "int2", "-1", ""},
		{"pg_catalog", "uuid", "acme-1", "the scope column server_id of public.messages has the type uuid, which takes only UUIDs, in lower case and with hyphens"},
		{"pg_catalog", "uuid", "01A1FD8D-0b00-7048-b8e5-47b190298c79", "the scope column server_id of public.messages has the type uuid, which takes only UUIDs, in lower case and with hyphens"},
		{"pg_catalog", "int8", uuid, "the scope column server_id of public.messages has the type int8, which takes only whole numbers of 8 bytes, without a plus sign or leading zeros"},
		{"pg_catalog", "int2", "70000", "the scope column server_id of public.messages has the type int2, which takes only whole numbers of 2 bytes, without a plus sign or leading zeros"},
		{"pg_catalog", "int4", "042", "the scope column server_id of public.messages has the type int4, which takes only whole numbers of 4 bytes, without a plus sign or leading zeros"},
	} {
		schema := scopedBy(t, c.schema, c.name)
		known, err := parsed(t, lines).CheckServerID(schema, c.id)
		said := ""
		if err != nil {
			said = err.Error()
		}
		if !known || said != c.says {
			t.Errorf("%s as %s: %q, known %v", c.id, c.name, said, known)
		}
		_, reason := hinting(t, schema, lines).Decide("SELECT id FROM messages", policy.Postgres).Approved.Bind(c.id, nil)
		if (reason == nil) != (err == nil) {
			t.Errorf("%s as %s: Bind says %+v, and CheckServerID %v", c.id, c.name, reason, err)
		}
	}
}

// Tables that no statement reaches do not count.
func TestCheckServerIDOfTablesOutOfReach(t *testing.T) {
	schema := scopedBy(t, "pg_catalog", "uuid")
	for _, c := range []struct {
		tables string
		known  bool
	}{
		{"messages: {scoped: true, access: []}", false}, {"none: {scoped: true}", false}, {"messages: {scoped: true, column: none}", false}, {"messages: {scoped: false}", false},
		{"messages: {scoped: true, access: []}, files: {scoped: true}", true},
	} {
		if known, err := parsed(t, "statement: {kinds: [select]}\ntables: {"+c.tables+"}\n").CheckServerID(schema, "acme-1"); known != c.known || err != nil {
			t.Errorf("%s: %v %v", c.tables, known, err)
		}
	}
}

func parsed(t *testing.T, lines string) *policy.File {
	t.Helper()
	f, err := policy.Parse([]byte("apiVersion: tenantgate/v1\nkind: Policy\nmetadata: {name: x}\n" + lines))
	if err != nil {
		t.Fatal(err)
	}
	return f
}
