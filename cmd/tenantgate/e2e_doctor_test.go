package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const doctorPolicy = `apiVersion: tenantgate/v1
kind: Policy
metadata: {name: shop}
statement: {kinds: [select, insert, update, delete]}
tables:
  orders: {scoped: true}
`

// TestDoctor takes a database with a table of its own from no wall to one that stands.
func TestDoctor(t *testing.T) {
	in := sharedInstance(t)
	in.admin(t, `CREATE ROLE doctor_statement LOGIN PASSWORD 'hidden'`, `CREATE DATABASE doctored`)
	owner, err := inDatabase(in.AdminDatabaseURL, "doctored")
	if err != nil {
		t.Fatal(err)
	}
	data := &instance{credentials: credentials{AdminDatabaseURL: owner}}
	data.admin(t, `CREATE TABLE orders (id int PRIMARY KEY, server_id text NOT NULL)`, `GRANT ALL ON orders TO doctor_statement`)
	policy := filepath.Join(t.TempDir(), "shop.yaml")
	if err := os.WriteFile(policy, []byte(doctorPolicy), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"doctor", "--database-url", as(t, owner, "doctor_statement", "hidden"), "--owner-database-url", owner, "--policy", policy}

	code, out, errs := command(t, args...)
	if code != 1 || !strings.Contains(out, "breach  view-missing\n") || strings.Contains(out, "CREATE POLICY") || strings.Count(out, `→ Run "tenantgate migrate" first`) != 2 {
		t.Errorf("before the migration: exit %d: %s%s", code, out, errs)
	}
	if code, out, errs := command(t, "migrate", "--no-tables", "--control-database-url", owner, "--statement-role", "doctor_statement"); code != 0 {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	code, out, errs = command(t, args...)
	for _, want := range []string{
		"breach  wall-missing\n        public.orders has no row-level security", "          CREATE POLICY tenantgate_server ON public.orders TO doctor_statement USING (\"server_id\" = (SELECT id FROM tenantgate_wall.server))",
		"tell    hidden-unique\n        the unique key orders_pkey on public.orders does not hold server_id", "breach  grants-kind\n", "risk    role-database\n", "note    hidden-index\n", "tell    planner-statistics\n",
		"database doctored, role doctor_statement: 2 breaches, 2 tells, ", "\nthe wall does not stand for public.orders: rls: required would serve nothing\n",
	} {
		if code != 1 || errs != "" || !strings.Contains(out, want) {
			t.Errorf("exit %d: no %q in\n%s%s", code, want, out, errs)
		}
	}

	code, script, errs := command(t, append(args, "--sql")...)
	if code != 0 || errs != "" || !strings.HasPrefix(script, "-- ") || !strings.HasSuffix(script, "\nCOMMIT;\n") {
		t.Errorf("exit %d: %s%s", code, script, errs)
	}
	data.admin(t, script, script)

	code, out, errs = command(t, append(args, "--json")...)
	var got doctorJSON
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v: %s%s", err, out, errs)
	}
	left := 0 // what an old Postgres adds, on whatever machine this runs
	for _, f := range got.Findings {
		if !strings.HasPrefix(f.Check, "release-") {
			t.Errorf("%+v", f)
		}
		left = 1
	}
	if code != left || !got.Wall.Stands || strings.Join(got.Wall.Tables, " ") != "public.orders" || got.Role != "doctor_statement" || got.Findings == nil || got.Unseen == nil {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if strings.Join(got.Policies, " ") != "shop" || !strings.Contains(script, "\n-- It was compared with the policies shop: rights that they do not need are revoked.\n") {
		t.Errorf("%v: %s", got.Policies, script)
	}
	if code, out, _ := command(t, args...); code != left || !strings.HasSuffix(out, "the wall stands for public.orders: rls: required would serve them\n") {
		t.Errorf("exit %d: %s", code, out)
	}
}

// TestDoctorOfDev looks over a running tenantgate dev, of whose roles nobody has a password,
// and says with which policies.
func TestDoctorOfDev(t *testing.T) {
	t.Parallel()
	in := fresh(t)
	// A script goes to psql, so what must be read stands beside it.
	if _, _, errs := command(t, "doctor", "--sql", "--data-dir", filepath.Join(in.dir, "data")); !strings.HasPrefix(errs, "note: no --policy was given") {
		t.Errorf("with --sql: %s", errs)
	}
	_, out, errs := command(t, "doctor", "--data-dir", filepath.Join(in.dir, "data"))
	for _, want := range []string{"\ndatabase tenantgate, role tenantgate_statement: 0 breaches, 0 tells, ", "\nthe wall stands for ", "public.files", ": rls: required would serve them\n", "\nno --policy was given, so this was compared with the bundled ones (default, inject, readonly), "} {
		if errs != "" || !strings.Contains("\n"+out, want) || strings.Contains(out, "not seen") {
			t.Errorf("no %q in %s%s", want, out, errs)
		}
	}
}

// TestDoctorCouldNotLook has exit code 2 where nothing was looked at, and no secret said.
func TestDoctorCouldNotLook(t *testing.T) {
	in := sharedInstance(t)
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"doctor"}, "which database? give --database-url"}, {[]string{"doctor", "--data-dir", t.TempDir()}, "there is no postgres cluster in it"},
		{[]string{"doctor", "--database-url", "x", "--data-dir", "y"}, "--database-url and --data-dir name two databases"}, {[]string{"doctor", "--owner-database-url", "x", "--data-dir", "y"}, "--owner-database-url and --data-dir name two databases"},
		{[]string{"doctor", "--database-url="}, "--database-url"},
		{[]string{"doctor", "--database-url", "postgres://u:SECRET@127.0.0.1:1/x"}, "as the statement role"},
		{[]string{"doctor", "--database-url", "://SECRET"}, "--database-url can't be read"},
		{[]string{"doctor", "--database-url", "postgres://a:p@SECRET#1@127.0.0.1:1/x"}, "%40 for @"},
		{[]string{"doctor", "--database-url", "postgres://a:p@SECRET@127.0.0.1:1/x"}, "%40 for @"},
		{[]string{"doctor", "--database-url", "postgres://u:2024#SECRET@127.0.0.1:1/x"}, "%23 for #"},
		{[]string{"doctor", "--database-url", "postgres://u:2024?SECRET@127.0.0.1:1/x"}, "%3F for ?"},
		{[]string{"doctor", "--database-url", "localhost:5432/SECRET"}, "write postgres://role:password@host:5432/database"},
		{[]string{"doctor", "--database-url", in.AdminDatabaseURL, "--owner-database-url", "postgres://u:SECRET@127.0.0.1:1/x"}, "as the owner"},
		{[]string{"doctor", "--database-url", in.AdminDatabaseURL, "--policy", "/none"}, "reading the policy"},
		{[]string{"doctor", "--database-url", "postgres://u:SECRET@127.0.0.1:1/x", "--sql"}, "as the statement role"},
		{[]string{"doctor", "--database-url", in.AdminDatabaseURL, "--sql", "--json"}, "--sql and --json can't be used together"},
	} {
		if code, out, errs := command(t, c.args...); code != 2 || out != "" || !strings.Contains(errs, c.says) || strings.Contains(errs, "SECRET") {
			t.Errorf("%v: exit %d: %s%s", c.args, code, out, errs)
		}
	}
}
