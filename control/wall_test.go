package control

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
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

// seen counts the end users that a session sees with settings that last for a transaction.
func seen(t *testing.T, conn *pgx.Conn, server, signature string) (n int) {
	t.Helper()
	err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		if err := claim(t, tx, server, signature); err != nil {
			return err
		}
		return tx.QueryRow(t.Context(), "SELECT count(*) FROM end_users").Scan(&n)
	})
	if err != nil {
		t.Fatalf("%q, %q: %v", server, signature, err)
	}
	return n
}

// claim makes the two settings.
func claim(t *testing.T, tx pgx.Tx, server, signature string) error {
	_, err := tx.Exec(t.Context(), "SELECT set_config($1, $2, true), set_config($3, $4, true)", wall.Setting, server, wall.Signature, signature)
	return err
}

// Ensure only a signature that was made for a server shows its rows, and nothing else that
// the settings may hold is an error.
func TestTheWallTellsServersApart(t *testing.T) {
	url, roles, _ := walledDB(t)
	key := secretOf(t, url, 1)
	conn := connect(t, pgtest.As(t, url, roles.Statement, "secret"))
	if n := query[int](t, pgtest.As(t, url, roles.Statement, "secret"), "SELECT count(*) FROM end_users"); n != 0 {
		t.Errorf("without a setting %d rows are seen", n)
	}
	a, b := key.Sign("a"), key.Sign("b")
	if seen(t, conn, "a", a) != 1 || seen(t, conn, "b", b) != 2 || seen(t, conn, "c", key.Sign("c")) != 0 {
		t.Error("a signature does not show its server's rows and no others")
	}
	if n := query[int](t, pgtest.As(t, url, roles.Statement, "secret"), "SELECT count(*) FROM end_users"); n != 0 {
		t.Errorf("after the transaction %d rows are seen", n)
	}
	foreign := wall.Key{ID: 1, Secret: make([]byte, wall.Size)}
	for _, signature := range []string{
		"", ".", "a", b, a[1:], a[:63], a + "0", "0" + a, " " + a, a + " ", a + "\n", a + "'", strings.ToUpper(a), `\x` + a, "1." + a + ".a", strings.Repeat("g", 64), strings.Repeat("0", 64), strings.Repeat("x", 10000),
		foreign.Sign("a"), wall.Key{}.Sign("a"), key.Sign(""), key.Sign("a "), key.Sign("A"), "é", "\x01", `\`, "%", "{}",
	} {
		if n := seen(t, conn, "a", signature); n != 0 {
			t.Errorf("a signed %q shows %d rows", signature, n)
		}
	}
	for _, server := range []string{"", "b", "A", " a", "a ", "a\n", "á", `\x61`, "1." + a + ".a", strings.Repeat("a", 10000), "a' OR true --", "\x01", `\`} {
		if n := seen(t, conn, server, a); n != 0 {
			t.Errorf("%q with the signature of a shows %d rows", server, n)
		}
	}
	long := strings.Repeat("-", 128)
	exec(t, url, "INSERT INTO end_users (server_id, id) VALUES ($1, '1')", long)
	if seen(t, conn, long, key.Sign(long)) != 1 {
		t.Error("an id of 128 characters has no rows")
	}
	// Rows that are no server's are nobody's, not even whose key signs the empty id.
	exec(t, url, "ALTER TABLE end_users DROP CONSTRAINT end_users_server_id_given; INSERT INTO end_users (server_id, id) VALUES ('', '1')")
	empty := hmac.New(sha256.New, key.Secret).Sum(nil)
	if n := seen(t, conn, "", hex.EncodeToString(empty)); n != 0 {
		t.Errorf("the empty id, signed, shows %d rows", n)
	}
}

// Ensure nothing but the signed server's id can be had of the view: neither the keys nor a
// change to them.
func TestTheViewShowsNoKey(t *testing.T) {
	url, roles, _ := walledDB(t)
	key := secretOf(t, url, 1)
	conn := connect(t, pgtest.As(t, url, roles.Statement, "secret"))
	exec(t, url, `CREATE TABLE told (what text); GRANT INSERT ON told TO PUBLIC; GRANT USAGE ON SCHEMA public TO PUBLIC;
		CREATE FUNCTION tell(text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN INSERT INTO public.told VALUES ($1); RETURN true; END $$`)
	read := func(sql, server, signature string) (text, state string) {
		var lines []string
		err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			if err := claim(t, tx, server, signature); err != nil {
				return err
			}
			rows, err := tx.Query(t.Context(), sql)
			if err != nil {
				return err
			}
			lines, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		})
		return strings.Join(lines, "\n"), sqlState(err)
	}
	a := key.Sign("a")
	for sql, want := range map[string]string{
		"SELECT s::text FROM tenantgate_wall.server AS s":                                              "(a)",
		"SELECT row_to_json(s)::text FROM tenantgate_wall.server AS s WHERE public.tell(s::text)":      `{"id":"a"}`,
		"SELECT id FROM tenantgate_wall.server WHERE public.tell(id)":                                  "a",
		"SELECT (SELECT count(*) FROM tenantgate_wall.server WHERE public.tell(id) AND id > '')::text": "1",
	} {
		if got, state := read(sql, "a", a); got != want || state != "" {
			t.Errorf("%s: %q %s, want %q", sql, got, state, want)
		}
		if got, state := read(sql, "b", a); got != "" && got != "0" || state != "" {
			t.Errorf("%s without a signature: %q %s", sql, got, state)
		}
	}
	want(t, url, "(a) a", "SELECT string_agg(DISTINCT what, ' ') FROM told") // and nothing that was not signed
	for _, sql := range []string{"EXPLAIN (VERBOSE) SELECT id FROM end_users", "EXPLAIN (ANALYZE, VERBOSE) SELECT * FROM tenantgate_wall.server"} {
		plan, state := read(sql, "a", a)
		pads := query[string](t, url, `SELECT concat_ws(' ', encode("inner", 'hex'), encode("outer", 'hex')) FROM tenantgate_wall.keys`)
		in, out, _ := strings.Cut(pads, " ")
		if state != "" || !strings.Contains(plan, "keys k") || strings.Contains(plan, in) || strings.Contains(plan, out) || strings.Contains(plan, a) {
			t.Errorf("%s: %s %s", sql, plan, state)
		}
	}
	exec(t, url, "DROP TABLE told")
	for sql, state := range map[string]string{
		`SELECT "inner"::text FROM tenantgate_wall.server`: "42703", "SELECT ctid::text FROM tenantgate_wall.server": "42703", "SELECT k::text FROM tenantgate_wall.server": "42703",
		"INSERT INTO tenantgate_wall.server VALUES ('b')": "55000", "UPDATE tenantgate_wall.server SET id = 'b'": "55000", "DELETE FROM tenantgate_wall.server": "42501",
		"SELECT id FROM tenantgate_wall.server FOR UPDATE": "42501", "TRUNCATE tenantgate_wall.server": "42809", "SELECT id::text FROM tenantgate_wall.keys": "42501",
		"ALTER VIEW tenantgate_wall.server SET (security_barrier = false)": "42501", "DROP VIEW tenantgate_wall.server": "42501", "COPY tenantgate_wall.keys TO STDOUT": "42501",
		"CREATE OR REPLACE VIEW tenantgate_wall.server AS SELECT 'b'": "42501", "LOCK tenantgate_wall.server IN ACCESS EXCLUSIVE MODE": "42501",
	} {
		if got, was := read(sql, "a", a); was != state {
			t.Errorf("%s: %q %s, want %s", sql, got, was, state)
		}
	}
	want(t, url, "1", "SELECT count(*)::text FROM tenantgate_wall.keys")
}

// Ensure no row of another server can be written, whatever the setting.
func TestTheWallHoldsWrites(t *testing.T) {
	url, roles, _ := walledDB(t)
	key := secretOf(t, url, 1)
	conn := connect(t, pgtest.As(t, url, roles.Statement, "secret"))
	for _, try := range []struct{ server, signature, sql, state string }{
		{"a", key.Sign("a"), "INSERT INTO end_users (server_id, id) VALUES ('a', 'new')", ""},
		{"a", key.Sign("a"), "INSERT INTO end_users (server_id, id) VALUES ('b', 'new')", "42501"},
		{"a", key.Sign("a"), "UPDATE end_users SET server_id = 'b'", "42501"},
		{"a", key.Sign("a"), "UPDATE end_users SET username = 'x'", ""},
		{"a", key.Sign("a"), "DELETE FROM end_users WHERE server_id = 'b'", ""},
		{"a", key.Sign("a"), "INSERT INTO end_users (server_id, id) VALUES ('b', '1') ON CONFLICT (server_id, id) DO UPDATE SET username = 'x'", "42501"},
		{"", "", "INSERT INTO end_users (server_id, id) VALUES ('a', 'none')", "42501"},
		{"", "", "DELETE FROM end_users", ""},
		{"b", key.Sign("a"), "INSERT INTO end_users (server_id, id) VALUES ('b', 'none')", "42501"},
	} {
		err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			if err := claim(t, tx, try.server, try.signature); err != nil {
				return err
			}
			_, err := tx.Exec(t.Context(), try.sql)
			return err
		})
		if sqlState(err) != try.state || try.state == "" && err != nil {
			t.Errorf("%s as %q: %v, want %q", try.sql, try.server, err, try.state)
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
	if _, err := lookup.Exec(t.Context(), "SELECT id FROM tenantgate_wall.server"); sqlState(err) != "42501" {
		t.Errorf("the look-up role reads the view: %v", err)
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
