package smith_test

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/proof"
	"github.com/tenantgate/tenantgate/proof/smith"
	"github.com/tenantgate/tenantgate/proof/statement"
)

var (
	statements = flag.Int("statements", 500, "statements that are replayed")
	seed       = flag.Uint64("seed", 1, "what sqlsmith makes them of")
	stored     = flag.String("stored", "", "a file of statements that are replayed instead; it is written where there is none")
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// world is the proof's databases and the statements, which the tests share.
var world struct {
	sync.Once
	proof         *proof.World
	d, own, other string // URLs of a role that may read and write everything, and is no superuser
	shared, role  string // the superuser's URL of the shared database, and the role of statements
	alone         string // the superuser's URL of the shared database without the rows of others
	server        string
	statements    []string
	err           error
}

func build(t *testing.T) smith.Config {
	t.Helper()
	if _, err := exec.LookPath("sqlsmith"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("sqlsmith is missing; `make test` installs it")
		}
		t.Skip("sqlsmith is missing; `make test` installs it")
	}
	world.Do(func() { world.err = prepare(t, pgtest.Cluster(t).AdminURL("postgres"), pgtest.Name("smith")) })
	if world.err != nil {
		t.Fatal(world.err)
	}
	return smith.Config{Own: world.own, Other: world.other, Variants: proof.Variants(), Needles: statement.Needles, Statements: world.statements, Findings: 3}
}

// prepare makes the databases, which go with the test binary's Postgres, and the statements.
func prepare(t *testing.T, admin, name string) error {
	ctx := context.Background()
	w, err := proof.Build(ctx, admin, name, proof.Bundled)
	if err != nil {
		return err
	}
	world.proof = w
	server := int((*seed + 1) % uint64(len(proof.Servers))) //nolint:gosec // a handful
	d, own, other, err := w.Databases(server)
	if err != nil {
		return err
	}
	world.server, world.shared, world.role = proof.Servers[server], d, name+"_role"
	if world.alone, err = w.Emptied(ctx, server); err != nil {
		return err
	}
	role := name + "_client"
	for _, sql := range []string{"CREATE ROLE " + role + " LOGIN BYPASSRLS PASSWORD 'smith'", "GRANT pg_read_all_data, pg_write_all_data TO " + role} {
		execute(t, admin, sql)
	}
	world.d, world.own, world.other = pgtest.As(t, d, role, "smith"), pgtest.As(t, own, role, "smith"), pgtest.As(t, other, role, "smith")
	for _, u := range []*string{&world.d, &world.own, &world.other} {
		*u += "&search_path=public%2Cshop"
	}
	stamp(t, own)
	stamp(t, other)
	if *stored != "" {
		if world.statements, err = smith.Load(*stored); err == nil || !os.IsNotExist(err) {
			return err
		}
	}
	if world.statements, err = generate(t, admin, own); err != nil || *stored == "" {
		return err
	}
	return smith.Store(*stored, world.statements)
}

// generate gives statements for the catalog as it is and for what the policy admits.
func generate(t *testing.T, admin, own string) ([]string, error) {
	half := (*statements + 1) / 2
	wide, err := smith.Generate(t.Context(), scratch(t, admin, own), "public", half, *seed)
	if err != nil {
		return nil, err
	}
	narrow := scratch(t, admin, own)
	var tables []string
	for _, table := range statement.Tables() {
		tables = append(tables, table.Schema+"."+table.Name)
		for _, c := range table.Columns {
			if c.Hidden {
				execute(t, narrow, fmt.Sprintf("ALTER TABLE %s.%s DROP COLUMN %s", table.Schema, table.Name, c.Name))
			}
		}
	}
	if err := smith.Narrow(t.Context(), narrow, policies.Sets()["@builtin-safe"], policies.Types(), tables); err != nil {
		return nil, err
	}
	some, err := smith.Generate(t.Context(), narrow, "smith,pg_catalog,public,shop", half, *seed)
	return slices.Concat(wide[:len(wide)/2], smith.Plain(wide[len(wide)/2:]), smith.Plain(some)), err
}

// stamp has a database of the server's alone give every row that is written to the server, as
// tenantgate does.
func stamp(t *testing.T, url string) {
	t.Helper()
	for _, table := range statement.Tables() {
		if table.ScopeType == "" || !table.Fits(world.server) {
			continue
		}
		name := fmt.Sprintf("%s.%q", table.Schema, "stamp "+table.Name)
		execute(t, url, fmt.Sprintf(`CREATE FUNCTION %[1]s() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.%[2]q := '%[3]s'; RETURN NEW; END $$`, name, table.Scope(), world.server))
		execute(t, url, fmt.Sprintf(`CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON %s.%q FOR EACH ROW EXECUTE FUNCTION %s()`, table.Schema, table.Name, name))
	}
}

// scratch copies a database, without the tables that have no rows of the server, whose id is
// none of their scope column's, and the one whose name sqlsmith does not quote.
func scratch(t *testing.T, admin, template string) string {
	t.Helper()
	u, err := url.Parse(template)
	if err != nil {
		t.Fatal(err)
	}
	name := pgtest.Name("scratch")
	execute(t, admin, "CREATE DATABASE "+name+" TEMPLATE "+strings.TrimPrefix(u.Path, "/"))
	u.Path = "/" + name
	for _, table := range statement.Tables() {
		if table.Name == "Tag List" || table.ScopeType != "" && !table.Fits(world.server) {
			execute(t, u.String(), fmt.Sprintf("DROP TABLE %s.%q CASCADE", table.Schema, table.Name))
		}
	}
	return u.String()
}

func execute(t *testing.T, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

func replayed(t *testing.T, cfg smith.Config) *smith.Report {
	t.Helper()
	report, err := smith.Replay(t.Context(), cfg)
	t.Log(report)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestPlain replays on the server's own database, which must show no canary and be its own
// equal.
func TestPlain(t *testing.T) {
	cfg := build(t)
	cfg.Gate = cfg.Own
	report := replayed(t, cfg)
	for _, f := range report.Findings {
		t.Error(f)
	}
	if report.Leaks+report.Mismatches+report.Lost > 0 || report.Compared*20 < report.Tried {
		t.Error("the harness finds faults where none are, or compares next to nothing")
	}
}

// TestFilters has Postgres plan the statements: nothing that may fail or take long is evaluated before a scope condition.
func TestFilters(t *testing.T) {
	texts := build(t).Statements
	for _, walls := range []proof.Walls{proof.All, proof.Engine} {
		report, err := world.proof.Filters(t.Context(), proof.FiltersConfig{Walls: walls, Texts: texts})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("walls %s: %s", walls, report)
		for _, found := range report.Found {
			t.Errorf("walls %s: before the scope condition stands %s", walls, found)
		}
		if report.Planned*10 < report.Tried || report.Scans < report.Planned {
			t.Errorf("walls %s: too little was planned", walls)
		}
	}
}

// TestNothing replays on the shared database as a role that nothing stops: the harness must
// notice that.
func TestNothing(t *testing.T) {
	cfg := build(t)
	cfg.Gate, cfg.Variants = world.d, nil // no mismatch is to be explained
	report := replayed(t, cfg)
	if report.Leaks == 0 || report.Mismatches == 0 {
		t.Error("others' rows came back and it was not noticed")
	}
}
