package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// bypassWorld is a running program with the attackers, the victims and their rows, and
// the count of what went wrong.
type bypassWorld struct {
	*instance
	conn          *pgx.Conn // of a superuser
	beside        *pgx.Conn // of a superuser too: a victim's transaction
	attackers     map[string]*attacker
	victims       string // the token of their project
	victimProject string
	rows          map[string]string // what digests gave last

	http   net.Conn // that statements are sent on; nil: to be opened
	reader *bufio.Reader
	seen   bytes.Buffer // what was read of it

	cases, leaks, hangs, crashes, internal, differ int
}

// attacker is a developer with one server, under one policy.
type attacker struct {
	*bypassWorld
	id, policy string
	key        string // of the e-mail look-up
	seed       string
	clean      string // the digest of the rows that seed makes
	dirty      bool
}

// bypassStart starts the program with all that the corpus needs. It starts it twice: the
// first start makes the cluster, and the second finds the tables that the policies name.
func bypassStart(t *testing.T, setup bypassSetup) *bypassWorld {
	dir, first := firstStart(t)
	first.admin(t, append([]string{bypassFile(t, "tables.sql")}, setup.prepare...)...)
	if code := first.stop(); code != 0 {
		t.Fatalf("the first start ended with %d", code)
	}
	in, err := launchIn(dir, append([]string{"--policy=default", "--policy=inject", "--policy=testdata/bypass-world/extra.yaml", "--policy=testdata/bypass-world/hasty.yaml",
		"--requests-per-second=0", "--max-concurrent=0", "--pool-min=1", "--pool-max=3"}, setup.flags...)...)
	if err != nil {
		t.Fatal(err)
	}
	w := &bypassWorld{instance: in, conn: in.connect(t), beside: in.connect(t), attackers: map[string]*attacker{}}
	w.enrol(t)
	w.plant(t)
	return w
}

func bypassFile(t *testing.T, name string) string {
	src, err := os.ReadFile(filepath.Join("testdata/bypass-world", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

// enrol makes the servers. The victims are of another project than the attackers.
func (w *bypassWorld) enrol(t *testing.T) {
	decode := func(src string, into any) {
		if err := json.Unmarshal([]byte(src), into); err != nil {
			t.Fatal(err)
		}
	}
	for policy, id := range map[string]string{"default": "srv-a", "inject": "srv-i", "hasty": "srv-h", "extra": "0a000000-0000-7000-8000-00000000000a"} {
		var made struct{ APIKey string }
		decode(w.cli(t, "server", "create", policy, "--id", id, "--project", w.ProjectID, "--json"), &made)
		w.cli(t, "server", "set-policy", id, policy)
		a := &attacker{bypassWorld: w, id: id, policy: policy, key: made.APIKey, seed: bypassFile(t, "own.sql"), dirty: true}
		if policy == "extra" {
			a.seed += bypassFile(t, "own-extra.sql")
		}
		a.seed = strings.ReplaceAll(a.seed, "{{id}}", id)
		w.attackers[policy] = a
	}
	var project struct{ ID string }
	var token struct{ Token string }
	decode(w.cli(t, "project", "create", "victims", "--json"), &project)
	decode(w.cli(t, "token", "create", "--project", project.ID, "--json"), &token)
	for _, id := range []string{"srv-b", "srv-c"} {
		w.cli(t, "server", "create", id, "--id", id, "--project", project.ID)
	}
	w.victims, w.victimProject = token.Token, project.ID
}

// plant fills the tables, and analyses them, so that plans and estimates see the victims'
// values. Where expectations are made the victims' rows are left out.
func (w *bypassWorld) plant(t *testing.T) {
	if !rewriting() {
		w.exec(t, bypassFile(t, "others.sql"))
		for _, a := range w.attackers {
			a.reseed(t)
		}
	}
	w.exec(t, "VACUUM ANALYZE")
	w.rows = w.digests(t)
	for _, a := range w.attackers {
		a.clean = w.rows[a.id]
	}
}

func (w *bypassWorld) exec(t *testing.T, sql string) {
	t.Helper()
	if _, err := w.conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%.200s: %v", sql, err)
	}
}

// reseed makes the attacker's rows what they were. While expectations are made nobody
// else has any.
func (a *attacker) reseed(t *testing.T) {
	if rewriting() {
		a.exec(t, "DELETE FROM public.messages; DELETE FROM public.files; DELETE FROM public.conversations; DELETE FROM public.end_users; DELETE FROM shop.orders; DELETE FROM shop.events; DELETE FROM shop.cased; DELETE FROM shop.padded")
	}
	if a.dirty || rewriting() {
		a.exec(t, a.seed)
		a.rows = a.digests(t)
	}
	a.dirty = false
}

// digestSQL gives a digest of the rows of each server, and under "" one of all else: what
// nobody may write, the objects of the database, and what sessions left behind.
const digestSQL = `WITH rows AS (
	SELECT server_id AS owner, e::text AS r FROM public.end_users e UNION ALL SELECT server_id, c::text FROM public.conversations c
	UNION ALL SELECT server_id, m::text FROM public.messages m UNION ALL SELECT server_id, f::text FROM public.files f
	UNION ALL SELECT tenant::text, o::text FROM shop.orders o UNION ALL SELECT tenant::text, v::text FROM shop.events v
	UNION ALL SELECT tenant::text, k::text FROM shop.cased k UNION ALL SELECT rtrim(tenant::text), p::text FROM shop.padded p
	UNION ALL SELECT '', c::text FROM public.countries c UNION ALL SELECT '', s::text FROM shop.secrets s
	UNION ALL SELECT '', s::text FROM tenantgate.servers s
	UNION ALL SELECT '', oid || relname FROM pg_class WHERE oid >= 16384
	UNION ALL SELECT '', oid || proname FROM pg_proc WHERE oid >= 16384
	UNION ALL SELECT '', rolname || rolsuper || rolbypassrls || coalesce(rolconfig::text, '') FROM pg_roles
	UNION ALL SELECT '', 'left behind: ' || locktype FROM pg_locks WHERE locktype = 'advisory'
	UNION ALL SELECT '', 'left open: ' || state FROM pg_stat_activity WHERE state LIKE 'idle in%')
SELECT owner, md5(string_agg(r, '|' ORDER BY r)) AS digest FROM rows GROUP BY owner`

func (w *bypassWorld) digests(t *testing.T) map[string]string {
	rows, err := w.conn.Query(t.Context(), digestSQL)
	if err != nil {
		t.Fatal(err)
	}
	digests := map[string]string{}
	var owner, digest string
	if _, err := pgx.ForEachRow(rows, []any{&owner, &digest}, func() error { digests[owner] = digest; return nil }); err != nil {
		t.Fatal(err)
	}
	return digests
}

// roleSQL tells what the role of statements may and should not.
const roleSQL = `SELECT coalesce(string_agg(what, ', '), '') FROM pg_roles r, LATERAL (VALUES
	(rolsuper, 'superuser'), (rolbypassrls, 'BYPASSRLS'), (rolcreaterole, 'CREATEROLE'), (rolcreatedb, 'CREATEDB'), (rolreplication, 'REPLICATION'),
	(EXISTS (SELECT FROM pg_auth_members WHERE member = r.oid), 'member of a role'), (EXISTS (SELECT FROM pg_class WHERE relowner = r.oid), 'owner'),
	(has_database_privilege(r.oid, current_database(), 'TEMP'), 'TEMP'), (has_database_privilege(r.oid, current_database(), 'CREATE'), 'CREATE'),
	(has_schema_privilege(r.oid, 'public', 'CREATE'), 'CREATE in public')) v(has, what) WHERE rolname = 'tenantgate_statement' AND has`

// ended looks at the role that all ran as, stops the program and makes sure that it lived
// until then.
func (w *bypassWorld) ended(t *testing.T) {
	var excess string
	if err := w.conn.QueryRow(t.Context(), roleSQL).Scan(&excess); err != nil || excess != "" {
		t.Errorf("the role of statements has too much: %s %v", excess, err)
	}
	if status, _ := w.ops(t, "/readyz"); status != 200 {
		w.crashes++
		t.Errorf("the service is not ready at the end: %d", status)
	}
	_ = w.conn.Close(context.Background())
	_ = w.beside.Close(context.Background())
	if code := w.stop(); code != 0 {
		w.crashes++
		t.Errorf("the service exited with %d", code)
	}
}
