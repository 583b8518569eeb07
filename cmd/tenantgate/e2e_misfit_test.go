package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// stderr gives what the instance has logged.
func (in *instance) stderr(t testing.TB) string {
	t.Helper()
	said, err := os.ReadFile(filepath.Join(in.dir, "stderr.log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(said)
}

// banner gives what a start prints, up to the last of it, which comes when it is ready.
func (in *instance) banner(t testing.TB) (said string) {
	t.Helper()
	waitFor(t, func() bool {
		src, err := os.ReadFile(filepath.Join(in.dir, "stdout.log"))
		if err != nil {
			t.Fatal(err)
		}
		said = string(src)
		return strings.Contains(said, "Ctrl-C stops the service and its Postgres.")
	})
	return said
}

// TestMisfit renames under a running service what its policies go by. What they kept
// secret under one name must not be readable under another: the table is closed in both front ends until
// it fits again, and the others are served.
func TestMisfit(t *testing.T) {
	t.Parallel()
	in := fresh(t)
	conn, err := pgx.Connect(t.Context(), in.PgURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	const hash = "SELECT pw FROM end_users WHERE server_id = ?"
	for _, step := range []struct{ alter, back, table, other, says string }{
		{"ALTER TABLE public.end_users RENAME password_hash TO pw", "ALTER TABLE public.end_users RENAME pw TO password_hash", "end_users", "messages", "has no column password_hash"},
		{"ALTER TABLE public.messages RENAME server_id TO pw", "ALTER TABLE public.messages RENAME pw TO server_id", "messages", "end_users", "has no column server_id"},
		{"ALTER TABLE public.files RENAME TO papers", "ALTER TABLE public.papers RENAME TO files", "files", "messages", "has no table public.files"},
	} {
		in.admin(t, step.alter)
		if r := in.query(t, hash); r.status == 200 || strings.Contains(r.body, "argon2id") {
			t.Errorf("%s: %s", step.alter, r.body)
		}
		own, other := "SELECT id FROM "+step.table+" WHERE server_id = ?", "SELECT id FROM "+step.other+" WHERE server_id = ?"
		var r reply
		waitFor(t, func() bool { r = in.query(t, own); return strings.Contains(r.body, "is closed") })
		if e := errorOf(t, r); r.status != 403 || e.Code != "table_not_allowed" || e.Retryable || e.Message != "table "+step.table+" is closed: policy-misfit" || e.Hint == "" || r.header.Get("Retry-After") != "" || strings.Contains(r.body, "password_hash") {
			t.Errorf("%s: %s", step.alter, r.body)
		}
		if r := in.query(t, other); r.status != 200 {
			t.Errorf("%s, another table: %s", step.alter, r.body)
		}
		if _, err := conn.Exec(t.Context(), "SELECT id FROM "+step.table); err == nil || !strings.Contains(err.Error(), "is closed: policy-misfit") {
			t.Errorf("%s: %v", step.alter, err)
		}
		if _, err := conn.Exec(t.Context(), "SELECT id FROM "+step.other); err != nil {
			t.Errorf("%s, another table: %v", step.alter, err)
		}
		if said := in.stderr(t); !strings.Contains(said, step.says) || !strings.Contains(said, "ERROR") {
			t.Errorf("%s: not logged", step.alter)
		}
		if code, body := in.ops(t, "/readyz"); code != 200 || !strings.Contains(body, "closed: public."+step.table+", by policy-misfit: line ") {
			t.Errorf("%s: %d %s", step.alter, code, body)
		}
		if _, metrics := in.ops(t, "/metrics"); !strings.Contains(metrics, `tenantgate_tables_closed{finding="policy-misfit",table="public.`+step.table+`"} 1`) {
			t.Error("not exposed")
		}
		in.admin(t, step.back)
		waitFor(t, func() bool { return in.query(t, own).status == 200 })
		if _, body := in.ops(t, "/readyz"); body != "ready\n" {
			t.Errorf("after %s: %s", step.back, body)
		}
	}
	if r := in.lookup(t, "ada@example.com", in.application()...); r.status != 200 {
		t.Errorf("the look-up by e-mail: %s", r.body)
	}
}

// TestUnknownPolicy assigns a policy that the service does not have.
func TestUnknownPolicy(t *testing.T) {
	in := sharedInstance(t)
	id, _ := in.newServer(t, "typo")
	query := func() reply { return in.queryAs(t, id, "SELECT 1") }
	if r := query(); r.status != 200 {
		t.Fatal(r.body)
	}
	code, _, said := command(t, "server", "set-policy", id, "defualt", "--data-dir", filepath.Join(in.dir, "data"))
	if code != 0 || !strings.Contains(said, `note: this is none of the bundled policies (default, inject, readonly): each running service must have loaded a policy named "defualt"`) {
		t.Errorf("exit %d: %s", code, said)
	}
	r := within(t, 503, query)
	if e := errorOf(t, r); e.Code != "upstream_unavailable" || e.Retryable || strings.Contains(r.body, "defualt") || !strings.Contains(in.stderr(t), "defualt") {
		t.Errorf("%s", r.body)
	}
	if code, _, said := command(t, "server", "set-policy", id, "readonly", "--data-dir", filepath.Join(in.dir, "data")); code != 0 || !strings.Contains(said, "note: each running service") {
		t.Errorf("exit %d: %s", code, said)
	}
	if code, _, said := command(t, "server", "set-policy", id, "", "--data-dir", filepath.Join(in.dir, "data")); code != 0 || said != "" {
		t.Errorf("exit %d: %s", code, said)
	}
	within(t, 200, query)
}
