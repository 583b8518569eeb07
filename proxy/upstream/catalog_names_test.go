package upstream

import (
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
)

// The list of a search_path is read as Postgres reads it.
func TestSchemasOf(t *testing.T) {
	for path, want := range map[string][]string{
		``: nil, `public`: {"public"}, `pg_catalog, public, pg_temp`: {"public"}, `public, pg_catalog`: {"public", "pg_catalog"},
		`"$user", public`: {"me", "public"}, `$user`: {"me"}, `"A ""b"", c" , D`: {`A "b", c`, "d"}, ` x ,x, ""`: {"x"}, `"open`: {"open"},
	} {
		if got := schemasOf(path, "me"); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

// pathBench is a database of an owner, read as a role that owns nothing.
type pathBench struct {
	*bench
	owner, role string
}

func newPathBench(t *testing.T, searchPath string) *pathBench {
	p := &pathBench{owner: pgtest.Name("owner"), role: pgtest.Name("role")}
	p.bench = setup(t, Config{}, "CREATE EXTENSION citext; CREATE ROLE "+p.owner+"; CREATE ROLE "+p.role+" LOGIN PASSWORD 'p'; CREATE SCHEMA app AUTHORIZATION "+p.owner+"; GRANT USAGE ON SCHEMA app TO "+p.role+`;
		CREATE TABLE app.people (id int, email citext); GRANT SELECT ON app.people TO `+p.role+"; ALTER TABLE app.people OWNER TO "+p.owner)
	u, err := url.Parse(p.url)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(p.role, "p")
	pool, err := Open(t.Context(), Config{URL: u.String(), SearchPath: searchPath, AcquireTimeout: 20 * time.Second, MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	p.pool.Close()
	p.pool = pool
	return p
}

func (p *pathBench) schema() policy.Schema {
	p.t.Helper()
	before := p.pool.path.now()
	s, err := p.pool.Schema(p.t.Context(), []policy.TableName{{Schema: "app", Name: "people"}})
	if err != nil {
		p.t.Fatal(err)
	}
	if now := p.pool.path.now(); now != before {
		p.t.Errorf("statements find names in %s, where the policies don't know them yet", now)
	}
	p.pool.Adopted()
	return s
}

// lacks gives why statements don't find citext's =, which must be there.
func (p *pathBench) lacks() string {
	p.t.Helper()
	for _, n := range p.schema().Namesakes {
		if n.Operator && n.Name == "=" && n.Extension == "citext" {
			return n.Lacks
		}
	}
	p.t.Fatal("citext's = was not read")
	return ""
}

// Statements look where the tables' owner does, and nowhere that somebody could make something.
func TestPath(t *testing.T) {
	p := newPathBench(t, "")
	here := strings.ReplaceAll(p.one("current_database()"), `"`, "")
	for _, step := range []struct{ do, undo, lacks, path string }{
		{lacks: "", path: `pg_catalog, "public", pg_temp`},
		{"ALTER ROLE " + p.owner + " SET search_path = app, public", "", "", `pg_catalog, "app", "public", pg_temp`},
		{"ALTER ROLE " + p.owner + " IN DATABASE " + here + " SET search_path = app", "ALTER ROLE " + p.owner + " IN DATABASE " + here + " RESET search_path", "give --search-path", `pg_catalog, "app", pg_temp`},
		{"GRANT CREATE ON SCHEMA public TO PUBLIC", "REVOKE CREATE ON SCHEMA public FROM PUBLIC", `REVOKE CREATE ON SCHEMA "public" FROM PUBLIC`, `pg_catalog, "app", pg_temp`},
		{"GRANT CREATE ON SCHEMA public TO " + p.role, "REVOKE CREATE ON SCHEMA public FROM " + p.role, "REVOKE CREATE", `pg_catalog, "app", pg_temp`},
		{"GRANT " + p.owner + " TO " + p.role, "REVOKE " + p.owner + " FROM " + p.role, "", `pg_catalog, "public", pg_temp`},
		{"ALTER EXTENSION citext SET SCHEMA app; REVOKE USAGE ON SCHEMA app FROM " + p.role, "GRANT USAGE ON SCHEMA app TO " + p.role, "GRANT USAGE", `pg_catalog, "public", pg_temp`},
		{lacks: "", path: `pg_catalog, "app", "public", pg_temp`},
		{"ALTER ROLE " + p.owner + " SET search_path = app, pg_catalog, public", "", "put pg_catalog first", `pg_catalog, "public", pg_temp`},
		{"ALTER ROLE " + p.owner + ` SET search_path = nowhere, "$user"`, "", "give --search-path", "pg_catalog, pg_temp"},
	} {
		p.exec(step.do)
		if got := p.lacks(); got == "" != (step.lacks == "") || !strings.Contains(got, step.lacks) {
			t.Errorf("%s: statements lack citext's =: %q, want %q", step.do, got, step.lacks)
		}
		if got := p.must(sel("SELECT current_setting('search_path')")); !strings.Contains(strings.ReplaceAll(got, `\"`, `"`), `["`+step.path+`"]`) {
			t.Errorf("%s: the path is %s, want %s", step.do, got, step.path)
		}
		p.exec(step.undo)
	}
}

// A path that was configured stays, whatever the owner's is.
func TestPathConfigured(t *testing.T) {
	closed := newPathBench(t, "pg_catalog, pg_temp")
	if got := closed.lacks(); !strings.Contains(got, "--search-path") {
		t.Errorf("citext's = is left out: %q", got)
	}
	open := newPathBench(t, "pg_catalog, public, pg_temp")
	open.exec("ALTER ROLE " + open.owner + " SET search_path = app; GRANT CREATE ON SCHEMA public TO PUBLIC")
	if got := open.lacks(); got != "" {
		t.Errorf("citext's = is left out: %q", got)
	}
	if got := open.must(sel("SELECT current_setting('search_path')")); !strings.Contains(got, "pg_catalog, public, pg_temp") {
		t.Error(got)
	}
}

// A namesake is told with what decides whether a statement could mean it.
func TestNamesakes(t *testing.T) {
	p := newPathBench(t, "")
	p.exec(`CREATE FUNCTION public.lower(int) RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT $1::text'; CREATE FUNCTION public.own(text) RETURNS text LANGUAGE sql AS 'SELECT $1';
		CREATE FUNCTION public.eq(text, int) RETURNS bool LANGUAGE sql LEAKPROOF AS 'SELECT true'; CREATE OPERATOR public.= (LEFTARG = text, RIGHTARG = int, FUNCTION = public.eq);
		CREATE VIEW public.people AS SELECT 1; CREATE TYPE app.mood AS ENUM ('sad'); ALTER TABLE app.people ADD mood app.mood; CREATE FUNCTION app.upper(app.mood) RETURNS text LANGUAGE sql AS 'SELECT '''''; CREATE FUNCTION app.upper(int) RETURNS text LANGUAGE sql AS 'SELECT '''''`)
	var got []policy.Namesake
	s := p.schema()
	for _, n := range s.Namesakes {
		if n.Extension == "" {
			n.Lacks = map[bool]string{true: "it lacks something"}[n.Lacks != ""]
			got = append(got, n)
		}
	}
	text, integer, mood := policy.Type{Schema: "pg_catalog", Name: "text"}, policy.Type{Schema: "pg_catalog", Name: "int4"}, policy.Type{Schema: "app", Name: "mood"}
	want := []policy.Namesake{
		{Schema: "app", Name: "upper", Text: "app.upper(app.mood)", Operands: []policy.Type{mood}, Own: []policy.Type{mood}, Function: policy.FunctionName{Schema: "app", Name: "upper"}, Lacks: "it lacks something"},
		{Schema: "public", Name: "lower", Text: "public.lower(integer)", Operands: []policy.Type{integer}, Function: policy.FunctionName{Schema: "public", Name: "lower"}, Definer: true},
		{Operator: true, Schema: "public", Name: "=", Text: "public.=(text,integer)", Operands: []policy.Type{text, integer}, Function: policy.FunctionName{Schema: "public", Name: "eq"}, Leakproof: true},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]policy.TableName{{Schema: "public", Name: "people"}}, s.Bare); d != "" {
		t.Error(d)
	}
}

// What the judged extensions bring under names of pg_catalog's was reviewed by hand: no more than is
// listed, and nothing that runs as its owner or that row-level security does not hold back.
func TestExtensions(t *testing.T) {
	src, err := os.ReadFile("testdata/extensions.txt")
	if err != nil {
		t.Fatal(err)
	}
	p := newPathBench(t, "")
	extensions := policies.Extensions()
	for _, x := range extensions {
		p.exec("CREATE EXTENSION IF NOT EXISTS " + x)
	}
	var got []string
	for _, n := range p.schema().Namesakes {
		if n.Definer || n.Leakproof || !slices.Contains(extensions, n.Extension) {
			t.Errorf("%s of %s: definer %v, leakproof %v", n.Text, n.Extension, n.Definer, n.Leakproof)
		}
		got = append(got, n.Extension+" "+n.Function.Name)
	}
	slices.Sort(got)
	got = slices.Compact(got)
	for _, line := range got {
		if !slices.Contains(strings.Split(string(src), "\n"), line) {
			t.Errorf("not reviewed: %s", line)
		}
	}
}
