package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	openFiles  = "ALTER TABLE public.files DISABLE ROW LEVEL SECURITY"
	closeFiles = "ALTER TABLE public.files ENABLE ROW LEVEL SECURITY"
	ownUsers   = "SELECT id FROM end_users WHERE server_id = ? ORDER BY id"
)

// TestTheWallIsRequired has the wall fall and stand again under a service that needs it.
func TestTheWallIsRequired(t *testing.T) {
	t.Parallel()
	in := fresh(t, "--rls", "required")
	step := func(what string, status int, walled string) {
		t.Helper()
		r := in.waitForStatus(t, status)
		if status == 200 && !strings.Contains(r.body, `[["ada"],["grace"]]`) || status == 503 && (errorOf(t, r).Code != "upstream_unavailable" || r.header.Get("Retry-After") == "") {
			t.Errorf("%s: %s", what, r.body)
		}
		waitFor(t, func() bool { got, _ := in.ops(t, "/readyz"); return got == status })
		if _, text := in.ops(t, "/metrics"); !strings.Contains(text, `tenantgate_scoped_tables{walled="true"} `+walled) {
			t.Errorf("%s: not %s walled tables", what, walled)
		}
		if r := in.lookup(t, "ada@example.com", in.application()...); r.status != 200 || !strings.Contains(r.body, "argon2id") {
			t.Errorf("%s: the look-up by e-mail: %s", what, r.body)
		}
	}
	step("as made", 200, "4")
	in.admin(t, openFiles)
	step("one table open", 503, "3")
	if said := in.stderr(t); !strings.Contains(said, "tables=public.files") || !strings.Contains(said, "row-level security is not enabled on it") || !strings.Contains(said, "tenantgate doctor") {
		t.Errorf("logged %s", said)
	}
	in.admin(t, closeFiles)
	step("closed again", 200, "4")
	in.admin(t, "ALTER ROLE tenantgate_statement BYPASSRLS")
	step("a role that is not bound", 503, "0")
	in.admin(t, "ALTER ROLE tenantgate_statement NOBYPASSRLS")
	step("bound again", 200, "4")
	in.rotate(t)
}

// waitForStatus asks until the answer is as the wall stands: it is read once a second.
func (in *instance) waitForStatus(t *testing.T, status int) (r reply) {
	t.Helper()
	waitFor(t, func() bool { r = in.query(t, ownUsers); return r.status == status })
	return r
}

// rotate replaces the key while statements run: none of them may miss a row.
func (in *instance) rotate(t *testing.T) {
	t.Helper()
	stop, stopped := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for {
			select {
			case <-stop:
				stopped <- n
				return
			default:
			}
			if r := in.query(t, ownUsers); r.status == 200 && !strings.Contains(r.body, `[["ada"],["grace"]]`) || r.status != 200 && r.status != 429 {
				t.Errorf("%d %s", r.status, r.body)
			}
			n++
			time.Sleep(10 * time.Millisecond)
		}
	}()
	said := in.cli(t, "key", "rotate") + in.cli(t, "key", "list")
	if !strings.Contains(said, "key 2 signs") || !strings.Contains(said, "valid") || strings.Count(said, "\n2 ") != 1 {
		t.Errorf("%s", said)
	}
	said += in.cli(t, "key", "retire")
	list := in.cli(t, "key", "list", "--json")
	if !strings.Contains(said, "retired: 1") || strings.Count(list, `"id"`) != 1 || !strings.Contains(list, `"signs": true`) {
		t.Errorf("%s%s", said, list)
	}
	time.Sleep(1200 * time.Millisecond)
	close(stop)
	if n := <-stopped; n < 20 {
		t.Errorf("only %d statements ran", n)
	}
	var secret string
	if err := in.connect(t).QueryRow(t.Context(), "SELECT encode(secret, 'hex') FROM tenantgate.wall_keys").Scan(&secret); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(said+list+in.stderr(t), secret) {
		t.Error("a secret is shown")
	}
}

// TestTheWallAsItIs has the default: a table without the wall is served, and told of.
func TestTheWallAsItIs(t *testing.T) {
	t.Parallel()
	in := fresh(t)
	if said := in.stderr(t); strings.Contains(said, "row-level security") {
		t.Errorf("as made: %s", said)
	}
	in.admin(t, openFiles)
	waitFor(t, func() bool {
		_, text := in.ops(t, "/metrics")
		return strings.Contains(text, `scoped_tables{walled="false"} 1`)
	})
	for _, table := range []string{"files", "end_users"} {
		if r := in.query(t, "SELECT count(*) FROM "+table+" WHERE server_id = ?"); r.status != 200 || strings.Contains(r.body, "[[0]]") {
			t.Errorf("%s: %s", table, r.body)
		}
	}
	if got, body := in.ops(t, "/readyz"); got != 200 || !strings.Contains(in.stderr(t), "level=WARN") {
		t.Errorf("%d %s", got, body)
	}
	// Where every row is hidden there is no true answer.
	in.admin(t, "TRUNCATE tenantgate.wall_keys")
	in.waitForStatus(t, 503)
	if !strings.Contains(in.stderr(t), "no key to sign with") {
		t.Errorf("logged %s", in.stderr(t))
	}
	in.cli(t, "migrate")
	if r := in.waitForStatus(t, 200); !strings.Contains(r.body, "ada") {
		t.Errorf("%s", r.body)
	}
}

// TestTheWallIsOff signs nothing: the database must be without the wall as well.
func TestTheWallIsOff(t *testing.T) {
	t.Parallel()
	in := fresh(t, "--rls", "off")
	if r := in.query(t, ownUsers); r.status != 503 {
		t.Errorf("%s", r.body)
	}
	if got, _ := in.ops(t, "/readyz"); got != 503 || !strings.Contains(in.stderr(t), "--rls") {
		t.Errorf("%d", got)
	}
	for _, table := range []string{"files", "end_users", "messages", "conversations"} {
		in.admin(t, "ALTER TABLE public."+table+" DISABLE ROW LEVEL SECURITY")
	}
	if r := in.waitForStatus(t, 200); !strings.Contains(r.body, "ada") {
		t.Errorf("%s", r.body)
	}
	if _, text := in.ops(t, "/metrics"); !strings.Contains(text, `scoped_tables{walled="true"} 0`) {
		t.Error("a table counts as walled")
	}
}

// TestMigrateParts makes each part alone.
func TestMigrateParts(t *testing.T) {
	in := sharedInstance(t)
	in.admin(t, "DROP DATABASE IF EXISTS parts WITH (FORCE)", "CREATE DATABASE parts")
	url, err := inDatabase(in.AdminDatabaseURL, "parts")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--control-only", "--no-tables"}, 1, "use one"}, {[]string{"--control-only", "--owner-database-url", url}, 1, "use one"},
		{[]string{"--control-only", "--moved"}, 1, "use one"},
		{[]string{"--control-only"}, 0, "made the control store (tables login_salt, projects, revision, server_keys, servers, token_projects, tokens, wall_database, wall_keys): schema tenantgate in database parts on 127.0.0.1:"},
		{[]string{"--control-only", "--json"}, 0, `"wall": false`}, {[]string{"--control-only"}, 0, "the control store: up to date: schema tenantgate in"},
		{[]string{"--no-tables"}, 0, "made row-level security's view and keys (view server, tables database, keys): schema tenantgate_wall in database parts on 127.0.0.1:"},
		{[]string{"--no-tables", "--json"}, 0, `"bundled": false`},
		{[]string{"--no-tables"}, 0, "the control store: up to date: schema tenantgate in database parts"}, {[]string{"--no-tables"}, 0, "row-level security's view and keys: up to date: schema tenantgate_wall in database parts"},
		{[]string{"--no-tables"}, 0, "\ntenantgate_statement may read tenantgate_wall.server\nyour own tables were not changed: tenantgate doctor prints what they lack\n"},
		{nil, 0, "made the bundled tables (tables conversations, end_users, files, messages): schema public in database parts on 127.0.0.1:"},
		{nil, 0, "the bundled tables: up to date: schema public in database parts"}, {nil, 0, ", and read and write the bundled tables, but read no password hash\ntenantgate_lookup may read end_users\n"},
	} {
		if code, out, errs := command(t, append([]string{"migrate", "--control-database-url", url}, c.args...)...); code != c.code || !strings.Contains(out+errs, c.says) {
			t.Errorf("%v: exit %d: %s%s", c.args, code, out, errs)
		}
	}
	parts := &instance{credentials: credentials{AdminDatabaseURL: url}}
	elsewhere, err := inDatabase(in.AdminDatabaseURL, "elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	in.admin(t, "DROP DATABASE IF EXISTS elsewhere WITH (FORCE)", "CREATE DATABASE elsewhere")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"migrate"}, 1, "run tenantgate migrate --moved"},
		{[]string{"migrate", "--moved"}, 0, "made the bundled tables"},
		{[]string{"key", "rotate"}, 0, "key 2 signs from now on, in database elsewhere"},
	} {
		if code, out, errs := command(t, append(c.args, "--control-database-url", url, "--owner-database-url", elsewhere)...); code != c.code || !strings.Contains(out+errs, c.says) {
			t.Errorf("%v: exit %d: %s%s", c.args, code, out, errs)
		}
	}
	if code, out, errs := command(t, "migrate", "--moved", "--control-database-url", url); code != 0 {
		t.Errorf("moved back: exit %d: %s%s", code, out, errs)
	}
	parts.admin(t, "DELETE FROM tenantgate_wall.keys", "DROP TABLE public.messages, public.files, public.conversations, public.end_users, public.tenantgate_migrations")
	if _, out, _ := command(t, "migrate", "--no-tables", "--control-database-url", url); !strings.Contains(out, "updated row-level security's view and keys (view") {
		t.Errorf("without a key: %s", out)
	}
	if code, out, errs := command(t, "key", "list", "--control-database-url", url); code != 0 || !strings.Contains(out, "signs") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	admin := in.cli(t, "key", "list", "--data-dir", filepath.Join(in.dir, "data"))
	if !strings.Contains(admin, "signs") {
		t.Errorf("%s", admin)
	}
}
