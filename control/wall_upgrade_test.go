package control

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/wall"
)

// Ensure objects that are there already are no hindrance, that the keys stay when the wall is made
// again, that the view is then as package wall has it, and that one that is stays untouched:
// to replace it would wait for all statements.
func TestTheWallIsMadeAgain(t *testing.T) {
	roles := testRoles(t)
	url := pgtest.Database(t)
	exec(t, url, "CREATE SCHEMA tenantgate_wall; "+wall.Objects)
	exec(t, url, `INSERT INTO tenantgate_wall.keys (id, "inner", "outer") VALUES (7, decode(repeat('00', 64), 'hex'), decode(repeat('00', 64), 'hex'))`)
	const made = "SELECT xmin::text FROM pg_rewrite WHERE ev_class = 'tenantgate_wall.server'::regclass"
	const ours = "SELECT (" + wall.Barrier + " AND NOT " + wall.Invoker + " AND " + wall.Defined + ")::text FROM pg_class c WHERE c.oid = 'tenantgate_wall.server'::regclass"
	before := query[string](t, url, made)
	want(t, url, "true", ours)
	for _, spoil := range []string{
		"", "CREATE OR REPLACE VIEW tenantgate_wall.server AS SELECT current_setting('tenantgate.server', true) AS id FROM tenantgate_wall.keys",
		"ALTER VIEW tenantgate_wall.server SET (security_invoker = true)", "ALTER VIEW tenantgate_wall.server RESET (security_barrier)", "ALTER VIEW tenantgate_wall.server SET (security_barrier = off)",
		"CREATE OR REPLACE VIEW tenantgate_wall.server WITH (security_barrier) AS SELECT k.id::text FROM tenantgate_wall.keys AS k", "DROP VIEW tenantgate_wall.server",
	} {
		if spoil != "" {
			exec(t, url, spoil)
			if !strings.HasPrefix(spoil, "DROP") {
				want(t, url, "false", ours)
			}
		}
		if _, err := MigrateWall(t.Context(), url, roles); err != nil {
			t.Fatal(err)
		}
		want(t, url, "true", ours)
		if after := query[string](t, url, made); spoil == "" && after != before {
			t.Errorf("the view was made in %s and again in %s", before, after)
		}
	}
	want(t, url, "7", "SELECT max(id)::text FROM tenantgate_wall.keys")
}

// Ensure two keys can't be equal, in a table of keys from before that was made sure of either: the view would have two rows.
func TestKeysDiffer(t *testing.T) {
	url, _, _ := walledDB(t)
	for range 2 {
		conn := connect(t, url)
		if _, err := conn.Exec(t.Context(), `INSERT INTO tenantgate_wall.keys (id, "inner", "outer") SELECT 9, "inner", "outer" FROM tenantgate_wall.keys`); sqlState(err) != "23505" {
			t.Errorf("%v", err)
		}
		exec(t, url, "DROP INDEX tenantgate_wall.keys_differ")
		if _, err := MigrateWall(t.Context(), url, Roles{Statement: "none", Lookup: "nobody", Optional: true}); err != nil {
			t.Fatal(err)
		}
	}
}

// formerFunction is what did the view's work in earlier versions.
const formerFunction = `CREATE FUNCTION tenantgate_wall.server() RETURNS pg_catalog.text LANGUAGE plpgsql STABLE SECURITY DEFINER PARALLEL SAFE AS $$
DECLARE
    claimed pg_catalog.text := pg_catalog.substr(pg_catalog.current_setting('tenantgate.server', true),
        pg_catalog.strpos(pg_catalog.current_setting('tenantgate.server', true), '.') OPERATOR(pg_catalog.+) 66);
BEGIN
    RETURN (SELECT claimed FROM tenantgate_wall.keys AS k
        WHERE pg_catalog.current_setting('tenantgate.server', true) OPERATOR(pg_catalog.=) pg_catalog.concat_ws('.', k.id,
            pg_catalog.encode(pg_catalog.sha256(k."outer" OPERATOR(pg_catalog.||)
                pg_catalog.sha256(k."inner" OPERATOR(pg_catalog.||) pg_catalog.convert_to(claimed, 'UTF8'))), 'hex'), claimed));
END
$$`

// Ensure a database from before the view comes over whole: its bundled policies read the
// view, the function stays for the tables of others that call it, shows them no row, and
// goes once none does.
func TestFromTheFunctionToTheView(t *testing.T) {
	url, roles, keys := walledDB(t)
	exec(t, url, formerFunction)
	exec(t, url, `GRANT EXECUTE ON FUNCTION tenantgate_wall.server() TO `+roles.Statement+`; CREATE TABLE own (server_id text); ALTER TABLE own ENABLE ROW LEVEL SECURITY; GRANT SELECT ON own TO `+roles.Statement+`;
		INSERT INTO own VALUES ('a'); CREATE POLICY tenantgate_server ON own USING (server_id = (SELECT tenantgate_wall.server()))`)
	for _, table := range []string{"end_users", "conversations", "messages", "files"} {
		exec(t, url, "ALTER POLICY tenantgate_server ON "+table+" USING (server_id = (SELECT tenantgate_wall.server())) WITH CHECK (server_id = (SELECT tenantgate_wall.server()))")
	}
	exec(t, url, "DROP VIEW tenantgate_wall.server; DROP INDEX tenantgate_wall.keys_differ; DELETE FROM tenantgate_migrations WHERE version_id >= 3")
	for range 2 {
		if _, err := MigrateBundled(t.Context(), url, roles); err != nil {
			t.Fatal(err)
		}
		wantCode(t, keys.Ensure(t.Context()), "")
	}
	key := secretOf(t, url, 1)
	conn := connect(t, pgtest.As(t, url, roles.Statement, "secret"))
	if seen(t, conn, "a", key.Sign("a")) != 1 || seen(t, conn, "b", key.Sign("a")) != 0 {
		t.Error("the bundled tables do not tell the servers apart")
	}
	err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) (err error) {
		if err = claim(t, tx, "a", key.Sign("a")); err != nil {
			return err
		}
		var n int
		if err = tx.QueryRow(t.Context(), "SELECT count(*) FROM own").Scan(&n); n != 0 {
			t.Errorf("the function shows %d rows", n)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	const functions = "SELECT count(*)::text FROM pg_proc WHERE pronamespace = 'tenantgate_wall'::regnamespace"
	want(t, url, "1", functions+" AND NOT prosecdef")
	want(t, url, "true", `SELECT (tenantgate_wall.server() IS NULL)::text FROM set_config('tenantgate.server', '1.`+key.Sign("a")+`.a', false)`)
	exec(t, url, "DROP POLICY tenantgate_server ON own")
	if _, err := MigrateWall(t.Context(), url, roles); err != nil {
		t.Fatal(err)
	}
	want(t, url, "0", functions)
}
