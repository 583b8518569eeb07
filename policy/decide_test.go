package policy_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
)

// TestGolden runs the cases of testdata/decide: a text and its args, and what becomes
// of it. `decide policy=NAME [args=JSON] [server=ID] [wall=off] [lacks=PRIVILEGE:TABLE.COLUMN,…] [dialect=postgres] [types=OID,…] [hint]`
// prints the refusal, with its hint if that is asked for, or the final text and the parameters; wall=off takes the row-level
// security away, so that the barrier shows; lacks takes privileges of columns from the statement role. -rewrite makes the
// expectations anew, for review.
func TestGolden(t *testing.T) {
	schema := readSchema(t)
	datadriven.Walk(t, "testdata/decide", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return decide(t, d, schema)
		})
	})
}

func decide(t *testing.T, d *datadriven.TestData, schema policy.Schema) string {
	if d.Cmd != "decide" {
		d.Fatalf(t, "unknown command %q", d.Cmd)
	}
	name, server, rawArgs := "default", "srv-a", ""
	d.MaybeScanArgs(t, "policy", &name)
	d.MaybeScanArgs(t, "server", &server)
	d.MaybeScanArgs(t, "args", &rawArgs)
	wall := "on"
	d.MaybeScanArgs(t, "wall", &wall)
	schema.Tables = slices.Clone(schema.Tables)
	for i := range schema.Tables {
		schema.Tables[i].Walled = wall == "on"
	}
	for _, lacking := range words(d, "lacks") {
		revoke(t, schema.Tables, lacking)
	}
	decision := compile(t, name, schema).Decide(d.Input, dialect(t, d), given(t, d)...)
	if decision.Verdict != policy.Allow && d.HasArg("hint") {
		return refusal(decision.Refusal) + "hint: " + decision.Refusal.Hint + "\n"
	}
	if decision.Verdict != policy.Allow {
		return refusal(decision.Refusal)
	}
	if a := decision.Approved; !d.HasArg("args") && a.Command().Verb != policy.NoCommand {
		return told(a)
	}
	if !d.HasArg("args") {
		return "allow " + string(decision.Approved.Kind()) + "\n"
	}
	bound, reason := decision.Approved.Bind(server, parseArgs(t, rawArgs))
	if reason == nil && bound.NeedsFill() && decision.Approved.Query() == nil {
		bound, reason = bound.Fill(nil)
	}
	if reason != nil {
		return refusal(*reason)
	}
	return describe(bound)
}

// dialect is that of a case: `dialect=postgres`, or the interface's.
func dialect(t *testing.T, d *datadriven.TestData) policy.Dialect {
	name := "interface"
	d.MaybeScanArgs(t, "dialect", &name)
	if name == "postgres" {
		return policy.Postgres
	}
	return policy.REST
}

// given are the types of the placeholders, as OIDs between commas.
func given(t *testing.T, d *datadriven.TestData) []uint32 {
	var types []uint32
	for _, word := range words(d, "types") {
		oid, err := strconv.ParseUint(word, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		types = append(types, uint32(oid))
	}
	return types
}

// words are the values of a case's option, between commas.
func words(d *datadriven.TestData, key string) (all []string) {
	for _, arg := range d.CmdArgs {
		for _, v := range arg.Vals {
			if arg.Key == key {
				all = append(all, strings.Split(v, ",")...)
			}
		}
	}
	return all
}

// revoke takes a privilege of a column, PRIVILEGE:TABLE.COLUMN, from the statement role.
func revoke(t *testing.T, tables []policy.Table, lacking string) {
	privilege, name, _ := strings.Cut(lacking, ":")
	table, column, _ := strings.Cut(name, ".")
	i := slices.IndexFunc(tables, func(t policy.Table) bool { return t.Name == table })
	if i < 0 {
		t.Fatalf("%s: no such table", lacking)
	}
	columns := slices.Clone(tables[i].Columns)
	k := slices.IndexFunc(columns, func(c policy.Column) bool { return c.Name == column })
	field := map[string]func(*policy.Column) *bool{
		"select": func(c *policy.Column) *bool { return &c.Unreadable },
		"insert": func(c *policy.Column) *bool { return &c.NoInsert },
		"update": func(c *policy.Column) *bool { return &c.NoUpdate },
	}[privilege]
	if k < 0 || field == nil {
		t.Fatalf("%s: no such column or privilege", lacking)
	}
	*field(&columns[k]) = true
	tables[i].Columns = columns
}

func refusal(r policy.Refusal) string {
	out := fmt.Sprintf("deny %s", r.Code)
	if r.Position > 0 {
		out += fmt.Sprintf(" at %d", r.Position)
	}
	if r.SQLState != "" {
		out += " " + r.SQLState
	}
	return out + ": " + r.Message + "\n"
}

func describe(b policy.Bound) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n", b.SQL())
	for i, p := range b.Params() {
		source := fmt.Sprintf("args[%d]", p.Index)
		switch {
		case p.IsLiteral():
			source = fmt.Sprintf("literal at %d", b.LiteralPosition(p))
		case p.Index < 0:
			source = "server"
		}
		fmt.Fprintf(&out, "$%d = %s %s\n", i+1, source, p.Value.Text)
	}
	if b.Overridden() > 0 {
		fmt.Fprintf(&out, "overridden %d\n", b.Overridden())
	}
	return out.String()
}

// parseArgs reads a JSON array; commas are written as in JSON, without spaces, since
// the test files split their own arguments at spaces.
func parseArgs(t *testing.T, raw string) []policy.Arg {
	var values []json.RawMessage
	if err := json.Unmarshal([]byte(raw), &values); err != nil {
		t.Fatalf("args %q: %v", raw, err)
	}
	args := make([]policy.Arg, len(values))
	for i, v := range values {
		switch c := v[0]; {
		case c == '"':
			args[i].Kind = policy.String
			if err := json.Unmarshal(v, &args[i].Text); err != nil {
				t.Fatal(err)
			}
		case c == 'n':
		case c == 't' || c == 'f':
			args[i] = policy.Arg{Kind: policy.Bool, Text: string(v)}
		default:
			args[i] = policy.Arg{Kind: policy.Number, Text: string(v)}
		}
	}
	return args
}

func compile(t testing.TB, name string, schema policy.Schema) *policy.Policy {
	src, ok := policies.Named(name)
	if !ok {
		var err error
		if src, err = os.ReadFile("testdata/policies/" + name + ".yaml"); err != nil {
			t.Fatal(err)
		}
	}
	return compileSource(t, src, schema)
}

// compileSource compiles a policy's text with the shipped sets.
func compileSource(t testing.TB, src []byte, schema policy.Schema) *policy.Policy {
	t.Helper()
	file, err := policy.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Compile(file, schema, policy.Sets{Functions: policies.Sets(), Types: policies.Types(), Operators: policies.Operators(), Leakproof: policies.Leakproof()})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func readSchema(t testing.TB) policy.Schema {
	src, err := os.ReadFile("testdata/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var s policy.Schema
	if err := json.Unmarshal(src, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestComplexity decides texts that are short and yet too much.
func TestComplexity(t *testing.T) {
	p := compile(t, "default", readSchema(t))
	for text, want := range map[string]policy.Code{
		"SELECT 1" + strings.Repeat(",1", 1000):          "",
		"SELECT 1" + strings.Repeat(",1", 3000):          policy.ConstructNotAllowed,
		"SELECT " + strings.Repeat("NOT ", 60) + "true":  "",
		"SELECT " + strings.Repeat("NOT ", 120) + "true": policy.ConstructNotAllowed,
	} {
		if d := p.Decide(text, policy.REST); d.Refusal.Code != want {
			t.Errorf("%.20s…: %+v", text, d.Refusal)
		}
	}
}
