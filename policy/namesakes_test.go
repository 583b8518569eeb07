package policy_test

import (
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
)

var (
	builtinText = policy.Type{Schema: "pg_catalog", Name: "text"}
	builtinInt  = policy.Type{Schema: "pg_catalog", Name: "int4"}
	citext      = policy.Type{Schema: "public", Name: "citext"}
	varchar     = policy.Type{Schema: "pg_catalog", Name: "varchar"}
)

// operator is one outside pg_catalog that statements find.
func operator(name string, left, right policy.Type) policy.Namesake {
	n := policy.Namesake{Operator: true, Schema: "public", Name: name, Text: "public." + name, Operands: []policy.Type{left, right}, Function: policy.FunctionName{Schema: "public", Name: "mine"}}
	for _, t := range n.Operands {
		if t.Schema != "pg_catalog" {
			n.Own = append(n.Own, t)
		}
	}
	return n
}

func function(name string, args ...policy.Type) policy.Namesake {
	n := operator(name, policy.Type{}, policy.Type{})
	n.Operator, n.Operands, n.Own = false, args, nil
	return n
}

func with(n policy.Namesake, change func(*policy.Namesake)) policy.Namesake {
	change(&n)
	return n
}

func ofCitext(n *policy.Namesake)  { n.Extension = "citext" }
func ofNobody(n *policy.Namesake)  { n.Extension = "dblink" }
func asOwner(n *policy.Namesake)   { n.Definer = true }
func leakproof(n *policy.Namesake) { n.Leakproof = true }
func odd(n *policy.Namesake)       { n.Odd = true }
func lacking(n *policy.Namesake)   { n.Lacks = "the schema public is closed" }

// shop is a database with a column of citext, under a policy.
func shop(t *testing.T, allow, scopeType string, namesakes ...policy.Namesake) (*policy.Policy, error) {
	t.Helper()
	file, err := policy.Parse([]byte("apiVersion: tenantgate/v1\nkind: Policy\nmetadata: {name: x}\nstatement: {kinds: [select]}\nscope: {column: tenant, mode: inject}\ntables:\n  people: {scoped: true}\nfunctions: {allow: [\"@builtin-safe\"" + allow + "]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	column := func(name, schema, typ string) policy.Column {
		return policy.Column{Name: name, TypeSchema: schema, TypeName: typ}
	}
	scope := column("tenant", "pg_catalog", scopeType)
	if scopeType == "citext" {
		scope.TypeSchema = "public"
	}
	return policy.Compile(file, policy.Schema{
		Tables: []policy.Table{{Schema: "public", Name: "people", Columns: []policy.Column{
			scope, column("id", "pg_catalog", "int4"), column("name", "pg_catalog", "text"), column("email", "public", "citext"),
		}}},
		Types: []policy.Type{citext}, Namesakes: namesakes,
	}, policy.Sets{Functions: policies.Sets(), Types: policies.Types(), Operators: policies.Operators(), Leakproof: policies.Leakproof(), Extensions: policies.Extensions()})
}

// A comparison that means one operator to the application and may mean another one here is a
// mistake in the policy, told by its name and with what to do.
func TestComparisonNamesakes(t *testing.T) {
	other := policy.Type{Schema: "public", Name: "hidden"}
	for _, c := range []struct {
		name, allow string
		namesake    policy.Namesake
		want        string // "" where the policy compiles
	}{
		{"of a judged extension", "", with(operator("=", citext, citext), ofCitext), ""},
		{"of another extension", "", with(operator("=", citext, citext), ofNobody), "functions.allow"},
		{"of a judged extension, as its owner", "", with(with(operator("=", citext, citext), ofCitext), asOwner), "functions.allow"},
		{"of a judged extension, leakproof", "", with(with(operator("<", citext, citext), ofCitext), leakproof), "LEAKPROOF"},
		{"of a judged extension, where statements don't look", "", with(with(operator("=", citext, citext), ofCitext), lacking), "the operator public.= of the extension citext as the application does, but the schema public is closed"},
		{"of somebody", "", operator("<=", builtinText, builtinInt), "public.mine"},
		{"of somebody, allowed", ", public.mine", operator("<=", builtinText, builtinInt), ""},
		{"of a type that no column has", "", with(operator("=", other, other), lacking), ""},
		{"of a type that no column has, where pg_catalog has no such", "", with(with(operator("=", other, other), lacking), odd), "is closed"},
	} {
		_, err := shop(t, c.allow, "text", c.namesake)
		if got := err != nil; got != (c.want != "") || got && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// What restricts a table to a server's rows is never compared by an operator outside pg_catalog.
func TestScopeNamesakes(t *testing.T) {
	for _, c := range []struct {
		scope    string
		namesake policy.Namesake
		refused  bool
	}{
		{"text", operator("=", builtinText, builtinInt), false}, // pg_catalog has one for text and text
		{"varchar", operator("=", varchar, varchar), true},
		{"varchar", operator("=", varchar, builtinText), true},
		{"varchar", operator("=", citext, citext), false},
		{"varchar", operator("<", varchar, varchar), false},
		{"varchar", function("lower", varchar), false},
		{"citext", operator("=", citext, citext), false},
		{"citext", operator("=", citext, builtinText), true},
	} {
		_, err := shop(t, ", public.mine", c.scope, c.namesake)
		if got := err != nil; got != c.refused || got && !strings.Contains(err.Error(), "can't be a scope column") {
			t.Errorf("%s with %s%v: %v", c.scope, c.namesake.Name, c.namesake.Operands, err)
		}
	}
}

// A scope column of type citext is compared as a text: two servers' ids may differ in case only.
func TestScopeOfCitext(t *testing.T) {
	p, err := shop(t, "", "citext", with(operator("=", citext, citext), ofCitext))
	if err != nil {
		t.Fatal(err)
	}
	d := p.Decide("SELECT id FROM people", policy.Postgres)
	if d.Approved == nil {
		t.Fatal(d.Refusal)
	}
	bound, reason := d.Approved.Bind("srv-a", nil)
	if reason != nil || !strings.Contains(bound.SQL(), `"tenant" = $1::"pg_catalog"."text"`) {
		t.Errorf("%v %s", reason, bound.SQL())
	}
}

// A name with a namesake that nobody judged is refused where it stands bare, and told with both.
func TestUsedNamesakes(t *testing.T) {
	p, err := shop(t, ", public.known", "text", function("round", builtinInt), operator("%", builtinText, builtinText), with(function("max", citext), ofCitext),
		with(function("known", builtinInt), func(n *policy.Namesake) { n.Function.Name = "known" }))
	if err != nil {
		t.Fatal(err)
	}
	for sql, refused := range map[string]string{
		"SELECT round(id) FROM people":                        "public.round has the name too, but it is not known to be safe: list public.mine",
		"SELECT pg_catalog.round(id) FROM people":             "",
		"SELECT id % 2 FROM people":                           "public.% has the name too",
		"SELECT id OPERATOR(pg_catalog.%) 2 FROM people":      "",
		"SELECT max(email), known(id) FROM people":            "",
		"SELECT id FROM people WHERE id = ALL (ARRAY[3 % 1])": "public.% has the name too",
	} {
		d := p.Decide(sql, policy.Postgres)
		if got := d.Verdict != policy.Allow; got != (refused != "") || !strings.Contains(d.Refusal.Message, refused) {
			t.Errorf("%s: %s, want %q", sql, d.Refusal.Message, refused)
		}
	}
}

// A hint spells a function as it may be called: with its schema where its bare name is refused, or means another one.
func TestHintsSpellFunctions(t *testing.T) {
	p, err := shop(t, ", public.known, other.known, other.single", "text", function("round", builtinInt))
	if err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]string{
		"SELECT roudn(1)":           "perhaps you meant pg_catalog.round",
		"SELECT knwon(1)":           "perhaps you meant known or other.known",
		"SELECT singel(1)":          "perhaps you meant single",
		"SELECT other.knwon(1)":     "perhaps you meant other.known",
		"SELECT public.singel(1)":   "only functions that the policy lists may be called",
		"SELECT roudn(1), knwon(1)": "perhaps you meant pg_catalog.round",
	} {
		if r := p.Decide(sql, policy.Postgres).Refusal; r.Code != policy.FunctionNotAllowed || r.Hint != want {
			t.Errorf("%s: %+v, want %q", sql, r, want)
		}
	}
}

// What is not certainly pg_catalog's is guarded like all that may fail.
func TestNamesakesAreNotLeakproof(t *testing.T) {
	judged := []policy.Namesake{with(operator("=", citext, citext), ofCitext), with(function("lower", citext), ofCitext), with(operator("||", citext, citext), ofCitext)}
	anybodys := append(judged, operator("=", builtinText, builtinInt))
	for _, c := range []struct {
		sql       string
		namesakes []policy.Namesake
		guarded   bool
	}{
		{"SELECT id FROM people WHERE name = 'x'", nil, false},
		{"SELECT id FROM people WHERE name = 'x'", judged, false},
		{"SELECT id FROM people WHERE name = 'x'", anybodys, true},
		{"SELECT id FROM people WHERE name = ANY (ARRAY['x']) AND id = 1", anybodys, true},
		{"SELECT id FROM people WHERE email = 'x'", judged, true},
		{"SELECT id FROM people WHERE name = (SELECT email FROM people LIMIT 1)", nil, false},
		{"SELECT id FROM people WHERE name = (SELECT email FROM people LIMIT 1)", judged, true},
		{"SELECT id FROM people WHERE name = lower('x')", nil, false},
		{"SELECT id FROM people WHERE name = lower('x')", judged, true},
		{"SELECT id FROM people WHERE name = pg_catalog.lower('x')", judged, false},
		{"SELECT id FROM people WHERE name = 'a' || $1", nil, false},
		{"SELECT id FROM people WHERE name = 'a' || $1", judged, true},
	} {
		p, err := shop(t, ", public.mine", "text", c.namesakes...)
		if err != nil {
			t.Fatal(err)
		}
		d := p.Decide(c.sql, policy.Postgres)
		if d.Approved == nil {
			t.Fatal(c.sql, d.Refusal)
		}
		arg := []policy.Arg{{Kind: policy.String, Text: "x"}}[:strings.Count(c.sql, "$1")]
		bound, reason := d.Approved.Bind("srv-a", arg)
		if reason != nil {
			t.Fatal(c.sql, reason)
		}
		if got := strings.Contains(bound.SQL(), `CASE WHEN "people"`); got != c.guarded {
			t.Errorf("%s, %d namesakes: guarded %v\n%s", c.sql, len(c.namesakes), got, bound.SQL())
		}
	}
}

// A table's bare name means the one that the application finds.
func TestBareTables(t *testing.T) {
	file, err := policy.Parse([]byte("apiVersion: tenantgate/v1\nkind: Policy\nmetadata: {name: x}\nstatement: {kinds: [select]}\ntables:\n  notes: {scoped: false, access: [select]}\n  crm.notes: {scoped: false, access: [select]}\n  crm.other: {scoped: false, access: [select]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	a := []policy.Column{{Name: "a", TypeSchema: "pg_catalog", TypeName: "int4"}}
	for _, c := range []struct {
		bare []policy.TableName
		sql  string
		want string // in the final text; "" where it is refused
	}{
		{nil, "SELECT a FROM notes", `"public".notes`},
		{[]policy.TableName{{Schema: "crm", Name: "notes"}}, "SELECT a FROM notes", `"crm".notes`},
		{[]policy.TableName{{Schema: "hidden", Name: "notes"}}, "SELECT a FROM notes", ""},
		{[]policy.TableName{{Schema: "hidden", Name: "notes"}}, "SELECT a FROM public.notes", "public.notes"},
		{[]policy.TableName{{Schema: "hidden", Name: "strange"}}, "SELECT a FROM strange", ""},
		{nil, "SELECT a FROM other", `"crm".other`},
	} {
		p, err := policy.Compile(file, policy.Schema{Bare: c.bare, Tables: []policy.Table{{Schema: "public", Name: "notes", Columns: a}, {Schema: "crm", Name: "notes", Columns: a}, {Schema: "crm", Name: "other", Columns: a}}}, policy.Sets{})
		if err != nil {
			t.Fatal(err)
		}
		d := p.Decide(c.sql, policy.Postgres)
		if d.Approved == nil {
			if c.want != "" {
				t.Errorf("%s with %v: %v", c.sql, c.bare, d.Refusal)
			}
			continue
		}
		if bound, reason := d.Approved.Bind("srv-a", nil); reason != nil || c.want == "" || !strings.Contains(bound.SQL(), c.want) {
			t.Errorf("%s with %v: %s", c.sql, c.bare, bound.SQL())
		}
	}
}

// Ensure a statement that may run one of the operator's functions is known to be one that may leave something behind, and no other is.
func TestMayWrite(t *testing.T) {
	p, err := shop(t, ", public.mine", "text", function("lower", citext), with(function("upper", citext), ofCitext),
		operator("+", citext, citext), with(operator("=", citext, citext), ofCitext))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"SELECT id FROM people": false, "SELECT upper(name), pg_catalog.lower(name) FROM people": false,
		"SELECT mine()": true, "SELECT public.mine()": true, "SELECT lower(email) FROM people": true,
		"SELECT id FROM people WHERE email = 'a' OR email IN ('b')": false, "SELECT id OPERATOR(pg_catalog.+) 1 FROM people": false, "SELECT email + email FROM people": true,
		"SELECT id FROM people WHERE EXISTS (SELECT mine())": true, "SELECT * FROM mine() AS m(a)": true,
		"COPY (SELECT mine()) TO STDOUT": true, "DECLARE c CURSOR FOR SELECT mine()": true,
	} {
		d := p.Decide(text, policy.Postgres)
		if d.Approved == nil {
			t.Errorf("%s: %+v", text, d.Refusal)
			continue
		}
		if got := d.Approved.MayWrite(); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
	p, err = shop(t, ", public.mine", "text", operator("<", citext, citext))
	if err != nil {
		t.Fatal(err)
	}
	if d := p.Decide("SELECT id FROM people WHERE email BETWEEN 'a' AND 'b'", policy.Postgres); d.Approved == nil || !d.Approved.MayWrite() {
		t.Errorf("BETWEEN, which uses the operator's: %+v", d)
	}
}
