package control

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/wall"
)

// walledDB makes a control store and the four tables in one database, with a key, and rows
// of the servers a and b.
func walledDB(t *testing.T) (url string, roles Roles, keys WallKeys) {
	t.Helper()
	url, roles = bundledDB(t)
	if err := MigrateControl(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	keys = WallKeys{ControlURL: url, OwnerURL: url}
	wantCode(t, keys.Ensure(t.Context()), "")
	exec(t, url, "INSERT INTO end_users (server_id, id) VALUES ('a', '1'), ('b', '1'), ('b', '2')")
	return url, roles, keys
}

// secretOf reads a key as a service does.
func secretOf(t *testing.T, url string, id int32) wall.Key {
	t.Helper()
	return wall.Key{ID: id, Secret: query[[]byte](t, url, "SELECT secret FROM tenantgate.wall_keys WHERE id = $1", id)}
}

// seen counts the end users that a session sees with a setting that lasts for a transaction.
func seen(t *testing.T, conn *pgx.Conn, setting string) (n int) {
	t.Helper()
	err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), "SELECT set_config($1, $2, true)", wall.Setting, setting); err != nil {
			return err
		}
		return tx.QueryRow(t.Context(), "SELECT count(*) FROM end_users").Scan(&n)
	})
	if err != nil {
		t.Fatalf("%q: %v", setting, err)
	}
	return n
}

// Ensure only a signature that was made for a server shows its rows, and nothing else that
// the setting may hold is an error.
func TestTheWallTellsServersApart(t *testing.T) {
	url, roles, _ := walledDB(t)
	key := secretOf(t, url, 1)
	conn := connect(t, pgtest.As(t, url, roles.Statement, "secret"))
	if n := query[int](t, pgtest.As(t, url, roles.Statement, "secret"), "SELECT count(*) FROM end_users"); n != 0 {
		t.Errorf("without a setting %d rows are seen", n)
	}
	a, b := key.Sign("a"), key.Sign("b")
	if seen(t, conn, a) != 1 || seen(t, conn, b) != 2 || seen(t, conn, key.Sign("c")) != 0 {
		t.Error("a signature does not show its server's rows and no others")
	}
	if n := query[int](t, pgtest.As(t, url, roles.Statement, "secret"), "SELECT count(*) FROM end_users"); n != 0 {
		t.Errorf("after the transaction %d rows are seen", n)
	}
	foreign := wall.Key{ID: 1, Secret: make([]byte, wall.Size)}
	signature := strings.Split(a, ".")[1]
	for _, setting := range []string{
		"", "a", "b", ".", "..", "1..b", "1." + signature + ".", "1." + signature, signature + ".a", "1." + signature + ".b", "2." + signature + ".a", "01." + signature + ".a", "+1." + signature + ".a",
		" " + a, a + " ", a + "\n", a + "'", strings.ToUpper(a), "99999999999999999999." + signature + ".a", "-1." + signature + ".a", "1." + strings.Repeat("g", 64) + ".a", "1." + signature[1:] + ".a",
		"1." + signature + "0.a", a[:len(a)-1] + "á", strings.Repeat("x", 10000), "1." + signature + "." + strings.Repeat("a", 10000), foreign.Sign("a"), foreign.Sign("b"),
		wall.Key{ID: 2, Secret: key.Secret}.Sign("b"), wall.Key{}.Sign("b"), key.Sign(""), key.Sign(strings.Repeat("a", 129)), strings.Replace(b, ".b", ".a", 1), "é", "\x01",
	} {
		if n := seen(t, conn, setting); n != 0 {
			t.Errorf("%q shows %d rows", setting, n)
		}
	}
	long := strings.Repeat("-", 128)
	exec(t, url, "INSERT INTO end_users (server_id, id) VALUES ($1, '1')", long)
	if seen(t, conn, key.Sign(long)) != 1 {
		t.Error("an id of 128 characters has no rows")
	}
}

// Ensure no row of another server can be written, whatever the setting.
func TestTheWallHoldsWrites(t *testing.T) {
	url, roles, _ := walledDB(t)
	key := secretOf(t, url, 1)
	conn := connect(t, pgtest.As(t, url, roles.Statement, "secret"))
	for _, try := range []struct{ setting, sql, state string }{
		{key.Sign("a"), "INSERT INTO end_users (server_id, id) VALUES ('a', 'new')", ""},
		{key.Sign("a"), "INSERT INTO end_users (server_id, id) VALUES ('b', 'new')", "42501"},
		{key.Sign("a"), "UPDATE end_users SET server_id = 'b'", "42501"},
		{key.Sign("a"), "UPDATE end_users SET username = 'x'", ""},
		{key.Sign("a"), "DELETE FROM end_users WHERE server_id = 'b'", ""},
		{key.Sign("a"), "INSERT INTO end_users (server_id, id) VALUES ('b', '1') ON CONFLICT (server_id, id) DO UPDATE SET username = 'x'", "42501"},
		{"", "INSERT INTO end_users (server_id, id) VALUES ('a', 'none')", "42501"},
		{"", "DELETE FROM end_users", ""},
		{strings.Replace(key.Sign("a"), ".a", ".b", 1), "INSERT INTO end_users (server_id, id) VALUES ('b', 'none')", "42501"},
	} {
		err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), "SELECT set_config($1, $2, true)", wall.Setting, try.setting); err != nil {
				return err
			}
			_, err := tx.Exec(t.Context(), try.sql)
			return err
		})
		if sqlState(err) != try.state || try.state == "" && err != nil {
			t.Errorf("%s with %q: %v, want %q", try.sql, try.setting, err, try.state)
		}
	}
	want(t, url, "a 1 x, a new x, b 1 , b 2 ", "SELECT string_agg(concat_ws(' ', server_id, id, username), ', ' ORDER BY server_id, id) FROM end_users")
}

// Ensure neither role can look at the keys or change what the wall is made of.
func TestTheWallIsClosed(t *testing.T) {
	url, roles, _ := walledDB(t)
	statement := connect(t, pgtest.As(t, url, roles.Statement, "secret"))
	lookup := connect(t, pgtest.As(t, url, roles.Lookup, "secret"))
	for _, sql := range []string{
		"SELECT * FROM tenantgate_wall.keys", "SELECT count(*) FROM tenantgate_wall.keys", "INSERT INTO tenantgate_wall.keys VALUES (9, '', '')", "DELETE FROM tenantgate_wall.keys",
		"CREATE FUNCTION tenantgate_wall.evil() RETURNS int LANGUAGE sql AS 'SELECT 1'", "CREATE OR REPLACE FUNCTION tenantgate_wall.server() RETURNS text LANGUAGE sql AS 'SELECT 1'",
		"ALTER TABLE end_users DISABLE ROW LEVEL SECURITY", "DROP POLICY tenantgate_server ON end_users", "CREATE POLICY mine ON end_users USING (true)",
		"SELECT * FROM tenantgate.wall_keys", "SET session_replication_role = replica",
	} {
		for name, conn := range map[string]*pgx.Conn{"statement": statement, "lookup": lookup} {
			if _, err := conn.Exec(t.Context(), sql); sqlState(err) != "42501" {
				t.Errorf("%s as the %s role: %v", sql, name, err)
			}
		}
	}
	if _, err := lookup.Exec(t.Context(), "SELECT tenantgate_wall.server()"); sqlState(err) != "42501" {
		t.Errorf("the look-up role calls the function: %v", err)
	}
	if _, err := statement.Exec(t.Context(), "SET row_security = off; SELECT count(*) FROM end_users"); sqlState(err) != "42501" {
		t.Errorf("with row_security off: %v", err)
	}
}

// Ensure the conditions of the bundled policies are those of package wall, and of the
// bundled tables none lacks one.
func TestTheBundledPolicies(t *testing.T) {
	url, _ := bundledDB(t)
	exec(t, url, "CREATE TABLE ours (server_id text); CREATE POLICY ours ON ours USING ("+wall.Expression("server_id", "pg_catalog", "text")+") WITH CHECK ("+wall.Expression("server_id", "pg_catalog", "text")+")")
	n := query[int](t, url, `SELECT count(*) FROM pg_policies p JOIN pg_policies ours ON ours.policyname = 'ours' AND (ours.qual, ours.with_check, ours.cmd, ours.roles) = (p.qual, p.with_check, p.cmd, p.roles)
		JOIN pg_class c ON c.oid = ('public.' || p.tablename)::regclass AND c.relrowsecurity AND NOT c.relforcerowsecurity WHERE p.policyname = $1`, wall.Policy)
	if n != 4 {
		t.Errorf("%d of the four tables have the policy", n)
	}
}

// Ensure nothing that a session's search path or its temporary schema holds stands in for
// what the function means: neither functions, operators and types nor tables.
func TestTheWallIgnoresThePath(t *testing.T) {
	url, roles, _ := walledDB(t)
	key := secretOf(t, url, 1)
	exec(t, url, `CREATE SCHEMA evil; GRANT USAGE ON SCHEMA evil TO PUBLIC; GRANT TEMPORARY ON DATABASE `+query[string](t, url, "SELECT current_database()")+` TO PUBLIC;
		CREATE FUNCTION evil.current_setting(text, boolean) RETURNS text LANGUAGE sql AS $$ SELECT 'b' $$;
		CREATE FUNCTION evil.substr(text, integer) RETURNS text LANGUAGE sql AS $$ SELECT 'b' $$;
		CREATE FUNCTION evil.strpos(text, text) RETURNS integer LANGUAGE sql AS $$ SELECT -65 $$;
		CREATE FUNCTION evil.concat_ws(text, integer, text, text) RETURNS text LANGUAGE sql AS $$ SELECT pg_catalog.current_setting('tenantgate.server') $$;
		CREATE FUNCTION evil.encode(bytea, text) RETURNS text LANGUAGE sql AS $$ SELECT pg_catalog.split_part(pg_catalog.current_setting('tenantgate.server'), '.', 2) $$;
		CREATE FUNCTION evil.sha256(bytea) RETURNS bytea LANGUAGE sql AS $$ SELECT '\x00'::bytea $$;
		CREATE FUNCTION evil.convert_to(text, text) RETURNS bytea LANGUAGE sql AS $$ SELECT 'a'::bytea $$;
		CREATE FUNCTION evil.equal(text, text) RETURNS boolean LANGUAGE sql AS $$ SELECT true $$;
		CREATE FUNCTION evil.joined(bytea, bytea) RETURNS bytea LANGUAGE sql AS $$ SELECT '\x00'::bytea $$;
		CREATE FUNCTION evil.sum(integer, integer) RETURNS integer LANGUAGE sql AS $$ SELECT 1 $$;
		CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.equal);
		CREATE OPERATOR evil.|| (LEFTARG = bytea, RIGHTARG = bytea, FUNCTION = evil.joined);
		CREATE OPERATOR evil.+ (LEFTARG = integer, RIGHTARG = integer, FUNCTION = evil.sum);
		CREATE DOMAIN evil.text AS pg_catalog.text DEFAULT 'b';
		CREATE DOMAIN evil.boolean AS pg_catalog.bool`)
	for _, path := range []string{"evil, pg_catalog, public", "pg_temp, evil, pg_catalog, public", "public, pg_catalog"} {
		conn := connect(t, pgtest.As(t, url, roles.Statement, "secret"))
		_, err := conn.Exec(t.Context(), `CREATE TEMP TABLE keys (id integer, "inner" bytea, "outer" bytea); CREATE TYPE pg_temp.text AS (a pg_catalog.int4); SET search_path = `+path)
		if err != nil {
			t.Fatal(err)
		}
		forged := strings.TrimSuffix(key.Sign("a"), ".a") + ".b"
		if seen(t, conn, key.Sign("a")) != 1 || seen(t, conn, key.Sign("b")) != 2 || seen(t, conn, forged) != 0 || seen(t, conn, "") != 0 || seen(t, conn, "b") != 0 {
			t.Errorf("with search_path %s a signature does not show its server's rows and no others", path)
		}
	}
}

// Ensure objects that are there already are no hindrance, that the keys stay when the wall is made
// again, and that the function is then as package wall has it.
func TestTheWallIsMadeAgain(t *testing.T) {
	roles := testRoles(t)
	url := pgtest.Database(t)
	exec(t, url, "CREATE SCHEMA tenantgate_wall; "+wall.Objects)
	exec(t, url, `INSERT INTO tenantgate_wall.keys (id, "inner", "outer") VALUES (7, decode(repeat('00', 64), 'hex'), decode(repeat('00', 64), 'hex'));
		CREATE OR REPLACE FUNCTION tenantgate_wall.server() RETURNS text LANGUAGE sql AS $$ SELECT 'any' $$`)
	for range 2 {
		if _, err := MigrateWall(t.Context(), url, roles); err != nil {
			t.Fatal(err)
		}
	}
	want(t, url, "7 plpgsql t t", `SELECT concat_ws(' ', (SELECT max(id) FROM tenantgate_wall.keys), l.lanname, p.prosecdef, p.prosrc = $$`+wall.Body+`$$)
		FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang WHERE p.oid = 'tenantgate_wall.server()'::regprocedure`)
}
