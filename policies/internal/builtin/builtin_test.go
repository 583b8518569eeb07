package builtin_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policies/internal/builtin"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// connect gives a connection to a database that other tests use too: what a test changes
// it changes in a transaction that is rolled back.
func connect(t *testing.T) *pgx.Conn {
	t.Helper()
	db, err := pgx.Connect(t.Context(), pgtest.Cluster(t).AdminURL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close(context.Background()) })
	exec(t, db, "SET jit = off") // compiling the rule takes longer than running it
	return db
}

func read(t *testing.T, db *pgx.Conn) *builtin.Major {
	t.Helper()
	m, err := builtin.Read(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func exec(t *testing.T, db *pgx.Conn, sql string) {
	t.Helper()
	if _, err := db.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// Ensure that the committed set is what the rule gives on this machine's Postgres. Names
// that only other majors have are left to them. So is a difference in what is safe in
// one major and not in another, of which there is none.
func TestCommittedFunctions(t *testing.T) {
	m := read(t, connect(t))
	committed := slices.DeleteFunc(policies.Sets()["@builtin-safe"], func(name string) bool { return !m.Has(name) })
	fresh := builtin.Functions(m)
	if !slices.Contains(builtin.Supported[:], m.Version) {
		// What a newer major adds is nobody's yet; what it makes unsafe must be known.
		fresh = slices.DeleteFunc(fresh, func(name string) bool { return !slices.Contains(committed, name) })
	}
	if diff := cmp.Diff(committed, fresh); diff != "" {
		t.Errorf("run policies/gen again; committed (-), PostgreSQL %d (+):\n%s", m.Version, diff)
	}
	if len(committed) < 1000 {
		t.Errorf("only %d functions", len(committed))
	}
}

func TestCommittedTypes(t *testing.T) {
	if diff := cmp.Diff(builtin.Types(), policies.Types()); diff != "" {
		t.Error("run policies/gen again", diff)
	}
	db := connect(t)
	for _, name := range policies.Types() {
		var ok bool
		err := db.QueryRow(t.Context(), "SELECT typtype IN ('b', 'r', 'm') AND typnamespace = 'pg_catalog'::regnamespace FROM pg_type WHERE typname = $1", name).Scan(&ok)
		if err != nil || !ok {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
}

// Ensure that the committed operators are what the rule gives on this machine's Postgres.
func TestCommittedOperators(t *testing.T) {
	if diff := cmp.Diff(builtin.Operators(read(t, connect(t))), policies.Operators()); diff != "" {
		t.Error("run policies/gen again", diff)
	}
}

// Ensure that each thing that can speak against one overload takes the operator out.
func TestOneOverloadTakesTheOperatorOut(t *testing.T) {
	db := connect(t)
	for _, function := range []string{
		"FUNCTION pg_catalog.tried(text, point) RETURNS text VOLATILE LANGUAGE sql AS 'SELECT $1'",
		"FUNCTION pg_catalog.tried(text, point) RETURNS text STABLE SECURITY DEFINER LANGUAGE sql AS 'SELECT $1'",
		"FUNCTION pg_catalog.tried(text, point) RETURNS regclass STABLE LANGUAGE sql AS 'SELECT $1::regclass'",
		"FUNCTION pg_catalog.pg_tried(text, point) RETURNS text STABLE LANGUAGE sql AS 'SELECT $1'",
	} {
		exec(t, db, "BEGIN")
		exec(t, db, "CREATE "+function)
		name, _, _ := strings.Cut(strings.TrimPrefix(function, "FUNCTION "), "(")
		exec(t, db, "CREATE OPERATOR pg_catalog.<-> (LEFTARG = text, RIGHTARG = point, FUNCTION = "+name+")")
		if got := builtin.Operators(read(t, db)); slices.Contains(got, "<->") || !slices.Contains(got, "+") {
			t.Errorf("%s: <-> is in, or + is not", function)
		}
		exec(t, db, "ROLLBACK")
	}
}

// Ensure that the committed operators are what this machine's Postgres calls leakproof.
func TestCommittedLeakproof(t *testing.T) {
	var committed []builtin.Operator
	for _, o := range policies.Leakproof() {
		committed = append(committed, builtin.Operator(o))
	}
	if diff := cmp.Diff(builtin.Leakproof(read(t, connect(t))), committed); diff != "" {
		t.Error("run policies/gen again", diff)
	}
}

// Ensure that an operator counts as leakproof only where every major says so.
func TestEveryMajorSaysLeakproof(t *testing.T) {
	db := connect(t)
	first := read(t, db)
	exec(t, db, "BEGIN")
	defer exec(t, db, "ROLLBACK")
	exec(t, db, "ALTER FUNCTION pg_catalog.texteq(text, text) NOT LEAKPROOF")
	second := read(t, db)
	for _, majors := range [][]*builtin.Major{{first, second}, {second, first}} {
		got := builtin.Leakproof(majors...)
		if slices.Contains(got, builtin.Operator{Name: "=", Left: "text", Right: "text"}) || !slices.Contains(got, builtin.Operator{Name: "<>", Left: "text", Right: "text"}) {
			t.Error("= is in, or <> is not")
		}
	}
}

// Ensure that the lists of the tests in package policies name functions that exist: a
// misspelled one would be absent from the set and prove nothing.
func TestListedNamesExist(t *testing.T) {
	m := read(t, connect(t))
	later := strings.Fields("pg_input_is_valid pg_input_error_info") // of PostgreSQL 16
	for _, file := range []string{"dangerous.txt", "everyday.txt"} {
		text, err := os.ReadFile("../../testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			for _, name := range strings.Fields(line) {
				if !strings.HasPrefix(line, "#") && !m.Has(name) && !(m.Version < 16 && slices.Contains(later, name)) {
					t.Errorf("%s: PostgreSQL %d has no function %s", file, m.Version, name)
				}
			}
		}
	}
}

// Ensure that each clause of the rule refuses on its own, for one overload of a name that
// is safe otherwise, and for a name that has an exception from another clause.
func TestOneOverloadTakesTheNameOut(t *testing.T) {
	db := connect(t)
	before := read(t, db)
	for objections, create := range map[string]string{
		"procedure, type void, volatile": "PROCEDURE pg_catalog.%(text, text, text, text) LANGUAGE sql AS 'SELECT 1'",
		"volatile":                       "FUNCTION pg_catalog.%(text, text, text, text) RETURNS text VOLATILE LANGUAGE sql AS 'SELECT $1'",
		"runs as its owner":              "FUNCTION pg_catalog.%(text, text, text, text) RETURNS text STABLE SECURITY DEFINER LANGUAGE sql AS 'SELECT $1'",
		"type regclass":                  "FUNCTION pg_catalog.%(regclass) RETURNS text STABLE LANGUAGE sql AS 'SELECT $1::text'",
		"type xid8":                      "FUNCTION pg_catalog.%(text, text, text, text) RETURNS xid8 STABLE LANGUAGE sql AS 'SELECT NULL::xid8'",
		"type refcursor":                 "FUNCTION pg_catalog.%(text, text, text, OUT a text, OUT b refcursor) STABLE LANGUAGE sql AS 'SELECT $1, NULL::refcursor'",
		"type _path":                     "FUNCTION pg_catalog.%(path[]) RETURNS text STABLE LANGUAGE sql AS 'SELECT $1::text'",
		"type _regclass":                 "FUNCTION pg_catalog.%(regclass[]) RETURNS text STABLE LANGUAGE sql AS 'SELECT $1::text'",
		"type pg_class":                  "FUNCTION pg_catalog.%(pg_class) RETURNS text STABLE LANGUAGE sql AS 'SELECT 1::text'",
	} {
		t.Run(objections, func(t *testing.T) {
			exec(t, db, "BEGIN")
			defer exec(t, db, "ROLLBACK")
			for _, name := range []string{"lower", "age"} {
				exec(t, db, "CREATE "+strings.Replace(create, "%", name, 1))
			}
			m := read(t, db)
			for _, name := range []string{"lower", "age"} {
				if len(before.Objections(name)) != 0 {
					t.Errorf("%s is out before: %v", name, before.Objections(name))
				}
				if diff := cmp.Diff(strings.Split(objections, ", "), m.Objections(name)); diff != "" || slices.Contains(builtin.Functions(m), name) {
					t.Error(name, diff)
				}
			}
		})
	}
}

// Ensure that the machinery and the families refuse names that nothing else is against.
func TestObjections(t *testing.T) {
	m := read(t, connect(t))
	for name, want := range map[string]string{
		"btint4cmp":         "machinery", // of an index
		"int4larger":        "machinery", // of an aggregate
		"int4range_subdiff": "machinery", // of a type
		"current_setting":   "family current_*",
		"pg_typeof":         "family pg_*",
		"inet_server_addr":  "family inet_server_*",
		"version":           "family version",
		"txid_current":      "family txid_*",
		"query_to_xml":      "family *xml*",
		"ts_stat":           "volatile",
		"nextval":           "type regclass",
		"pg_read_file":      "volatile",
		"to_regclass":       "type regclass",
		"textin":            "type cstring",
		"xmlagg":            "type xml",
		"path_inter":        "type path",
		"poly_overlap":      "type polygon",
	} {
		if !slices.Contains(m.Objections(name), want) {
			t.Errorf("%s: %v, want %s", name, m.Objections(name), want)
		}
	}
}

// Ensure that a name is out when another major has something against it.
func TestEveryMajorCounts(t *testing.T) {
	db := connect(t)
	first := read(t, db)
	exec(t, db, "BEGIN")
	defer exec(t, db, "ROLLBACK")
	exec(t, db, "CREATE FUNCTION pg_catalog.lower(oid) RETURNS text STABLE LANGUAGE sql AS 'SELECT $1::text'")
	exec(t, db, "CREATE FUNCTION pg_catalog.only_here(text) RETURNS text STABLE LANGUAGE sql AS 'SELECT $1'")
	second := read(t, db)
	for _, majors := range [][]*builtin.Major{{first, second}, {second, first}} {
		got := builtin.Functions(majors...)
		if slices.Contains(got, "lower") || !slices.Contains(got, "upper") || !slices.Contains(got, "only_here") {
			t.Error("lower is in, or upper or only_here is not")
		}
	}
}

// Ensure that a type which nobody has decided on stops the generator.
func TestUndecidedType(t *testing.T) {
	db := connect(t)
	exec(t, db, "BEGIN")
	defer exec(t, db, "ROLLBACK")
	exec(t, db, "CREATE TYPE pg_catalog.surprise AS ENUM ('a')")
	_, err := builtin.Read(t.Context(), db)
	if err == nil || !strings.Contains(err.Error(), "surprise") {
		t.Errorf("got %v", err)
	}
}

// Ensure that the exceptions' reasons are true.
func TestExceptionsHold(t *testing.T) {
	db := connect(t)
	for _, sql := range []string{"SELECT age('5')", "SELECT age(NULL)", "SELECT age(5)", "SELECT age(5::int8)", "SELECT age('5'::text)"} {
		if _, err := db.Exec(t.Context(), sql); err == nil {
			t.Errorf("%s found an overload", sql)
		}
	}
	var paths int
	err := db.QueryRow(t.Context(), `SELECT count(*) FROM pg_cast
		WHERE castcontext = 'i' AND casttarget IN ('xid'::regtype, 'xid8'::regtype, 'xml'::regtype, 'tid'::regtype, 'pg_lsn'::regtype)`).Scan(&paths)
	if err != nil || paths != 0 {
		t.Errorf("%d implicit casts lead to a type that only an exception lets in, %v", paths, err)
	}
}

func TestFilesNeedEveryMajor(t *testing.T) {
	m := read(t, connect(t))
	if _, err := builtin.FunctionsFile([]*builtin.Major{m}); err == nil {
		t.Error("the functions were written from one major")
	}
	if _, err := builtin.TypesFile([]*builtin.Major{m, m, m, m}); err == nil {
		t.Error("the types were written from one major, given four times")
	}
}
