package control

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/wall"
)

// evil are a schema's functions, operators and types that stand in for what the view means,
// where they come first on the search path.
const evil = `CREATE SCHEMA evil; GRANT USAGE ON SCHEMA evil TO PUBLIC;
	CREATE FUNCTION evil.current_setting(text, boolean) RETURNS text LANGUAGE sql AS $$ SELECT 'b' $$;
	CREATE FUNCTION evil.encode(bytea, text) RETURNS text LANGUAGE sql AS $$ SELECT pg_catalog.current_setting('tenantgate.signature') $$;
	CREATE FUNCTION evil.sha256(bytea) RETURNS bytea LANGUAGE sql AS $$ SELECT '\x00'::bytea $$;
	CREATE FUNCTION evil.convert_to(text, text) RETURNS bytea LANGUAGE sql AS $$ SELECT 'a'::bytea $$;
	CREATE FUNCTION evil.equal(text, text) RETURNS boolean LANGUAGE sql AS $$ SELECT true $$;
	CREATE FUNCTION evil.unequal(text, text) RETURNS boolean LANGUAGE sql AS $$ SELECT false $$;
	CREATE FUNCTION evil.joined(bytea, bytea) RETURNS bytea LANGUAGE sql AS $$ SELECT '\x00'::bytea $$;
	CREATE FUNCTION evil.now() RETURNS timestamptz LANGUAGE sql AS $$ SELECT NULL::timestamptz $$;
	CREATE FUNCTION evil.set_config(text, text, boolean) RETURNS text LANGUAGE sql AS $$ SELECT 'b' $$;
	CREATE FUNCTION evil.octet_length(bytea) RETURNS integer LANGUAGE sql IMMUTABLE AS $$ SELECT 64 $$;
	CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.equal);
	CREATE OPERATOR evil.<> (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.unequal);
	CREATE OPERATOR evil.|| (LEFTARG = bytea, RIGHTARG = bytea, FUNCTION = evil.joined);
	CREATE DOMAIN evil.text AS pg_catalog.text DEFAULT 'b';
	CREATE DOMAIN evil.bytea AS pg_catalog.bytea;
	CREATE VIEW evil.pg_class AS SELECT 0::oid AS oid;
	CREATE DOMAIN evil.boolean AS pg_catalog.bool`

// Ensure nothing that a session's search path or its temporary schema holds stands in for
// what the view means, neither when it is made nor when it is read: functions, operators,
// types and tables.
func TestTheWallIgnoresThePath(t *testing.T) {
	roles := testRoles(t)
	url := pgtest.Database(t)
	exec(t, url, evil)
	const strays = `SELECT (count(*) > 0)::pg_catalog.text FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_rewrite r ON r.oid = d.objid
		WHERE r.ev_class = 'tenantgate_wall.server'::regclass AND d.refclassid <> 'pg_catalog.pg_class'::regclass`
	exec(t, url, "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = evil, pg_catalog, public', current_database()); EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO PUBLIC', current_database()); END $$")
	for _, migrate := range []func() error{
		func() error { _, err := MigrateWall(t.Context(), url, roles); return err },
		func() error { // where the view was made without this program, on that path
			exec(t, url, "CREATE OR REPLACE VIEW tenantgate_wall.server WITH (security_barrier = true) AS SELECT NULLIF(current_setting('tenantgate.server', true), ''::pg_catalog.text) AS id FROM tenantgate_wall.keys AS k "+
				`WHERE encode(sha256(k."outer" || sha256(k."inner" || convert_to(current_setting('tenantgate.server', true), 'UTF8'))), 'hex') = current_setting('tenantgate.signature', true)`)
			want(t, url, "true", strays)
			_, err := MigrateWall(t.Context(), url, roles)
			return err
		},
	} {
		if err := migrate(); err != nil {
			t.Fatal(err)
		}
		want(t, url, "false", strays)
	}
	exec(t, url, "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I RESET search_path', current_database()); END $$")
	if _, err := MigrateBundled(t.Context(), url, roles); err != nil {
		t.Fatal(err)
	}
	if err := MigrateControl(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	wantCode(t, WallKeys{ControlURL: url, OwnerURL: url}.Ensure(t.Context()), "")
	exec(t, url, "INSERT INTO end_users (server_id, id) VALUES ('a', '1'), ('b', '1'), ('b', '2'); DO $$ BEGIN EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO PUBLIC', current_database()); END $$")
	key := secretOf(t, url, 1)
	for _, path := range []string{"evil, pg_catalog, public", "pg_temp, evil, pg_catalog, public", "public, pg_catalog"} {
		conn := connect(t, pgtest.As(t, url, roles.Statement, "secret"))
		_, err := conn.Exec(t.Context(), `CREATE TEMP TABLE keys (id integer, "inner" bytea, "outer" bytea); CREATE TEMP VIEW server AS SELECT 'b'::pg_catalog.text AS id; CREATE TYPE pg_temp.text AS (a pg_catalog.int4); SET search_path = `+path)
		if err != nil {
			t.Fatal(err)
		}
		if found(t, conn, "a", key.Sign("a")) != 1 || found(t, conn, "b", key.Sign("b")) != 2 || found(t, conn, "b", key.Sign("a")) != 0 || found(t, conn, "", "") != 0 || found(t, conn, "b", "") != 0 {
			t.Errorf("with search_path %s a signature does not show its server's rows and no others", path)
		}
	}
}

// found is seen where set_config is not what it seems.
func found(t *testing.T, conn *pgx.Conn, server, signature string) (n int) {
	t.Helper()
	err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		for name, value := range map[string]string{wall.Setting: server, wall.Signature: signature} {
			if _, err := tx.Exec(t.Context(), "SELECT pg_catalog.set_config($1, $2, true)", name, value); err != nil {
				return err
			}
		}
		return tx.QueryRow(t.Context(), "SELECT pg_catalog.count(*) FROM public.end_users").Scan(&n)
	})
	if err != nil {
		t.Fatalf("%q, %q: %v", server, signature, err)
	}
	return n
}
