package upstream

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/doctor"
	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
)

// covered are what the readings name beside signed tables, and by what the sign covers it.
var covered = map[string]string{
	"pg_roles": "in the sign as it is", "pg_settings": "boot_val is the server's program's", "pg_stats": "by it a finding that only tells may come and go: within anewAfter",
	"pg_has_role": "pg_roles, pg_auth_members", "has_schema_privilege": "nspacl and roles", "has_column_privilege": "attacl, relacl and roles", "has_any_column_privilege": "attacl, relacl and roles",
	"has_table_privilege": "relacl and roles", "row_security_active": "row_security, pg_class and roles", "format_type": "pg_type", "pg_get_constraintdef": "pg_constraint and what it names",
	"pg_get_expr": "an expression and what it names", "pg_get_function_identity_arguments": "pg_proc, pg_type", "pg_get_function_sqlbody": "pg_proc and what it names", "pg_get_indexdef": "pg_index and what it names",
	"pg_index_has_property": "pg_class, pg_am and the server's program", "pg_indexam_has_property": "pg_am and the server's program",
	"pg_get_viewdef": "pg_rewrite and what it names", "current_database": "in the sign", "set_config": "sets for the reading itself", "current_setting": "in the sign",
	"current_user": "in the sign", "session_user": "in the sign", "regclass": "names, in pg_class", "aclexplode": "reads its argument", "pg_options_to_table": "reads its argument",
	"convert_to": "reads its argument", "length": "reads its argument", "pg_statistic": "in a text, as is ts_stat", "ts_stat": "in a pattern",
}

// watch is what the service asks of the tables that the bundled policy names.
func watch(t testing.TB) *doctor.Watch {
	t.Helper()
	text, _ := policies.Named("default")
	f, err := policy.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	w, err := doctor.NewWatch([]*policy.File{f}, policies.Sets())
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Ensure that every table of the catalog that is read is in the sign, and that somebody has looked at
// each function that reads one by itself.
func TestSignCoversWhatIsRead(t *testing.T) {
	b := setup(t, Config{}, "")
	asked, _ := watch(t).Query()
	for _, sql := range []string{schemaSQL, ownersSQL, roleRLS, schemasSQL, namesakesSQL, bareSQL} {
		asked += "\n" + sql
	}
	words := slices.Compact(slices.Sorted(slices.Values(regexp.MustCompile(`\w+`).FindAllString(asked, -1))))
	rows, _ := b.admin.Query(t.Context(), `SELECT relname::text FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace AND relkind IN ('r', 'v') AND relname = ANY ($1::text[])
		UNION SELECT proname::text FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND provolatile <> 'i' AND prokind = 'f' AND proname = ANY ($1)
			AND proname !~ '^(json_|jsonb_|format|concat|array_|to_json|quote_|generate_series|name|text|regexp_|unnest)' OR proname = 'format_type'`, words)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(names) < 20 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		if !slices.Contains(signedTables, name) && covered[name] == "" {
			t.Errorf("%s is read, and a change of it is not in the sign", name)
		}
	}
}

// Ensure that what can open a table to others' rows changes the sign, for a role that may do nothing, and
// that rows, statistics and vacuum do not.
func TestSignChanges(t *testing.T) {
	b := setup(t, Config{}, "CREATE SCHEMA app; CREATE FUNCTION app.eq(int, text) RETURNS bool LANGUAGE sql AS 'SELECT true'; CREATE TABLE t (id int PRIMARY KEY, a text, b text); CREATE TABLE parent (); CREATE TYPE mood AS ENUM ('sad'); CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'")
	role := pgtest.Name("plain")
	b.exec("CREATE ROLE " + role + " LOGIN PASSWORD 'p'")
	pool, err := Open(t.Context(), Config{URL: pgtest.As(t, b.url, role, "p"), AcquireTimeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	sign := func() string {
		l, err := pool.acquireOwn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer pool.release(l, ownTurn)
		s, err := readSign(t.Context(), l.conn)
		if err != nil || s == "" {
			t.Fatalf("%q, %v", s, err)
		}
		return s
	}
	last := sign()
	for _, step := range strings.Split(strings.ReplaceAll(`ALTER TABLE t ENABLE ROW LEVEL SECURITY; ALTER TABLE t FORCE ROW LEVEL SECURITY; CREATE POLICY p ON t USING (true); ALTER POLICY p ON t USING (false); DROP POLICY p ON t;
		GRANT SELECT ON t TO @; GRANT UPDATE (a) ON t TO @; REVOKE UPDATE (a) ON t FROM @; GRANT USAGE ON SCHEMA app TO @; GRANT pg_read_all_data TO @; REVOKE pg_read_all_data FROM @;
		ALTER ROLE @ BYPASSRLS; ALTER ROLE @ NOBYPASSRLS; ALTER ROLE @ SET search_path = app; ALTER ROLE @ RESET search_path; ALTER TABLE t OWNER TO @; ALTER TABLE t OWNER TO CURRENT_USER;
		CREATE RULE r AS ON DELETE TO t DO INSTEAD NOTHING; ALTER TABLE t DISABLE RULE r; DROP RULE r ON t; CREATE VIEW v AS SELECT a FROM t; ALTER VIEW v SET (security_invoker = true); CREATE OR REPLACE VIEW v AS SELECT a || b AS a FROM t;
		CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f(); ALTER TABLE t DISABLE TRIGGER g; ALTER FUNCTION f() SECURITY DEFINER; ALTER FUNCTION f() SET search_path = app; CREATE OR REPLACE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN END';
		ALTER TABLE t ALTER b SET DEFAULT 'x'; ALTER TABLE t ALTER b SET DEFAULT 'y'; ALTER TABLE t ALTER b SET STATISTICS 0; ALTER TABLE t RENAME b TO c; ALTER TABLE t ADD d int; ALTER TABLE t DROP d; ALTER TABLE t INHERIT parent; ALTER TABLE t NO INHERIT parent;
		CREATE UNIQUE INDEX i ON t (a); ALTER TABLE t ADD CONSTRAINT k CHECK (a <> '') NOT VALID; ALTER TABLE t VALIDATE CONSTRAINT k; CREATE STATISTICS s ON id, a FROM t; ALTER TYPE mood RENAME TO humour;
		CREATE FUNCTION app.lower(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1'; ALTER FUNCTION app.lower(text) LEAKPROOF; CREATE OPERATOR app.= (LEFTARG = int, RIGHTARG = text, FUNCTION = app.eq);
		ALTER FUNCTION pg_catalog.upper(text) COST 2; ALTER FUNCTION pg_catalog.upper(text) COST 1; CREATE EXTENSION citext; ALTER SCHEMA app RENAME TO b; DELETE FROM pg_catalog.pg_cast WHERE castsource = 'citext'::regtype AND casttarget = 'varchar'::regtype`, "@", role), ";") {
		b.exec(step)
		now := sign()
		if now == last {
			t.Errorf("the sign is the same after %s", strings.TrimSpace(step))
		}
		last = now
	}
	b.exec("INSERT INTO t SELECT g, g FROM generate_series(1, 1000) g; UPDATE t SET a = 'x' || a; ANALYZE t")
	b.exec("VACUUM FREEZE t")
	if now := sign(); now != last {
		t.Error("rows change the sign")
	}
}

// counted counts how often it is asked.
type counted struct {
	Judge
	n int
}

func (c *counted) Read(answer []byte) ([]policy.Finding, error) {
	c.n++
	return c.Judge.Read(answer)
}

// Ensure that an unchanged catalog is not read again, a changed one is, and one that was read long ago.
func TestUnchangedCatalogIsNotReadAgain(t *testing.T) {
	judge := &counted{Judge: watch(t)}
	b := setup(t, Config{Judge: judge, MaxConns: 2}, bundledTables(t))
	tables := []policy.TableName{{Schema: "public", Name: "files"}, {Schema: "public", Name: "messages"}}
	read := func(n int) policy.Schema {
		t.Helper()
		s, err := b.pool.Schema(t.Context(), tables)
		if err != nil || judge.n != n {
			t.Fatalf("read %d times, want %d: %v", judge.n, n, err)
		}
		return s
	}
	first := read(1)
	if d := cmp.Diff(first, read(1)); d != "" {
		t.Error(d)
	}
	b.exec("CREATE RULE r AS ON DELETE TO files DO INSTEAD UPDATE messages SET id = id")
	s := read(2)
	has := func(name string) bool {
		return slices.ContainsFunc(s.Tables[0].Findings, func(f policy.Finding) bool { return f.Name == name })
	}
	if !has("hidden-rule") {
		t.Errorf("%+v", s.Tables[0].Findings)
	}
	b.pool.lastRead.Load().at = time.Now().Add(-anewAfter)
	read(3)
	tables = tables[:1]
	if s = read(4); len(s.Tables) != 1 || !has("hidden-rule") {
		t.Errorf("%+v", s.Tables)
	}
	b.exec("DROP RULE r ON files")
	if s = read(5); has("hidden-rule") {
		t.Errorf("%+v", s.Tables[0].Findings)
	}
}

// Ensure that a role that may not read a catalog which only the sign needs reads all each time.
func TestSignOfClosedCatalog(t *testing.T) {
	judge := &counted{Judge: watch(t)}
	b := setup(t, Config{}, bundledTables(t))
	role := pgtest.Name("plain")
	b.exec("CREATE ROLE " + role + " LOGIN PASSWORD 'p'; REVOKE SELECT ON pg_catalog.pg_auth_members FROM PUBLIC")
	pool, err := Open(t.Context(), Config{URL: pgtest.As(t, b.url, role, "p"), AcquireTimeout: 20 * time.Second, Judge: judge})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	for n := range 2 {
		if _, err := pool.Schema(t.Context(), []policy.TableName{{Schema: "public", Name: "files"}}); err != nil || judge.n != n+1 {
			t.Fatalf("read %d times: %v", judge.n, err)
		}
	}
}
