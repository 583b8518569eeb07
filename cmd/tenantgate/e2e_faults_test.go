package main

import (
	"strings"
	"testing"
)

// holding starts a statement as the demo server, waits until it runs, and gives its answer
// to come. text must hold mark.
func (in *instance) holding(t *testing.T, mark, text string) <-chan reply {
	t.Helper()
	conn := in.connect(t)
	answer := make(chan reply, 1)
	go func() { answer <- in.query(t, text) }()
	waitFor(t, func() (running bool) {
		err := conn.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%' || $1 || '%' AND pid <> pg_backend_pid())", mark).Scan(&running)
		if err != nil {
			t.Error(err)
		}
		return running || err != nil
	})
	return answer
}

// TestOverloaded has more servers ask than the pool has connections.
func TestOverloaded(t *testing.T) {
	t.Parallel()
	in := fresh(t, "--pool-max=1", "--pool-min=0", "--pool-wait=200ms", "--policy", policyFile(t, "statementTimeout: 2s"))
	first := in.holding(t, "HOLDS", "/* HOLDS */ "+slow(100))
	r := in.query(t, "SELECT 1")
	if e := errorOf(t, r); r.status != 503 || e.Code != "overloaded" || !e.Retryable || r.header.Get("Retry-After") == "" {
		t.Errorf("%d %v %s", r.status, r.header, r.body)
	}
	if r := <-first; r.status != 504 {
		t.Errorf("the first: %d %s", r.status, r.body)
	}
	if r := in.query(t, "SELECT 1"); r.status != 200 {
		t.Errorf("afterwards: %d %s", r.status, r.body)
	}
}

// TestShuttingDown stops the service under a statement that takes longer than the drain.
func TestShuttingDown(t *testing.T) {
	t.Parallel()
	in := fresh(t, "--drain-timeout=300ms")
	first := in.holding(t, "DRAINS", "/* DRAINS */ "+slow(100))
	exited := make(chan int, 1)
	go func() { exited <- in.stop() }()
	r := <-first
	if e := errorOf(t, r); r.status != 503 || e.Code != "shutting_down" || r.header.Get("Retry-After") == "" {
		t.Errorf("%d %v %s", r.status, r.header, r.body)
	}
	if code := <-exited; code != 0 {
		t.Errorf("the service exited with %d", code)
	}
}

// TestSerializationFailure has Postgres report a conflict.
func TestSerializationFailure(t *testing.T) {
	in := sharedInstance(t)
	in.admin(t, "CREATE OR REPLACE FUNCTION public.conflict() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'hidden' USING ERRCODE = '40001', DETAIL = 'hidden'; END $$",
		"CREATE OR REPLACE TRIGGER conflict BEFORE INSERT ON files FOR EACH ROW WHEN (NEW.name = 'conflict') EXECUTE FUNCTION public.conflict()")
	r := in.query(t, "INSERT INTO files (server_id, name) VALUES (?, ?)", "", "conflict")
	if e := errorOf(t, r); r.status != 409 || e.Code != "serialization_failure" || e.SQLState != "40001" || !e.Retryable || strings.Contains(r.body, "hidden") {
		t.Errorf("%d %s", r.status, r.body)
	}
	in.admin(t, "DROP FUNCTION public.conflict() CASCADE")
}

// TestInternal makes a table of end users that can't be: its answer tells nothing of it.
func TestInternal(t *testing.T) {
	t.Parallel()
	in := fresh(t)
	in.admin(t, "DROP INDEX public.end_users_email", "INSERT INTO end_users (server_id, email) SELECT '"+in.ServerID+"', 'twin@example.com' FROM generate_series(1, 2)")
	r := in.lookup(t, "twin@example.com", in.application()...)
	if e := errorOf(t, r); r.status != 500 || e.Code != "internal" || e.RequestID == "" || e.RequestID != r.header.Get("X-Request-ID") || strings.Contains(r.body, "twin") || strings.Contains(r.body, "user") {
		t.Errorf("%d %s", r.status, r.body)
	}
}
