package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// TestUngrantedColumn adds a column to a table on whose columns the statement role has grants, so that it has none on the new
// one. Both front ends say so until it is granted, * leaves the column out, and the log names it, but no column that
// the policies hide.
func TestUngrantedColumn(t *testing.T) {
	t.Parallel()
	in := fresh(t)
	conn, err := pgx.Connect(t.Context(), in.PgURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	in.admin(t, "ALTER TABLE public.end_users ADD COLUMN fresh text DEFAULT 'new'", "REVOKE INSERT, UPDATE ON public.end_users FROM tenantgate_statement",
		"GRANT INSERT (id, server_id, name), UPDATE (name) ON public.end_users TO tenantgate_statement")
	const read, write = "column end_users.fresh is not granted to the service's role", "column end_users.fresh is not granted to the service's role for writing"
	for _, c := range []struct{ rest, wire, message, hint string }{
		{"SELECT fresh FROM end_users WHERE server_id = ?", "SELECT fresh FROM end_users", read, "operator can GRANT SELECT (fresh) ON end_users TO the statement role"},
		{"SELECT id FROM end_users WHERE server_id = ? AND fresh = 'a'", "SELECT id FROM end_users WHERE fresh = 'a'", read, "GRANT SELECT (fresh)"},
		{"INSERT INTO end_users (id, server_id, fresh) VALUES ('g1', ?, 'a')", "INSERT INTO end_users (id, fresh) VALUES ('g1', 'a')", write, "GRANT INSERT (fresh) ON end_users TO the statement role"},
		{"UPDATE end_users SET fresh = 'a' WHERE server_id = ?", "UPDATE end_users SET fresh = 'a'", write, "GRANT UPDATE (fresh) ON end_users TO the statement role"},
		{"SELECT password_hash FROM end_users WHERE server_id = ?", "SELECT password_hash FROM end_users", "column end_users.password_hash must not be read", "the columns that are needed"},
	} {
		r := within(t, 403, func() reply { return in.query(t, c.rest) })
		if e := errorOf(t, r); e.Code != "column_not_allowed" || e.Message != c.message || !strings.Contains(e.Hint, c.hint) || strings.Contains(r.body, "tenantgate_statement") {
			t.Errorf("%s: %s", c.rest, r.body)
		}
		_, err := conn.Exec(t.Context(), c.wire)
		refused := (*pgconn.PgError)(nil)
		if !errors.As(err, &refused) || refused.Code != "42501" || refused.Message != c.message || !strings.Contains(refused.Hint, c.hint) {
			t.Errorf("%s: %v, hint %q", c.wire, err, refused.Hint)
		}
	}
	for _, text := range []string{"SELECT * FROM end_users WHERE server_id = ?", "UPDATE end_users SET name = 'b' WHERE server_id = ?"} {
		if r := in.query(t, text); r.status != 200 || strings.Contains(r.body, "fresh") {
			t.Errorf("%s: %s", text, r.body)
		}
	}
	const line = `table=public.end_users columns=fresh policies="default, inject, readonly"`
	if said := in.stderr(t); strings.Count(said, line) != 1 || strings.Count(said, "columns are not granted to the statement role") != 1 {
		t.Errorf("logged %s", said)
	}

	in.admin(t, "GRANT SELECT (fresh), INSERT (fresh), UPDATE (fresh) ON public.end_users TO tenantgate_statement")
	granted := time.Now()
	waitFor(t, func() bool { return in.query(t, "SELECT fresh FROM end_users WHERE server_id = ?").status == 200 })
	if took := time.Since(granted); took > 2*time.Second {
		t.Errorf("the grant took effect after %v", took)
	}
	for _, text := range []string{"INSERT INTO end_users (id, fresh) VALUES ('g3', 'a')", "UPDATE end_users SET fresh = 'b' WHERE id = 'g3'"} {
		if _, err := conn.Exec(t.Context(), text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	var id, fresh string
	if err := conn.QueryRow(t.Context(), "SELECT id, fresh FROM end_users WHERE id = 'g3'").Scan(&id, &fresh); err != nil || fresh != "b" {
		t.Errorf("%s %v", fresh, err)
	}
	if r := in.query(t, "SELECT * FROM end_users WHERE server_id = ?"); r.status != 200 || !strings.Contains(r.body, "fresh") {
		t.Errorf("* after the grant: %s", r.body)
	}
}
