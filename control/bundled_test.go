package control

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
)

// bundledDB makes the four tables for one test, and roles.
func bundledDB(t *testing.T) (url string, roles Roles) {
	t.Helper()
	pgtest.Cluster(t)
	noLeaks(t)
	roles = testRoles(t)
	url = pgtest.Database(t)
	if _, err := MigrateBundled(t.Context(), url, roles); err != nil {
		t.Fatal(err)
	}
	return url, roles
}

// Ensure the columns are those of the interface, in its order.
func TestBundledColumns(t *testing.T) {
	url, _ := bundledDB(t)
	want := map[string]string{
		"end_users": "id text, server_id text, external_user_id text, username text, name text, email text, phone_number text null, " +
			"password_hash text null, created_at timestamptz, updated_at timestamptz",
		"conversations": "id text, server_id text, end_user_id text null, title text, created_at timestamptz, updated_at timestamptz",
		"messages":      "id text, server_id text, conversation_id text, role text, content text, metadata jsonb, created_at timestamptz",
		"files": "id text, server_id text, end_user_id text null, conversation_id text null, name text, content_type text, " +
			"size_bytes int8, storage_key text null, created_at timestamptz",
	}
	for table, columns := range want {
		got := query[string](t, url, `SELECT string_agg(column_name || ' ' || udt_name || CASE WHEN is_nullable = 'YES' THEN ' null' ELSE '' END, ', '
			ORDER BY ordinal_position) FROM information_schema.columns WHERE table_schema = 'public' AND table_name = $1`, table)
		if got != columns {
			t.Errorf("%s:\n got %s\nwant %s", table, got, columns)
		}
	}
}

// Ensure every key, unique index and foreign key starts with server_id.
func TestBundledKeysLeadWithTheServer(t *testing.T) {
	url, _ := bundledDB(t)
	loose := query[[]string](t, url, `SELECT coalesce(array_agg(i.indexrelid::regclass::text), '{}') FROM pg_index i
		JOIN pg_class c ON c.oid = i.indrelid JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
		WHERE c.relname IN ('end_users', 'conversations', 'messages', 'files') AND a.attname <> 'server_id'`)
	if len(loose) > 0 {
		t.Errorf("indexes that do not lead with server_id: %v", loose)
	}
	foreign := query[int](t, url, `SELECT count(*) FROM pg_constraint k WHERE contype = 'f'
		AND (SELECT attname FROM pg_attribute WHERE attrelid = conrelid AND attnum = conkey[1]) = 'server_id'
		AND (SELECT attname FROM pg_attribute WHERE attrelid = confrelid AND attnum = confkey[1]) = 'server_id'`)
	if foreign != 4 {
		t.Errorf("%d foreign keys carry server_id, want all 4", foreign)
	}
}

func TestBundledRules(t *testing.T) {
	url, _ := bundledDB(t)
	conn := connect(t, url) // row-level security does not bind the superuser
	run := func(state, sql string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql, args...); sqlState(err) != state || (state == "" && err != nil) {
			t.Errorf("%s: %v, want %q", sql, err, state)
		}
	}
	run("", `INSERT INTO end_users (server_id, id, email) VALUES ('a', 'u', 'Bob@x.eu'), ('b', 'u', 'bob@x.eu'), ('a', 'v', ''), ('a', 'w', '')`)
	run("23505", `INSERT INTO end_users (server_id, email) VALUES ('a', 'BOB@X.EU')`)
	run("23514", `INSERT INTO end_users (server_id) VALUES ('')`)
	run("23502", `INSERT INTO end_users (email) VALUES ('x')`)
	run("", `INSERT INTO conversations (server_id, id, end_user_id) VALUES ('a', 'c', 'u'), ('a', 'd', NULL), ('b', 'd', 'u')`)
	run("23503", `INSERT INTO conversations (server_id, end_user_id) VALUES ('b', 'v')`) // a's user
	run("", `INSERT INTO messages (server_id, conversation_id) VALUES ('a', 'c'), ('a', 'd')`)
	run("23503", `INSERT INTO messages (server_id, conversation_id) VALUES ('b', 'c')`)
	run("23502", `INSERT INTO messages (server_id) VALUES ('a')`)
	run("", `INSERT INTO files (server_id, id, end_user_id, conversation_id) VALUES ('a', 'f', 'u', 'c')`)
	run("23503", `INSERT INTO files (server_id, conversation_id) VALUES ('b', 'c')`)
	run("", `DELETE FROM end_users WHERE server_id = 'a' AND id = 'u'`)
	want(t, url, "c:null d:null", `SELECT string_agg(id || ':' || coalesce(end_user_id, 'null'), ' ' ORDER BY id) FROM conversations WHERE server_id = 'a'`)
	run("", `DELETE FROM conversations WHERE server_id = 'a' AND id = 'c'`)
	want(t, url, "d", `SELECT string_agg(conversation_id, ' ') FROM messages WHERE server_id = 'a'`)
	want(t, url, "f a null null", `SELECT concat_ws(' ', id, server_id, coalesce(end_user_id, 'null'), coalesce(conversation_id, 'null')) FROM files`)
	want(t, url, "d:u", `SELECT string_agg(id || ':' || end_user_id, ' ') FROM conversations WHERE server_id = 'b'`)
}

func want(t *testing.T, url, want, sql string) {
	t.Helper()
	if got := query[string](t, url, sql); got != want {
		t.Errorf("%s: got %q, want %q", sql, got, want)
	}
}

// Ensure the roles can do what they are for and nothing else.
func TestBundledGrants(t *testing.T) {
	url, roles := bundledDB(t)
	as := func(role string) *pgx.Conn { return connect(t, pgtest.As(t, url, role, "secret")) }
	statement, lookup := as(roles.Statement), as(roles.Lookup)
	check := func(conn *pgx.Conn, state, sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); sqlState(err) != state || (state == "" && err != nil) {
			t.Errorf("%s: %v, want %q", sql, err, state)
		}
	}
	for _, table := range []string{"end_users", "conversations", "messages", "files"} {
		check(statement, "", "SELECT id, server_id, created_at FROM "+table)
		check(statement, "", "UPDATE "+table+" SET id = id")
		check(statement, "", "DELETE FROM "+table)
		check(statement, "42501", "TRUNCATE "+table)
	}
	for _, hidden := range []string{"SELECT password_hash FROM end_users", "SELECT * FROM end_users", "SELECT e FROM end_users e", "SELECT row_to_json(e) FROM end_users e",
		"SELECT id FROM end_users WHERE password_hash > ''", "UPDATE end_users SET username = password_hash", "DELETE FROM end_users RETURNING password_hash",
		"INSERT INTO end_users (server_id) VALUES ('a') RETURNING password_hash"} {
		check(statement, "42501", hidden)
	}
	check(statement, "", "UPDATE end_users SET password_hash = 'h' WHERE id = 'x'")
	check(lookup, "", "SELECT * FROM end_users")
	check(lookup, "42501", "DELETE FROM end_users")
	check(lookup, "42501", "SELECT * FROM conversations")
	for _, conn := range []*pgx.Conn{statement, lookup} {
		check(conn, "42501", "CREATE TABLE public.mine ()")
		check(conn, "42501", "CREATE TEMP TABLE mine ()")
		check(conn, "42501", "CREATE SCHEMA mine")
		check(conn, "42501", "SELECT * FROM public.tenantgate_migrations")
	}
}

func TestBundledRolesThatDoNotServe(t *testing.T) {
	pgtest.Cluster(t)
	noLeaks(t)
	role := testRole(t)
	url := pgtest.Database(t)
	owner := query[string](t, url, "SELECT current_user")
	cases := map[string]Roles{
		`CREATE ROLE "No such" LOGIN`: {Statement: "No such", Lookup: role},
		"role of its own":             {Statement: role, Lookup: role},
		"both":                        {Statement: role},
		"would own":                   {Statement: owner, Lookup: role},
	}
	for message, roles := range cases {
		if _, err := MigrateBundled(t.Context(), url, roles); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("got %v, want %q", err, message)
		}
	}
	if n := query[int](t, url, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"); n != 0 {
		t.Errorf("%d tables were made although a role was wrong", n)
	}
}

// Ensure the tables are made without roles that may be left out, and that the roles get
// what they need when they are there.
func TestBundledRolesThatComeLater(t *testing.T) {
	pgtest.Cluster(t)
	noLeaks(t)
	statement, lookup, another := testRole(t), testRole(t), testRole(t)
	url := pgtest.Database(t)
	wanted := Roles{Statement: statement, Lookup: "no_such_role", Optional: true}
	granted, err := MigrateBundled(t.Context(), url, wanted)
	if err != nil || granted.Statement != statement || granted.Lookup != "" {
		t.Fatalf("%+v, %v", granted, err)
	}
	if !query[bool](t, url, "SELECT has_table_privilege($1, 'messages', 'INSERT')", statement) {
		t.Error("the role that exists was granted nothing")
	}
	wanted.Lookup = lookup
	if granted, err = MigrateBundled(t.Context(), url, wanted); err != nil || granted.Lookup != wanted.Lookup {
		t.Fatalf("%+v, %v", granted, err)
	}
	if !query[bool](t, url, "SELECT has_table_privilege($1, 'end_users', 'SELECT')", wanted.Lookup) {
		t.Error("the role that came later was granted nothing")
	}
	exec(t, url, "INSERT INTO end_users (server_id, id) VALUES ('a', '1'), ('b', '2')")
	// A third takes over from the second, which goes on.
	if _, err := MigrateBundled(t.Context(), url, Roles{Statement: statement, Lookup: another}); err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{lookup, another} {
		if n := query[int](t, pgtest.As(t, url, role, "secret"), "SELECT count(*) FROM end_users"); n != 2 {
			t.Errorf("the look-up role %s sees %d rows", role, n)
		}
	}
}

// Ensure an existing database keeps its own tables, whole.
func TestBundledLeavesExistingTablesAlone(t *testing.T) {
	pgtest.Cluster(t)
	noLeaks(t)
	roles := testRoles(t)
	url := pgtest.Database(t)
	exec(t, url, "CREATE TABLE messages (id bigint)")
	if _, err := MigrateBundled(t.Context(), url, roles); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("got %v", err)
	}
	if n := query[int](t, url, "SELECT count(*) FROM pg_tables WHERE tablename IN ('end_users', 'conversations', 'files')"); n != 0 {
		t.Errorf("%d tables were made all the same", n)
	}
}

// Ensure an owner who owns neither schema nor database can migrate, as far as that goes.
func TestBundledAsAnOwnerWithFewRights(t *testing.T) {
	pgtest.Cluster(t)
	noLeaks(t)
	roles, owner := testRoles(t), testRole(t)
	url := pgtest.Database(t)
	exec(t, url, "GRANT CREATE ON SCHEMA public TO "+owner)
	own := pgtest.As(t, url, owner, "secret")
	if _, err := MigrateBundled(t.Context(), own, roles); err == nil || !strings.Contains(err.Error(), "needs CREATE on the database once") {
		t.Errorf("without a place for the wall: %v", err)
	}
	exec(t, url, "CREATE SCHEMA tenantgate_wall AUTHORIZATION "+owner)
	if _, err := MigrateBundled(t.Context(), own, roles); err != nil {
		t.Fatal(err)
	}
	exec(t, url, "REVOKE USAGE ON SCHEMA public FROM PUBLIC; GRANT USAGE ON SCHEMA public TO "+owner)
	if _, err := MigrateBundled(t.Context(), own, roles); err == nil || !strings.Contains(err.Error(), "GRANT USAGE ON SCHEMA public TO") {
		t.Errorf("got %v", err)
	}
}
