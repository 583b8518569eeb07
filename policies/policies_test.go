package policies_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
)

var all = []policy.Kind{policy.Select, policy.Insert, policy.Update, policy.Delete}

// words reads a list of testdata.
func words(t *testing.T, file string, atLeast int) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			list = append(list, strings.Fields(line)...)
		}
	}
	if len(list) < atLeast {
		t.Fatalf("%s has %d names, want %d or more", file, len(list), atLeast)
	}
	return list
}

func TestDangerousFunctionsAreOut(t *testing.T) {
	safe := policies.Sets()["@builtin-safe"]
	for _, name := range words(t, "dangerous.txt", 80) {
		if slices.Contains(safe, name) {
			t.Errorf("%s is in the set", name)
		}
	}
}

func TestEverydayFunctionsAreIn(t *testing.T) {
	safe := policies.Sets()["@builtin-safe"]
	for _, name := range words(t, "everyday.txt", 150) {
		if !slices.Contains(safe, name) {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestTypes(t *testing.T) {
	types := policies.Types()
	for _, name := range strings.Fields("bool int2 int4 int8 float4 float8 numeric text varchar bpchar char uuid json jsonb jsonpath bytea date time timetz timestamp " +
		"timestamptz interval inet cidr macaddr bit varbit point tsvector tsquery tstzrange int4multirange money regconfig") {
		if !slices.Contains(types, name) {
			t.Errorf("%s is missing", name)
		}
	}
	for _, name := range types {
		if name != "regconfig" && (strings.HasPrefix(name, "reg") || strings.HasPrefix(name, "pg_") || strings.HasPrefix(name, "any") || strings.HasPrefix(name, "_")) ||
			slices.Contains(strings.Fields("oid xid xid8 cid tid xml refcursor aclitem path polygon txid_snapshot gtsvector oidvector int2vector cstring internal record void unknown trigger"), name) {
			t.Errorf("%s is among the types", name)
		}
	}
}

// Ensure that operators which put a value into an error, or take a time that depends on
// one, are no barrier's exceptions, and that the comparisons of ids and keys are.
func TestLeakproof(t *testing.T) {
	list := policies.Leakproof()
	for _, o := range []policy.Operator{{Name: "=", Left: "text", Right: "text"}, {Name: "=", Left: "uuid", Right: "uuid"}, {Name: "=", Left: "int8", Right: "int4"},
		{Name: "<", Left: "timestamptz", Right: "timestamptz"}, {Name: "^@", Left: "text", Right: "text"}} {
		if !slices.Contains(list, o) {
			t.Errorf("%+v is missing", o)
		}
	}
	for _, o := range list {
		if !slices.Contains(strings.Fields("= <> < <= > >= ^@ ~<~ ~<=~ ~>~ ~>=~"), o.Name) || !slices.Contains(policies.Types(), o.Left) || !slices.Contains(policies.Types(), o.Right) {
			t.Errorf("%+v is in the list", o)
		}
	}
	if len(list) < 200 {
		t.Errorf("only %d operators", len(list))
	}
}

func TestListsAreSortedAndClean(t *testing.T) {
	lists := policies.Sets()
	lists["types"], lists["operators"] = policies.Types(), policies.Operators()
	if diff := cmp.Diff([]string{"@builtin-safe", "@builtin-sleep", "operators", "types"}, sortedKeys(lists)); diff != "" {
		t.Error(diff)
	}
	for name, list := range lists {
		if !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) {
			t.Errorf("%s is not sorted or has a name twice", name)
		}
		for _, word := range list {
			if word == "" || strings.ContainsAny(word, " \t\r.") || name != "operators" && strings.Contains(word, "#") {
				t.Errorf("%s holds %q", name, word)
			}
		}
	}
}

// Ensure that a caller who changes what it got changes nothing for others.
func TestCallersOwnWhatTheyGet(t *testing.T) {
	policies.Sets()["@builtin-safe"][0] = "pg_read_file"
	src, _ := policies.Named("default")
	src[0] = 'x'
	again, _ := policies.Named("default")
	if policies.Sets()["@builtin-safe"][0] == "pg_read_file" || again[0] == 'x' {
		t.Error("the data is shared")
	}
}

func TestNamed(t *testing.T) {
	if diff := cmp.Diff([]string{"default", "inject", "readonly"}, policies.Names()); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"", "nothing", "sets/builtin-safe", "../policy/x", "default.yaml"} {
		if _, ok := policies.Named(name); ok {
			t.Errorf("there is a policy %q", name)
		}
	}
}

// shipped parses a shipped policy, with the functions that it admits.
func shipped(t *testing.T, name string) (*policy.File, []policy.FunctionName) {
	t.Helper()
	src, ok := policies.Named(name)
	if !ok {
		t.Fatalf("there is no policy %s", name)
	}
	f, err := policy.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	functions, err := f.AllowedFunctions(policies.Sets())
	if err != nil {
		t.Fatal(err)
	}
	if f.Name != name {
		t.Errorf("%s is named %s", name, f.Name)
	}
	return f, functions
}

// Ensure that every shipped policy scopes the four tables, keeps the hash unread and
// admits the safe functions only.
func TestShippedPoliciesAgree(t *testing.T) {
	for _, name := range policies.Names() {
		f, functions := shipped(t, name)
		var tables []string
		for _, table := range f.Tables {
			tables = append(tables, table.Schema+"."+table.Name)
			if !table.Scoped || table.Column != "server_id" {
				t.Errorf("%s: %s is not scoped by server_id", name, table.Name)
			}
		}
		if diff := cmp.Diff([]string{"public.end_users", "public.conversations", "public.messages", "public.files"}, tables); diff != "" {
			t.Error(name, diff)
		}
		hash := []policy.ColumnRule{{Name: "password_hash", Read: false, Write: true, At: f.Tables[0].Columns[0].At}}
		if diff := cmp.Diff(hash, f.Tables[0].Columns); diff != "" {
			t.Error(name, diff)
		}
		if got, want := len(functions), len(policies.Sets()["@builtin-safe"]); got != want {
			t.Errorf("%s admits %d functions, the set has %d", name, got, want)
		}
		if f.Scope.ForeignID != policy.Replace || f.Statement.MaxBytes != 10240 || f.Statement.MaxNodes != 5000 || f.Statement.MaxDepth != 100 {
			t.Errorf("%s: %+v %+v", name, f.Scope, f.Statement)
		}
	}
}

func TestDefaultIsTheInterface(t *testing.T) {
	f, _ := shipped(t, policies.Default)
	if diff := cmp.Diff(all, f.Statement.Kinds); diff != "" || f.Scope.Mode != policy.Require {
		t.Error(diff, f.Scope.Mode)
	}
	want := policy.Limits{StatementTimeout: 5 * time.Second, MaxRows: 10_000, MaxResultBytes: 10_485_760, MaxArgs: 1_000}
	if diff := cmp.Diff(want, f.Limits); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(policy.Limits{}.WithDefaults(), f.Limits.WithDefaults()); diff != "" {
		t.Error("the file's limits are not the defaults", diff)
	}
	for _, table := range f.Tables {
		if diff := cmp.Diff(all, table.Access); diff != "" {
			t.Error(table.Name, diff)
		}
	}
}

func TestInjectStreamsResultsOfAnySize(t *testing.T) {
	f, _ := shipped(t, "inject")
	if diff := cmp.Diff(all, f.Statement.Kinds); diff != "" || f.Scope.Mode != policy.Inject {
		t.Error(diff, f.Scope.Mode)
	}
	limits := f.Limits.WithDefaults()
	if limits.MaxRows != policy.Unlimited || limits.MaxResultBytes != policy.Unlimited || limits.StatementTimeout != 5*time.Second {
		t.Errorf("%+v", limits)
	}
	if diff := cmp.Diff(policy.Limits{}.WithDefaults(), limits.Buffered()); diff != "" {
		t.Error("a buffered answer is not bounded by the defaults", diff)
	}
}

func TestReadonlyReads(t *testing.T) {
	f, _ := shipped(t, "readonly")
	if diff := cmp.Diff([]policy.Kind{policy.Select}, f.Statement.Kinds); diff != "" {
		t.Error(diff)
	}
	for _, table := range f.Tables {
		if diff := cmp.Diff([]policy.Kind{policy.Select}, table.Access); diff != "" {
			t.Error(table.Name, diff)
		}
	}
}

func sortedKeys(m map[string][]string) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
