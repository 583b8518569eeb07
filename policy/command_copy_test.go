package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

// TestCopyGenerated copies a table with a generated column: like Postgres' own COPY it leaves
// that one out, and then the plan relies on the table's columns.
func TestCopyGenerated(t *testing.T) {
	schema := readSchema(t)
	schema.Tables = slices.Clone(schema.Tables)
	for i := range schema.Tables {
		if schema.Tables[i].Name == "files" {
			schema.Tables[i].Columns = slices.Clone(schema.Tables[i].Columns)
			schema.Tables[i].Columns[4].Generated = true // name
		}
	}
	p := compile(t, "inject", schema)
	for text, columns := range map[string]string{
		"COPY files TO STDOUT":  `"id", "server_id", "end_user_id", "conversation_id", "content_type", "size_bytes", "storage_key", "created_at" FROM`,
		"COPY files FROM STDIN": `("id", "server_id", "end_user_id", "conversation_id", "content_type", "size_bytes", "storage_key", "created_at")`,
	} {
		d := p.Decide(text, policy.Postgres)
		if d.Verdict != policy.Allow || !strings.Contains(d.Approved.Rewritten(), columns) {
			t.Fatalf("%s: %+v", text, d)
		}
		b, reason := d.Approved.Bind("srv-a", make([]policy.Arg, d.Approved.NumArgs()))
		if reason != nil || len(b.Approved().Shapes()) != 1 || len(b.Approved().Shapes()[0].Columns) != 9 {
			t.Errorf("%s: %+v, %v", text, reason, b.Approved().Shapes())
		}
	}
	if d := p.Decide("COPY files (name) TO STDOUT", policy.Postgres); d.Verdict != policy.Allow {
		t.Errorf("%+v", d.Refusal)
	}
}

// TestSessionCommandsDoNotBind shows that there is nothing to send for what the front end
// alone sees to.
func TestSessionCommandsDoNotBind(t *testing.T) {
	p := compile(t, "inject", readSchema(t))
	for _, text := range []string{"SET x = 1", "RESET ALL", "SHOW x", "DISCARD ALL", "DEALLOCATE ALL", "UNLISTEN *", "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"} {
		d := p.Decide(text, policy.Postgres)
		if b, reason := d.Approved.Bind("srv-a", nil); reason == nil || b.Valid() || d.Approved.Command().Verb == policy.NoCommand {
			t.Errorf("%s binds, or is no command", text)
		}
	}
}

// TestCommandPositions leads characters of a command's final text back to the caller's.
func TestCommandPositions(t *testing.T) {
	p := compile(t, "inject", readSchema(t))
	for _, text := range []string{
		`DECLARE "é" CURSOR FOR SELECT 'é', content FROM messages WHERE id = $1 AND role = 'x'`,
		`COPY (SELECT 'é', content FROM messages m JOIN files f ON f.id = m.id WHERE role = 'x') TO STDOUT`,
	} {
		a := p.Decide(text, policy.Postgres).Approved
		bound, reason := a.Bind("sérv-ä", make([]policy.Arg, a.NumArgs()))
		if reason != nil || !bound.NeedsFill() || bound.SQL() != "" {
			t.Fatal(text, reason, bound.SQL())
		}
		types := make([]uint32, a.Query().NumParams())
		for i := range types {
			types[i] = 25
		}
		if bound, reason = bound.Fill(types); reason != nil {
			t.Fatal(text, reason)
		}
		for _, word := range []string{"content", "role"} {
			want := character(text, word)
			if got := bound.CallerPosition(character(bound.SQL(), word)); got != want {
				t.Errorf("%s: %s at %d, want %d", bound.SQL(), word, got, want)
			}
		}
		for _, pos := range []int{-1, 0, 1, 5, character(bound.SQL(), "JOIN (SELECT)"), len(bound.SQL()) + 9} {
			if got := bound.CallerPosition(pos); got != 0 {
				t.Errorf("character %d of %s is not the caller's, but became %d", pos, bound.SQL(), got)
			}
		}
		if strings.HasPrefix(text, "COPY") && bound.CallerPosition(character(bound.SQL(), "v-ä")) != 0 {
			t.Error("the server's id has a place in the caller's text")
		}
	}
}

func character(text, word string) int { return len([]rune(text[:strings.Index(text, word)])) + 1 }
