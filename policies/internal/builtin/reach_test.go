package builtin_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
)

// These tests hand every name that this machine's Postgres has to the policy that is in
// force where nothing else is, in every place of a statement that takes such a name: it
// is admitted where one of the sets has it, and refused otherwise.

// decider is the default policy on the bundled tables.
func decider(t *testing.T, changes ...func(*policy.File)) *policy.Policy {
	t.Helper()
	src, _ := policies.Named(policies.Default)
	file, err := policy.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range changes {
		change(file)
	}
	var schema policy.Schema
	if err := json.Unmarshal(policies.BundledSchema(), &schema); err != nil {
		t.Fatal(err)
	}
	p, err := policy.Compile(file, schema, policy.Sets{Functions: policies.Sets(), Types: policies.Types(), Operators: policies.Operators(), Leakproof: policies.Leakproof()})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// named is something of the catalog; name is quoted.
type named struct{ schema, name, bare string }

func (n named) qualified() string { return n.schema + "." + n.name }

func list(t *testing.T, db *pgx.Conn, sql string) []named {
	t.Helper()
	rows, err := db.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (n named, err error) {
		err = row.Scan(&n.schema, &n.bare)
		n.name = pgx.Identifier{n.bare}.Sanitize()
		return n, err
	})
	if err != nil || len(found) == 0 {
		t.Fatal(len(found), err)
	}
	return found
}

// trial counts what is admitted and refused, and tells where that is not as it should be.
type trial struct {
	t                 *testing.T
	policy            *policy.Policy
	admitted, refused int
}

func (r *trial) want(allow bool, texts ...string) {
	r.t.Helper()
	for _, text := range texts {
		d := r.policy.Decide(text, policy.REST)
		if (d.Verdict == policy.Allow) != allow || d.Refusal.Code == policy.SyntaxError || d.Refusal.Code == policy.Internal {
			r.t.Errorf("%s: %v %+v, want allow %v", text, d.Verdict, d.Refusal, allow)
		}
		if d.Verdict == policy.Allow {
			r.admitted++
		} else {
			r.refused++
		}
	}
}

func TestEveryFunction(t *testing.T) {
	db := connect(t)
	safe := policies.Sets()["@builtin-safe"]
	r := &trial{t: t, policy: decider(t)}
	functions := list(t, db, "SELECT DISTINCT pronamespace::regnamespace::text, proname::text FROM pg_proc ORDER BY 1, 2")
	members := 0
	for i, f := range functions {
		in := slices.Contains(safe, f.bare)
		own := in && f.schema == "pg_catalog"
		if own {
			members++
		}
		if raceEnabled && i%8 != 0 { // which makes a decision ten times as long
			continue
		}
		r.want(in, "SELECT "+f.name+"()", "SELECT * FROM "+f.name+"(1) AS x (a)", "SELECT "+f.name+"(*) FILTER (WHERE true) OVER ()",
			"UPDATE messages SET content = "+f.name+"(VARIADIC NULL) WHERE server_id = ?", "SELECT 1 ORDER BY "+f.name+"()")
		r.want(own, "SELECT "+f.qualified()+"(1, a => 2)", "SELECT x.a FROM ROWS FROM ("+f.qualified()+"(1), pg_catalog.abs(1)) AS x (a)",
			"INSERT INTO messages (id, server_id) VALUES ("+f.qualified()+"(), ?) ON CONFLICT DO NOTHING")
		// r.f and (r).f are the call f(r), and f 'x' is a cast.
		r.want(false, "SELECT x."+f.name+" FROM (SELECT 1 AS c) AS x", "SELECT (x)."+f.name+" FROM (SELECT 1 AS c) AS x", "SELECT postgres.pg_catalog."+f.name+"()")
	}
	t.Logf("PostgreSQL has %d functions by name, %d of them in the set; %d texts admitted, %d refused", len(functions), members, r.admitted, r.refused)
	if members < 1000 || len(functions) < 2500 {
		t.Errorf("only %d functions, %d of them in the set", len(functions), members)
	}
}

func TestEveryOperator(t *testing.T) {
	db := connect(t)
	known := policies.Operators()
	r := &trial{t: t, policy: decider(t)}
	operators := list(t, db, "SELECT DISTINCT oprnamespace::regnamespace::text, oprname::text FROM pg_operator ORDER BY 1, 2")
	for _, o := range operators {
		sign := strings.ReplaceAll(o.bare, "?", "??")
		in := slices.Contains(known, o.bare)
		r.want(in && o.schema == "pg_catalog", "SELECT 1 "+sign+" 2", "SELECT OPERATOR(pg_catalog."+sign+") 2", "SELECT 1 OPERATOR(pg_catalog."+sign+") 2", "SELECT 1 "+sign+" ANY (ARRAY[2])",
			"SELECT 1 "+sign+" ALL (SELECT 1)", "SELECT 1 ORDER BY 1 USING "+sign, "SELECT 1 ORDER BY 1 USING OPERATOR(pg_catalog."+sign+")")
		r.want(false, "SELECT 1 OPERATOR(public."+sign+") 2", "SELECT 1 OPERATOR(other.pg_catalog."+sign+") 2", "SELECT 1 "+sign+"~~~~ 2")
	}
	var rows int
	if err := db.QueryRow(t.Context(), "SELECT count(*) FROM pg_operator").Scan(&rows); err != nil {
		t.Fatal(err)
	}
	t.Logf("PostgreSQL has %d operators of %d names; %d texts admitted, %d refused", rows, len(operators), r.admitted, r.refused)
}

func TestEveryType(t *testing.T) {
	db := connect(t)
	known := policies.Types()
	r := &trial{t: t, policy: decider(t)}
	types := list(t, db, "SELECT typnamespace::regnamespace::text, typname::text FROM pg_type ORDER BY 1, 2")
	members := 0
	for _, typ := range types {
		in := slices.Contains(known, typ.bare)
		own := in && typ.schema == "pg_catalog"
		if own {
			members++
		}
		for name, allow := range map[string]bool{typ.name: in, typ.qualified(): own} {
			r.want(allow, "SELECT NULL::"+name, "SELECT CAST(? AS "+name+")", "SELECT "+name+" 'x'", "SELECT ?::"+name+"[]", "SELECT ARRAY[]::"+name+"[3][]", "SELECT ARRAY[NULL::"+name+"]",
				"SELECT * FROM json_to_record('{}') AS x (a "+name+")", "SELECT 1 FROM ROWS FROM (json_to_record('{}') AS (a "+name+" array)) AS x")
			r.want(false, "SELECT NULL::"+name+"%TYPE", "SELECT NULL::SETOF "+name)
		}
		r.want(false, "SELECT NULL::postgres.pg_catalog."+typ.name)
	}
	t.Logf("PostgreSQL has %d types, %d of them admitted; %d texts admitted, %d refused", len(types), members, r.admitted, r.refused)
	if members != len(known) {
		t.Errorf("%d of %d admitted types are there", members, len(known))
	}
}

// TestEveryCollationAndClass shows that pg_catalog's collations can be named, all of which
// are deterministic and so change no equality, and that classes of indexes can't.
func TestEveryCollationAndClass(t *testing.T) {
	db := connect(t)
	r := &trial{t: t, policy: decider(t)}
	collations := list(t, db, "SELECT collnamespace::regnamespace::text, collname::text FROM pg_collation ORDER BY 1, 2")
	for _, c := range collations {
		own := c.schema == "pg_catalog"
		r.want(true, "SELECT 'a' COLLATE "+c.name+" < 'b'") // the search path has no other schema
		r.want(own, "SELECT 'a' COLLATE "+c.qualified(), "SELECT * FROM json_to_record('{}') AS x (a text COLLATE "+c.qualified()+")")
		r.want(false, "SELECT 'a' COLLATE public."+c.name, "SELECT 'a' COLLATE postgres.pg_catalog."+c.name)
	}
	var loose int
	if err := db.QueryRow(t.Context(), "SELECT count(*) FROM pg_collation WHERE collnamespace = 'pg_catalog'::regnamespace AND NOT collisdeterministic").Scan(&loose); err != nil || loose != 0 {
		t.Errorf("%d collations of pg_catalog are not deterministic, %v", loose, err)
	}
	classes := list(t, db, "SELECT DISTINCT opcnamespace::regnamespace::text, opcname::text FROM pg_opclass ORDER BY 1, 2")
	for _, c := range classes {
		for _, name := range []string{c.name, c.qualified()} {
			r.want(false, fmt.Sprintf("INSERT INTO messages (id, server_id) VALUES (?, ?) ON CONFLICT (id %s) DO NOTHING", name))
		}
	}
	t.Logf("PostgreSQL has %d collations and %d operator classes; %d texts admitted, %d refused", len(collations), len(classes), r.admitted, r.refused)
}
