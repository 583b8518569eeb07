package upstream

import (
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/wall"
)

// lacks gives what each bundled table lacks, and fails where Walled does not agree.
func (w *walled) lacks() map[string]string {
	w.t.Helper()
	s, err := w.pool.Schema(w.t.Context(), bundled)
	if err != nil || len(s.Tables) != len(bundled) {
		w.t.Fatalf("%d tables, %v", len(s.Tables), err)
	}
	lacks := map[string]string{}
	w.dark = 0
	for _, t := range s.Tables {
		if t.Dark {
			w.dark++
		}
		if t.Walled != (t.Lacks == "") {
			w.t.Errorf("%s: walled %v, lacks %q", t.Name, t.Walled, t.Lacks)
		}
		if t.Lacks != "" {
			lacks[t.Name] = t.Lacks
		}
	}
	return lacks
}

// Ensure each single thing that opens the wall is seen, and that mending it is.
func TestWhatOpensTheWall(t *testing.T) {
	w := walledBench(t, Config{MaxConns: 2}, direct)
	if lacks := w.lacks(); len(lacks) > 0 {
		t.Fatalf("as made: %v", lacks)
	}
	const end = "public.end_users"
	policyWith := func(using, check string) string {
		return "DROP POLICY tenantgate_server ON " + end + "; CREATE POLICY tenantgate_server ON " + end + " USING (" + using + ") WITH CHECK (" + check + ")"
	}
	right := wall.Expression("server_id", "pg_catalog", "text")
	view := func(query string) string {
		return "CREATE OR REPLACE VIEW tenantgate_wall.server WITH (security_barrier = true) AS " + query
	}
	source := view(strings.TrimSuffix(w.one("SELECT pg_get_viewdef('tenantgate_wall.server'::regclass)"), ";"))
	const signed = ` encode(sha256(k."outer" || sha256(k."inner" || convert_to(current_setting('tenantgate.server', true), 'UTF8'))), 'hex') = `
	const id = "SELECT NULLIF(current_setting('tenantgate.server', true), '') AS id FROM tenantgate_wall.keys k"
	group := pgtest.Name("group")
	defer execAt(t, w.url, "DROP ROLE "+group)
	w.exec("CREATE ROLE " + group + "; CREATE TABLE kept AS SELECT * FROM tenantgate_wall.keys")
	database := w.one("SELECT quote_ident(current_database())")
	for _, c := range []struct {
		open, mend string
		all        bool // every table lacks it
		says       string
	}{
		{"ALTER TABLE " + end + " DISABLE ROW LEVEL SECURITY", "ALTER TABLE " + end + " ENABLE ROW LEVEL SECURITY", false, "not enabled"},
		{"CREATE FOREIGN DATA WRAPPER w; CREATE SERVER far FOREIGN DATA WRAPPER w; CREATE FOREIGN TABLE kid () INHERITS (" + end + ") SERVER far", "DROP FOREIGN DATA WRAPPER w CASCADE", false, "foreign table inherits"},
		{"CREATE TABLE kid () INHERITS (" + end + ")", "DROP TABLE kid", false, ""},
		{"CREATE POLICY more ON " + end + " FOR SELECT USING (true)", "DROP POLICY more ON " + end, false, "more rows: more"},
		{"CREATE POLICY more ON " + end + " FOR DELETE TO ROLE USING (id = '')", "DROP POLICY more ON " + end, false, "more rows: more"},
		{"GRANT " + group + " TO ROLE; CREATE POLICY more ON " + end + " TO " + group + " USING (true)", "DROP POLICY more ON " + end + "; REVOKE " + group + " FROM ROLE", false, "more rows"},
		{"DROP POLICY tenantgate_server ON " + end, policyWith(right, right)[len("DROP POLICY tenantgate_server ON "+end+";"):], false, "no policy"},
		{"ALTER POLICY tenantgate_server ON " + end + " TO " + group, "ALTER POLICY tenantgate_server ON " + end + " TO PUBLIC", false, "no policy"},
		{policyWith("true", right), policyWith(right, right), false, "no policy"},
		{policyWith(right, "true"), policyWith(right, right), false, "no policy"},
		{policyWith(right+" OR true", right), policyWith(right, right), false, "no policy"},
		{policyWith("id = (SELECT s.id FROM tenantgate_wall.server s)", right), policyWith(right, right), false, "no policy"},
		{policyWith("server_id = (SELECT current_setting('tenantgate.server'))", right), policyWith(right, right), false, "no policy"},
		{policyWith("server_id <> (SELECT id FROM tenantgate_wall.server)", right), policyWith(right, right), false, "no policy"},
		{policyWith("server_id IN (SELECT id FROM tenantgate_wall.server)", right), policyWith(right, right), false, "no policy"},
		{"CREATE VIEW public.server AS SELECT 'b'::text AS id; " + policyWith("server_id = (SELECT id FROM public.server)", right), policyWith(right, right) + "; DROP VIEW public.server", false, "no policy"},
		{"DROP POLICY tenantgate_server ON " + end + "; CREATE POLICY tenantgate_server ON " + end + " FOR SELECT USING (" + right + ")", policyWith(right, right), false, "no policy"},
		{"DROP POLICY tenantgate_server ON " + end + "; CREATE POLICY tenantgate_server ON " + end + " FOR UPDATE USING (" + right + ") WITH CHECK (" + right + ")", policyWith(right, right), false, "no policy"},
		{"DROP POLICY tenantgate_server ON " + end + "; CREATE POLICY tenantgate_server ON " + end + " AS RESTRICTIVE USING (" + right + ") WITH CHECK (" + right + ")", policyWith(right, right), false, "no policy"},
		{"ALTER TABLE " + end + " OWNER TO ROLE", "ALTER TABLE " + end + " OWNER TO CURRENT_USER", false, "as its owner"},
		{"ALTER TABLE " + end + " OWNER TO " + group + "; GRANT " + group + " TO ROLE", "ALTER TABLE " + end + " OWNER TO CURRENT_USER; REVOKE " + group + " FROM ROLE", false, "as its owner"},
		{"ALTER TABLE " + end + " OWNER TO ROLE; ALTER TABLE " + end + " FORCE ROW LEVEL SECURITY", "ALTER TABLE " + end + " OWNER TO CURRENT_USER; ALTER TABLE " + end + " NO FORCE ROW LEVEL SECURITY", false, "as its owner"},
		{"ALTER ROLE ROLE BYPASSRLS", "ALTER ROLE ROLE NOBYPASSRLS", true, "BYPASSRLS"},
		{"ALTER ROLE ROLE SUPERUSER", "ALTER ROLE ROLE NOSUPERUSER", true, "superuser"},
		{"ALTER ROLE " + group + " BYPASSRLS; GRANT " + group + " TO ROLE", "ALTER ROLE " + group + " NOBYPASSRLS; REVOKE " + group + " FROM ROLE", true, "member of such a role"},
		{`CREATE SCHEMA evil; CREATE SCHEMA "evil.tenantgate_wall"; CREATE VIEW "evil.tenantgate_wall".server AS SELECT 'b'::text AS id; ` + policyWith(`server_id = (SELECT id FROM "evil.tenantgate_wall".server)`, right), policyWith(right, right) + `; DROP SCHEMA evil, "evil.tenantgate_wall" CASCADE`, false, "no policy"},
		{"SET check_function_bodies = off; CREATE FUNCTION tenantgate_wall.server() RETURNS text LANGUAGE sql AS 'SELECT NULL::text'; GRANT EXECUTE ON FUNCTION tenantgate_wall.server() TO ROLE; " + policyWith("server_id = (SELECT tenantgate_wall.server())", right), policyWith(right, right) + "; DROP FUNCTION tenantgate_wall.server()", false, "which earlier versions had"},
		{"ALTER VIEW tenantgate_wall.server SET (security_invoker = true)", "ALTER VIEW tenantgate_wall.server RESET (security_invoker)", true, "security_invoker view"},
		{"ALTER VIEW tenantgate_wall.server SET (security_invoker)", "ALTER VIEW tenantgate_wall.server SET (security_invoker = off)", true, "security_invoker view"},
		{"ALTER VIEW tenantgate_wall.server SET (security_barrier = false)", "ALTER VIEW tenantgate_wall.server SET (security_barrier = 1)", true, "not a security_barrier view"},
		{"ALTER VIEW tenantgate_wall.server RESET (security_barrier)", "ALTER VIEW tenantgate_wall.server SET (security_barrier)", true, "not a security_barrier view"},
		{"ALTER VIEW tenantgate_wall.server OWNER TO ROLE", "ALTER VIEW tenantgate_wall.server OWNER TO CURRENT_USER; GRANT SELECT ON tenantgate_wall.server TO ROLE", true, "owner of tenantgate_wall.server"},
		{"ALTER VIEW tenantgate_wall.server OWNER TO " + group + "; GRANT " + group + " TO ROLE", "ALTER VIEW tenantgate_wall.server OWNER TO CURRENT_USER; REVOKE " + group + " FROM ROLE; GRANT SELECT ON tenantgate_wall.server TO ROLE", true, "owner of tenantgate_wall.server"},
		{"ALTER SCHEMA tenantgate_wall OWNER TO ROLE", "ALTER SCHEMA tenantgate_wall OWNER TO CURRENT_USER; GRANT USAGE ON SCHEMA tenantgate_wall TO ROLE", true, "owner of tenantgate_wall.server"},
		{"REVOKE SELECT ON tenantgate_wall.server FROM ROLE", "GRANT SELECT ON tenantgate_wall.server TO ROLE", true, "may not read"},
		{"REVOKE USAGE ON SCHEMA tenantgate_wall FROM ROLE", "GRANT USAGE ON SCHEMA tenantgate_wall TO ROLE", true, "may not read"},
		{"GRANT DELETE ON tenantgate_wall.server TO ROLE", "REVOKE DELETE ON tenantgate_wall.server FROM ROLE", true, "more with tenantgate_wall.server than read it"},
		{"GRANT UPDATE (id) ON tenantgate_wall.server TO PUBLIC", "REVOKE UPDATE (id) ON tenantgate_wall.server FROM PUBLIC", true, "more with tenantgate_wall.server than read it"},
		{"GRANT TRIGGER ON tenantgate_wall.server TO " + group + "; GRANT " + group + " TO ROLE", "REVOKE ALL ON tenantgate_wall.server FROM " + group + "; REVOKE " + group + " FROM ROLE", true, "more with tenantgate_wall.server than read it"},
		{"GRANT SELECT (\"inner\") ON tenantgate_wall.keys TO ROLE", "REVOKE SELECT (\"inner\") ON tenantgate_wall.keys FROM ROLE", true, "reach tenantgate_wall.keys"},
		{"GRANT INSERT ON tenantgate_wall.keys TO PUBLIC", "REVOKE INSERT ON tenantgate_wall.keys FROM PUBLIC", true, "reach tenantgate_wall.keys"},
		{"ALTER TABLE tenantgate_wall.keys OWNER TO ROLE; REVOKE ALL ON tenantgate_wall.keys FROM ROLE", "ALTER TABLE tenantgate_wall.keys OWNER TO CURRENT_USER", true, "reach tenantgate_wall.keys"},
		{"ALTER TABLE tenantgate_wall.keys OWNER TO " + group + "; REVOKE ALL ON tenantgate_wall.keys FROM " + group + "; GRANT " + group + " TO ROLE", "ALTER TABLE tenantgate_wall.keys OWNER TO CURRENT_USER; REVOKE " + group + " FROM ROLE", true, "reach tenantgate_wall.keys"},
		{"GRANT pg_read_all_data TO ROLE", "REVOKE pg_read_all_data FROM ROLE", true, "reach tenantgate_wall.keys"},
		{`UPDATE tenantgate_wall.keys SET "inner" = "outer", "outer" = "inner"`, `UPDATE tenantgate_wall.keys SET "inner" = "outer", "outer" = "inner"`, true, "does not take the signature"},
		{view("SELECT current_setting('tenantgate.server', true) AS id FROM tenantgate_wall.keys k WHERE" + signed + "current_setting('tenantgate.signature', true)"), source, true, "not the view"}, // takes the empty id
		{view("SELECT current_setting('tenantgate.server', true) AS id"), source, true, "not the view"},
		{view("SELECT 'a'::text AS id"), source, true, "not the view"},
		{view(id + " WHERE" + signed + "current_setting('tenantgate.signature', true) OR current_user = 'none'"), source, true, "not the view"},
		{view(id + " WHERE" + signed + signed[:strings.LastIndex(signed, "=")]), source, true, "not the view"},
		{view(id), source, true, "not the view"},
		{view("SELECT NULL::text AS id"), source, true, "not the view"},
		{view("SELECT (1 / 0)::text AS id"), source, true, "not the view"},
		{"CREATE SCHEMA evil; CREATE FUNCTION evil.no(text, text) RETURNS bool LANGUAGE sql AS 'SELECT false'; CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.no); SET search_path = evil, pg_catalog; " +
			view(id+" WHERE"+strings.TrimSuffix(signed, "= ")+"OPERATOR(pg_catalog.=) current_setting('tenantgate.signature', true)"), // NULLIF's operator is not printed
			"RESET search_path; " + source + "; DROP SCHEMA evil CASCADE", true, "not the view"},
		{"DELETE FROM tenantgate_wall.keys", "INSERT INTO tenantgate_wall.keys SELECT * FROM kept", true, "does not take the signature"},
		{"ALTER TABLE tenantgate_wall.keys OWNER TO " + group, "ALTER TABLE tenantgate_wall.keys OWNER TO CURRENT_USER", false, ""}, // the view's is a superuser
		{"CREATE ROLE poor" + group + "; ALTER VIEW tenantgate_wall.server OWNER TO poor" + group, "ALTER VIEW tenantgate_wall.server OWNER TO CURRENT_USER; DROP ROLE poor" + group, true, "fails with SQLSTATE 42501"},
		{"ALTER VIEW tenantgate_wall.server RENAME TO elsewhere", "ALTER VIEW tenantgate_wall.elsewhere RENAME TO server", true, "there is no view"},
		{"ALTER SCHEMA tenantgate_wall RENAME TO elsewhere", "ALTER SCHEMA elsewhere RENAME TO tenantgate_wall", true, "there is no view"},
		{"ALTER DATABASE " + database + " SET row_security = off", "ALTER DATABASE " + database + " RESET row_security", false, ""},
	} {
		w.exec(named(c.open, w.role))
		w.pool.replace()
		lacks, dark := w.lacks(), 0
		switch denied := strings.Contains(c.says, "no policy") && (!strings.Contains(c.open, "CREATE") || strings.Contains(c.open, "RESTRICTIVE")); {
		case c.all && (w.shows("b") < 2 || strings.Contains(c.says, "no view")): // a policy follows its view to another name
			dark = len(bundled)
		case denied, strings.Contains(c.says, "earlier versions"):
			dark = 1
		}
		if w.dark != dark {
			t.Errorf("%s: %d tables are dark, want %d", c.open, w.dark, dark)
		}
		switch {
		case c.says == "" && len(lacks) > 0, c.says != "" && !c.all && len(lacks) != 1, c.all && len(lacks) != len(bundled), !strings.Contains(lacks["end_users"], c.says):
			t.Errorf("%s: %v", c.open, lacks)
		}
		w.exec(named(c.mend, w.role) + "; GRANT SELECT ON " + end + " TO " + w.role) // an owner's grants go with him
		if lacks := w.lacks(); len(lacks) > 0 {
			t.Fatalf("after %s: %v", c.mend, lacks)
		}
	}
	w.key.Store(nil)
	if lacks := w.lacks(); len(lacks) != len(bundled) || !strings.Contains(lacks["files"], "no key") {
		t.Errorf("without a key: %v", lacks)
	}
	w.key.Store(&wall.Key{ID: 1, Secret: make([]byte, wall.Size)})
	if lacks := w.lacks(); len(lacks) != len(bundled) || !strings.Contains(lacks["files"], "does not take") {
		t.Errorf("with a false key: %v", lacks)
	}
}

// named puts a role's name where a statement ends in TO ROLE, FROM ROLE or ALTER ROLE ROLE.
func named(sql, role string) string {
	for _, before := range []string{"TO ", "FROM ", "ALTER ROLE "} {
		sql = strings.ReplaceAll(sql, before+"ROLE", before+role)
	}
	return sql
}

// Ensure the expression is known as Postgres prints it, for every type that can scope a table,
// whatever the names, and taken for no other column's.
func TestTheWallOnOwnTables(t *testing.T) {
	w := walledBench(t, Config{MaxConns: 2}, direct)
	w.exec("CREATE SCHEMA ext; CREATE EXTENSION citext SCHEMA ext")
	var tables []policy.TableName
	for i, c := range []struct{ column, declared, schema, typ string }{
		{"tenant", "text", "pg_catalog", "text"}, {`We "ird`, "text", "pg_catalog", "text"}, {"user", "text", "pg_catalog", "text"}, {"Tenant", "varchar(40)", "pg_catalog", "varchar"},
		{"tenant", "varchar", "pg_catalog", "varchar"}, {"tenant", "char(8)", "pg_catalog", "bpchar"}, {"tenant", "uuid", "pg_catalog", "uuid"}, {"tenant", "int2", "pg_catalog", "int2"},
		{"tenant", "int4", "pg_catalog", "int4"}, {"tenant", "int8", "pg_catalog", "int8"}, {"tenant", "ext.citext", "ext", "citext"},
	} {
		name := policy.TableName{Schema: "public", Name: "own" + strconv.Itoa(i)}
		column, expression := pgx.Identifier{c.column}.Sanitize(), wall.Expression(c.column, c.schema, c.typ)
		w.exec("CREATE TABLE " + name.Name + " (id int, " + column + " " + c.declared + ", another " + c.declared + "); ALTER TABLE " + name.Name + " ENABLE ROW LEVEL SECURITY")
		w.exec("SET search_path = public, ext; CREATE POLICY tenantgate_server ON " + name.Name + " USING (" + expression + ") WITH CHECK (" + expression + ")")
		w.pool.cfg.Wall.Scopes[name] = c.column
		tables = append(tables, name)
	}
	read := func() policy.Schema {
		t.Helper()
		s, err := w.pool.Schema(t.Context(), tables)
		if err != nil || len(s.Tables) != len(tables) {
			t.Fatalf("%d tables, %v", len(s.Tables), err)
		}
		return s
	}
	for _, table := range read().Tables {
		if !table.Walled {
			t.Errorf("%+v: %s", table.Columns[1], table.Lacks)
		}
	}
	// A cast of somebody's is in no text that is printed.
	expression := wall.Expression("tenant", "pg_catalog", "uuid")
	w.exec("DROP POLICY tenantgate_server ON own6; CREATE FUNCTION any_uuid(text) RETURNS uuid LANGUAGE sql AS 'SELECT gen_random_uuid()'; CREATE CAST (text AS uuid) WITH FUNCTION any_uuid(text); " +
		"CREATE POLICY tenantgate_server ON own6 USING (" + expression + ") WITH CHECK (" + expression + ")")
	for _, table := range read().Tables {
		if own6 := table.Name == "own6"; table.Walled == own6 || own6 != strings.Contains(table.Lacks, "no policy") {
			t.Errorf("with a cast that somebody made: %s is walled %v, lacks %q", table.Name, table.Walled, table.Lacks)
		}
	}
	for _, scope := range []string{"another", "absent", ""} {
		for _, name := range tables {
			w.pool.cfg.Wall.Scopes[name] = scope
		}
		for _, table := range read().Tables {
			if table.Walled || table.Lacks == "" {
				t.Errorf("scoped by %q: %+v is walled", scope, table.Columns[1])
			}
		}
	}
}

// Ensure a connection that ends while it tries the view makes the reading fail, so that the schema before stays in use, and is no
// lack of the database, with which nothing would be served.
func TestWallTriedOnALostConnection(t *testing.T) {
	w := walledBench(t, Config{MaxConns: 2}, direct)
	if lacks := w.lacks(); len(lacks) > 0 {
		t.Fatal(lacks)
	}
	tx, err := w.admin.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK TABLE tenantgate_wall.keys IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() {
		_, err := w.pool.Schema(t.Context(), bundled)
		read <- err
	}()
	w.waitsForLock(tx)
	if _, err := tx.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1 AND wait_event_type = 'Lock'", w.role); err != nil {
		t.Fatal(err)
	}
	if err := <-read; err == nil {
		t.Error("the schema was read")
	}
}
