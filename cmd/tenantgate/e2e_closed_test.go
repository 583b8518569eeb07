package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// softDelete forgets the server: it changes whatever conversation has the id.
const softDelete = `CREATE RULE soft AS ON DELETE TO public.conversations DO INSTEAD UPDATE public.conversations SET title = 'deleted' WHERE id = OLD.id`

// TestClosedTable has a rule behind which row-level security does not hold: the table is
// closed in both front ends, the others are served, and all who should know are told.
func TestClosedTable(t *testing.T) {
	t.Parallel()
	in := fresh(t, "--rls", "required")
	in.admin(t, "INSERT INTO public.conversations (server_id, id, title) VALUES ('"+in.ServerID+"', 'c1', 'mine'), ('another', 'c1', 'theirs')")
	if code, body := in.ops(t, "/readyz"); code != 200 || body != "ready\n" {
		t.Errorf("%d %s", code, body)
	}
	in.admin(t, softDelete)
	const line = "closed: public.conversations, by hidden-rule of soft on public.conversations; policies that do not accept it: default, inject, readonly"
	waitFor(t, func() bool { _, body := in.ops(t, "/readyz"); return strings.Contains(body, line) })
	if code, body := in.ops(t, "/readyz"); code != 200 || body != "ready\n"+line+"\n" {
		t.Errorf("%d %s", code, body)
	}
	for _, text := range []string{
		"DELETE FROM conversations WHERE server_id = ? AND id = 'c1'", "SELECT title FROM conversations WHERE server_id = ?",
		"SELECT m.id FROM messages m WHERE m.server_id = ? AND m.conversation_id IN (SELECT id FROM conversations WHERE server_id = ?)",
	} {
		r := in.query(t, text)
		if e := errorOf(t, r); r.status != 403 || e.Code != "table_not_allowed" || e.Message != "table conversations is closed: hidden-rule" || e.Hint == "" || r.header.Get("Retry-After") != "" {
			t.Errorf("%s: %s", text, r.body)
		}
	}
	conn, err := pgx.Connect(t.Context(), in.PgURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	for _, text := range []string{"DELETE FROM conversations WHERE id = 'c1'", "COPY conversations (id) FROM STDIN", "COPY (SELECT id FROM conversations) TO STDOUT"} {
		_, err := conn.Exec(t.Context(), text)
		if refused := (*pgconn.PgError)(nil); !errors.As(err, &refused) || refused.Code != "42501" || refused.Message != "table conversations is closed: hidden-rule" || refused.Hint == "" {
			t.Errorf("%s: %v", text, err)
		}
	}
	if r := in.query(t, ownUsers); r.status != 200 {
		t.Errorf("another table: %s", r.body)
	}
	var titles string
	if err := in.connect(t).QueryRow(t.Context(), "SELECT string_agg(title, ' ' ORDER BY title) FROM public.conversations WHERE id = 'c1'").Scan(&titles); err != nil || titles != "mine theirs" {
		t.Errorf("%s %v", titles, err)
	}
	if _, text := in.ops(t, "/metrics"); !strings.Contains(text, `tenantgate_tables_closed{finding="hidden-rule",table="public.conversations"} 1`) || strings.Contains(text, `tenantgate_tables_telling{`) {
		t.Error("not counted")
	}
	if said := in.stderr(t); strings.Count(said, "a table is closed") != 1 || !strings.Contains(said, `finding=hidden-rule object="soft on public.conversations"`) {
		t.Errorf("logged %s", said)
	}

	in.admin(t, "DROP RULE soft ON public.conversations", "CREATE UNIQUE INDEX one_name ON public.end_users (name)")
	const tells = "tells whether another server has a value: public.end_users, by hidden-unique of one_name on public.end_users; policies that do not accept it: default, inject, readonly"
	waitFor(t, func() bool { _, body := in.ops(t, "/readyz"); return body == "ready\n"+tells+"\n" })
	if r := in.query(t, "SELECT title FROM conversations WHERE server_id = ? AND id = 'c1'"); r.status != 200 || !strings.Contains(r.body, "mine") {
		t.Errorf("open again: %s", r.body)
	}
	if r := in.query(t, ownUsers); r.status != 200 {
		t.Errorf("a table that tells: %s", r.body)
	}
	if _, text := in.ops(t, "/metrics"); strings.Contains(text, `tenantgate_tables_closed{`) || !strings.Contains(text, `tenantgate_tables_telling{finding="hidden-unique",table="public.end_users"} 1`) {
		t.Error("not counted")
	}
}

// TestAcceptedFinding serves a table in spite of a finding where the policy says so, and a
// caller's trigger only where row-level security stands.
func TestAcceptedFinding(t *testing.T) {
	t.Parallel()
	dir, first := firstStart(t)
	first.admin(t, `CREATE FUNCTION public.log() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE public.files SET path = path WHERE id = NEW.id; RETURN NEW; END $$`,
		`CREATE TRIGGER log BEFORE INSERT ON public.conversations FOR EACH ROW EXECUTE FUNCTION public.log()`, softDelete)
	if _, body := first.ops(t, "/readyz"); strings.Contains(body, "hidden-function") {
		t.Error(body)
	}
	if code := first.stop(); code != 0 {
		t.Fatalf("the first start ended with %d", code)
	}
	policy := filepath.Join(dir, "kept.yaml")
	src := `{apiVersion: tenantgate/v1, kind: Policy, metadata: {name: kept}, statement: {kinds: [select, insert]}, tables: {end_users: {scoped: true}, files: {scoped: true},
  conversations: {scoped: true, accept: [{finding: hidden-function, object: public.log(), reason: a test}]}}, functions: {allow: []}}`
	if err := os.WriteFile(policy, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := launchIn(dir, "--policy", policy)
	if err != nil {
		t.Fatal(err)
	}
	defer in.stop()
	// No DELETE is admitted, so that no statement comes to the rule.
	if _, body := in.ops(t, "/readyz"); body != "ready\n" {
		t.Error(body)
	}
	in.admin(t, "ALTER TABLE public.files DISABLE ROW LEVEL SECURITY", "ALTER TRIGGER log ON public.conversations RENAME TO log2")
	waitFor(t, func() bool {
		_, text := in.ops(t, "/metrics")
		return strings.Contains(text, `scoped_tables{walled="false"} 1`)
	})
	if r := in.query(t, "SELECT title FROM conversations WHERE server_id = ?"); r.status != 200 {
		t.Errorf("accepted: %s", r.body)
	}
	in.admin(t, "ALTER FUNCTION public.log() RENAME TO log3") // another object is not accepted
	waitFor(t, func() bool {
		return in.query(t, "SELECT title FROM conversations WHERE server_id = ?").status == 403
	})
	if _, body := in.ops(t, "/readyz"); !strings.Contains(body, "closed: public.conversations, by hidden-function of public.log3(); policies that do not accept it: kept\n") {
		t.Error(body)
	}
}
