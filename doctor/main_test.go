package doctor

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/wall"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// shop is the policy of the tests: two scoped tables, one with a column that is closed,
// and one that all servers share.
const shop = `apiVersion: tenantgate/v1
kind: Policy
metadata: {name: shop}
statement: {kinds: [select, insert, update, delete]}
tables:
  orders: {scoped: true, columns: {secret: {read: false}, stamp: {write: false}}}
  items: {scoped: true}
  countries: {scoped: false, access: [select]}
functions: {allow: [public.allowed]}
`

// sound is a database without a fault: @role is the statement role, @other another one
// that reads the tables, @owner theirs.
const sound = `
	ALTER SCHEMA public OWNER TO @owner;
	REVOKE ALL ON SCHEMA public FROM PUBLIC;
	GRANT USAGE ON SCHEMA public TO @role, @other;
	SET ROLE @owner;
	CREATE TABLE public.orders (id text NOT NULL DEFAULT gen_random_uuid()::text, server_id text NOT NULL, total int, secret text, stamp text, PRIMARY KEY (server_id, id));
	CREATE TABLE public.items (id uuid NOT NULL DEFAULT gen_random_uuid(), server_id text NOT NULL, order_id text, name text, PRIMARY KEY (server_id, id),
		CONSTRAINT items_order FOREIGN KEY (server_id, order_id) REFERENCES public.orders ON DELETE SET NULL (order_id));
	CREATE TABLE public.countries (code text PRIMARY KEY);
	CREATE TABLE public.unnamed (a int);
	GRANT SELECT (id, server_id, total, stamp), INSERT (id, server_id, total, secret), UPDATE (id, server_id, total, secret), DELETE ON public.orders TO @role;
	GRANT SELECT, INSERT, UPDATE, DELETE ON public.items TO @role;
	GRANT SELECT ON public.countries TO @role;
	GRANT SELECT ON public.orders TO @other;
	RESET ROLE;
	@schema
	INSERT INTO tenantgate_wall.keys VALUES (1, '@inner', '@outer');
	ALTER TABLE public.orders ENABLE ROW LEVEL SECURITY;
	ALTER TABLE public.items ENABLE ROW LEVEL SECURITY;
	CREATE POLICY tenantgate_server ON public.orders TO @role USING (@expression) WITH CHECK (@expression);
	CREATE POLICY tenantgate_server ON public.items TO @role USING (@expression) WITH CHECK (@expression);
	CREATE POLICY reports ON public.orders FOR SELECT TO @other USING (true);` + noStatistics

// schemaSQL makes the schema, the table of keys without a key, and the view of package
// wall: the same that the migration makes.
const schemaSQL = `CREATE SCHEMA IF NOT EXISTS ` + wall.Schema + `;
` + wall.Objects + `GRANT USAGE ON SCHEMA ` + wall.Schema + ` TO @role;
GRANT SELECT ON ` + wall.Server + ` TO @role;`

// clinic is the server of the tests, with the roles and the sound database, from which
// each test's own is copied.
type clinic struct {
	names *strings.Replacer
	admin string // URL
	key   wall.Key
	model string
}

func openClinic(t *testing.T) *clinic {
	t.Helper()
	key := wall.Key{ID: 1, Secret: []byte("0123456789abcdef0123456789abcdef")}
	in, out := key.Pads()
	role, other, owner := pgtest.Name("statement"), pgtest.Name("other"), pgtest.Name("owner")
	c := &clinic{admin: pgtest.Cluster(t).AdminURL("postgres"), key: key, model: pgtest.Name("model")}
	c.names = strings.NewReplacer("@schema", strings.ReplaceAll(schemaSQL, "@role", role), "@role", role, "@other", other, "@owner", owner,
		"@expression", wall.Expression("server_id", "pg_catalog", "text"), "@inner", fmt.Sprintf(`\x%x`, in), "@outer", fmt.Sprintf(`\x%x`, out))
	c.exec(t, c.admin, "CREATE ROLE @role LOGIN PASSWORD 'secret'; CREATE ROLE @other; CREATE ROLE @owner")
	c.exec(t, c.admin, "CREATE DATABASE "+c.model)
	t.Cleanup(func() {
		c.exec(t, c.admin, "DROP DATABASE "+c.model+" WITH (FORCE)")
		c.exec(t, c.admin, "DROP ROLE @role, @other, @owner")
	})
	c.exec(t, c.url(t, c.model), sound)
	return c
}

func (c *clinic) url(t *testing.T, database string) string {
	t.Helper()
	return pgtest.Cluster(t).AdminURL(database)
}

// patient copies the sound database and gives its admin URL.
func (c *clinic) patient(t *testing.T) string {
	t.Helper()
	name := pgtest.Name("patient")
	c.exec(t, c.admin, "CREATE DATABASE "+name+" TEMPLATE "+c.model)
	c.exec(t, c.admin, "REVOKE TEMPORARY ON DATABASE "+name+" FROM PUBLIC")
	// Planning the checks takes longer than running them: without the search for the best order of joins a third less.
	c.exec(t, c.admin, "ALTER DATABASE "+name+" SET join_collapse_limit = 1")
	c.exec(t, c.admin, "ALTER DATABASE "+name+" SET from_collapse_limit = 1")
	t.Cleanup(func() { c.exec(t, c.admin, "DROP DATABASE "+name+" WITH (FORCE)") })
	return c.url(t, name)
}

// exec runs statements with the names filled in, as the simple protocol does.
func (c *clinic) exec(t *testing.T, url, sql string) {
	t.Helper()
	if err := c.try(url, sql); err != nil {
		t.Fatalf("%s: %v", c.names.Replace(sql), err)
	}
}

func (c *clinic) try(url, sql string) error {
	ctx := context.Background() // also in a cleanup
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, c.names.Replace(sql))
	return err
}

func files(t *testing.T, sources ...string) (all []*policy.File) {
	t.Helper()
	for _, src := range sources {
		f, err := policy.Parse([]byte(src))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	return all
}

// examine looks a database over and leaves out what is the machine's: its release.
func (c *clinic) examine(t *testing.T, url string, sources ...string) *Report {
	t.Helper()
	if len(sources) == 0 {
		sources = []string{shop}
	}
	r, err := Examine(t.Context(), Config{URL: pgtest.As(t, url, c.names.Replace("@role"), "secret"), OwnerURL: url, Files: files(t, sources...)})
	if err != nil {
		t.Fatal(err)
	}
	var own []Finding
	for _, f := range r.Findings {
		if !strings.HasPrefix(f.Check, "release-") {
			own = append(own, f)
		}
	}
	r.Findings = own
	return r
}

// list writes findings as the tests expect them, one on a line.
func list(findings []Finding) string {
	var lines []string
	for _, f := range findings {
		lines = append(lines, f.Grade.String()+" "+f.Check+" "+f.Object)
	}
	return strings.Join(lines, "\n")
}
