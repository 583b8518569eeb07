package policy_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
)

// TestCompileMistakes names in a policy what the database does not have: each must be
// refused with its place, since what is misspelled would stay open.
func TestCompileMistakes(t *testing.T) {
	for tables, want := range map[string]string{
		"nowhere: {scoped: true}":                                       "no table public.nowhere",
		"other.messages: {scoped: true}":                                "no table other.messages",
		"countries: {scoped: true}":                                     "no column server_id",
		"messages: {scoped: true, column: tenant}":                      "no column tenant",
		"end_users: {scoped: true, columns: {password: {read: false}}}": "no column password",
	} {
		src := "apiVersion: tenantgate/v1\nkind: Policy\nmetadata: {name: x}\nmode: enforce\nstatement: {kinds: [select]}\ntables:\n  " + tables + "\n"
		file, err := policy.Parse([]byte(src))
		if err != nil {
			t.Fatal(err)
		}
		_, err = policy.Compile(file, readSchema(t), policy.Sets{})
		var at *policy.FileError
		if !errors.As(err, &at) || at.Line != 7 || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q at line 7", tables, err, want)
		}
	}
}

// TestMisfitClosesTable compiles a policy for a database that changed while it serves: only the
// table that does not fit is closed, whatever a statement does with it.
func TestMisfitClosesTable(t *testing.T) {
	src, _ := policies.Named("inject")
	file, err := policy.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*policy.Table){
		"no table public.files":             func(t *policy.Table) { t.Name = "papers" },
		"has no column server_id":           func(t *policy.Table) { t.Columns[slices.IndexFunc(t.Columns, isScope)].Name = "sid" },
		"column server_id of table public.": func(t *policy.Table) { t.Columns[slices.IndexFunc(t.Columns, isScope)].Loose = true },
	} {
		schema := readSchema(t)
		i := slices.IndexFunc(schema.Tables, func(t policy.Table) bool { return t.Name == "files" })
		change(&schema.Tables[i])
		p, err := policy.CompileServed(file, schema, policy.Sets{Functions: policies.Sets(), Types: policies.Types(), Operators: policies.Operators(), Leakproof: policies.Leakproof()})
		if err != nil {
			t.Fatal(err)
		}
		if m := p.Misfits(); len(m) != 1 || m[0].Table.Name != "files" || !strings.Contains(m[0].Err.Error(), name) {
			t.Errorf("%s: %v", name, m)
		}
		for _, text := range []string{
			"SELECT id FROM files", "SELECT * FROM public.files", "SELECT nothing FROM files", "DELETE FROM files", "UPDATE files SET path = ''", "INSERT INTO files (id) VALUES ('1')",
			"SELECT id FROM messages WHERE EXISTS (SELECT FROM files)", "WITH f AS (DELETE FROM files RETURNING id) SELECT 1", "COPY files (id) FROM STDIN", "COPY (TABLE files) TO STDOUT", "TABLE files",
		} {
			if r := p.Decide(text, policy.Postgres).Refusal; r.Code != policy.TableNotAllowed || !strings.HasSuffix(r.Message, "files is closed: policy-misfit") || !strings.Contains(r.Hint, "renamed or dropped") {
				t.Errorf("%s, %s: %+v", name, text, r)
			}
		}
		if d := p.Decide("SELECT id FROM messages", policy.Postgres); d.Verdict != policy.Allow {
			t.Errorf("%s: another table: %+v", name, d.Refusal)
		}
		if r := p.Decide("SELECT id FROM nothing", policy.Postgres).Refusal; strings.Contains(r.Hint, "files") {
			t.Errorf("%s: the hint names the closed table: %q", name, r.Hint)
		}
	}
}

func isScope(c policy.Column) bool { return c.Name == "server_id" }

// TestUnknownSet names a set of functions that does not exist.
func TestUnknownSet(t *testing.T) {
	src, _ := policies.Named("default")
	file, err := policy.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := policy.Compile(file, readSchema(t), policy.Sets{}); err == nil {
		t.Error("a policy with an unknown function set was compiled")
	}
}

// TestPositions leads characters of the final text back to the caller's.
func TestPositions(t *testing.T) {
	const text = "SELECT 'é', content FROM messages m WHERE m.id = ? AND m.server_id = ? AND lower(role) = ?"
	d := compile(t, "default", readSchema(t)).Decide(text, policy.REST)
	bound, reason := d.Approved.Bind("srv-a", []policy.Arg{{}, {}})
	if reason != nil {
		t.Fatal(reason)
	}
	final := []rune(bound.SQL())
	for _, word := range []string{"content", "m.id", "role"} {
		at := strings.Index(string(final), word)
		chars := len([]rune(string(final)[:at])) + 1
		want := len([]rune(text[:strings.Index(text, word)])) + 1
		if got := bound.CallerPosition(chars); got != want {
			t.Errorf("%s: character %d, want %d", word, got, want)
		}
	}
	added := len([]rune(bound.SQL()[:strings.Index(bound.SQL(), "JOIN (SELECT)")])) + 1
	for _, pos := range []int{added, 0, -1, len(final) + 5} {
		if got := bound.CallerPosition(pos); got != 0 {
			t.Errorf("character %d is not the caller's, but became %d", pos, got)
		}
	}
}
