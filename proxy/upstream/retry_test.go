package upstream

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/upstream/values"
)

func (b *bench) terminate() {
	b.t.Helper()
	b.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'tenantgate'")
}

// Ensure a statement that finds its connection ended while idle runs, once, on another.
func TestBackendKilledWhileIdle(t *testing.T) {
	b := setup(t, Config{MaxConns: 3}, "CREATE TABLE t (a int)")
	for range 5 {
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { b.must(sel("SELECT pg_sleep(0.05)")) })
		}
		wg.Wait()
		b.terminate()
		time.Sleep(20 * time.Millisecond) // less than a second: the pool does not look first
		b.must(write("insert", false, "INSERT INTO t VALUES (1)"))
		b.must(write("insert", true, "INSERT INTO t VALUES (2) RETURNING a"))
		b.pool.lastReset = time.Time{}
	}
	if n := b.one("SELECT count(*) FROM t"); n != "10" {
		t.Errorf("%s rows, want 10: a statement was lost or ran twice", n)
	}
	if b.rec.class(classShutdown) == 0 {
		t.Errorf("counted %v", b.rec.errors)
	}
}

// Ensure a statement that was ended halfway is not run again, leaves nothing behind, and
// its caller learns that it may be repeated.
func TestBackendKilledMidStatement(t *testing.T) {
	for name, st := range map[string]*statement{
		"select":    sel("SELECT pg_sleep(30), nextval('runs')"),
		"write":     write("insert", false, "INSERT INTO t SELECT nextval('runs') FROM (SELECT pg_sleep(30)) AS s"),
		"returning": write("insert", true, "INSERT INTO t SELECT nextval('runs') FROM (SELECT pg_sleep(30)) AS s RETURNING a"),
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, Config{MaxConns: 1}, "CREATE TABLE t (a int); CREATE SEQUENCE runs")
			st.limits.StatementTimeout = time.Minute
			done := make(chan error)
			go func() {
				_, err := b.pool.query(context.Background(), st, Encoding{}, nil)
				done <- err
			}()
			running := "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
			b.eventually("the statement runs", func() bool { return b.one(running) == "1" })
			b.terminate()
			e := refusal(t, <-done, proxy.UpstreamUnavailable, st.text())
			if !e.Retryable || e.RetryAfter == 0 {
				t.Errorf("got %+v", e)
			}
			if n := b.one("SELECT count(*) FROM t"); n != "0" || b.one(running) != "0" {
				t.Errorf("%s rows; running again: %s", n, b.one(running))
			}
			b.must(sel("SELECT 1"))
		})
	}
}

// Ensure failures on the way tell whether the statement may be repeated.
func TestUndone(t *testing.T) {
	read, put := sel("SELECT 1"), write("insert", false, "INSERT")
	fatal := pgError("57P01", "FATAL")
	for _, c := range []struct {
		what string
		st   *statement
		f    failure
		want bool
	}{
		{"a read", read, failure{err: values.ErrLimit, synced: true, reached: completed}, true},
		{"a write whose connection broke before the Sync", put, failure{err: values.ErrLimit, reached: begun}, true},
		{"a write whose connection broke after the Sync", put, failure{err: values.ErrLimit, synced: true}, false},
		{"a write whose server ended it before its end", put, failure{err: fatal, synced: true, reached: begun}, true},
		{"a write whose server ended after its end", put, failure{err: fatal, synced: true, reached: completed}, false},
		{"a write that a pooler lost", put, failure{err: pgError("08P01", "FATAL"), synced: true}, false},
		{"a write whose commit failed", put, failure{err: pgError("23503", "ERROR"), synced: true, reached: completed}, true},
	} {
		if got := c.f.undone(c.st); got != c.want {
			t.Errorf("%s: undone is %t", c.what, got)
		}
	}
}

// Ensure only what certainly did not start is repeated.
func TestRepeatable(t *testing.T) {
	stale := pgError("0A000", "ERROR")
	stale.Routine = "RevalidateCachedQuery"
	for _, c := range []struct {
		what string
		f    failure
		want bool
	}{
		{"ended before anything", failure{err: pgError("57P01", "FATAL")}, true},
		{"ended by a crash", failure{err: pgError("57P02", "FATAL")}, true},
		{"ended after the prelude", failure{err: pgError("57P01", "FATAL"), reached: begun}, false},
		{"a broken connection", failure{err: values.ErrLimit}, false},
		{"a stale statement", failure{err: stale, reached: begun}, true},
		{"a stale statement behind one that ran", failure{err: stale, reached: completed}, false},
		{"another missing feature", failure{err: pgError("0A000", "ERROR"), reached: begun}, false},
		{"a lost statement", failure{err: pgError("26000", "ERROR"), reached: begun}, true},
		{"no writes taken", failure{err: pgError("25006", "ERROR"), reached: begun}, true},
		{"a trigger that says so", failure{err: &pgconn.PgError{Code: "25006", SeverityUnlocalized: "ERROR", Routine: "exec_stmt_raise"}, reached: begun}, false},
		{"types that do not fit", failure{err: pgError("42804", "ERROR"), reached: begun, announced: true, at: analysing}, true},
		{"the same, not announced", failure{err: pgError("42804", "ERROR"), reached: begun, at: analysing}, false},
		{"the same, while it ran", failure{err: pgError("42804", "ERROR"), reached: begun, announced: true}, false},
		{"an announced one that waited for a lock", failure{err: pgError("57014", "ERROR"), reached: begun, announced: true, at: analysing}, false},
		{"an announced one that a pooler lost", failure{err: pgError("08P01", "FATAL"), reached: begun, announced: true, at: analysing}, false},
		{"a lost statement, and the connection with it", failure{err: pgError("26000", "FATAL"), reached: begun}, false},
		{"a refusal", failure{err: pgError("57P01", "FATAL"), refused: &proxy.Error{}}, false},
		{"a conflict", failure{err: pgError("40001", "ERROR"), reached: begun}, false},
	} {
		if got := c.f.repeatable(); got != c.want {
			t.Errorf("%s: repeatable is %t", c.what, got)
		}
	}
}

// Ensure a server that takes no writes is left for another one, and that it is told.
func TestReadOnlyServer(t *testing.T) {
	b := setup(t, Config{MaxConns: 1}, "CREATE TABLE t (a int); CREATE SEQUENCE tries")
	pid := b.must(sel("SELECT pg_backend_pid()"))
	b.exec("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM nextval('tries'); PERFORM set_config('transaction_read_only', 'on', true); PERFORM nextval('tries'); END $$;" +
		"CREATE TRIGGER refuse BEFORE INSERT ON t EXECUTE FUNCTION refuse()")
	e := b.fail(write("insert", false, "INSERT INTO t VALUES (1)"), proxy.UpstreamUnavailable)
	if !e.Retryable || b.rec.class(classReadOnly) != 2 || b.one("SELECT last_value FROM tries") != "2" {
		t.Errorf("got %+v, counted %v", e, b.rec.errors)
	}
	if again := b.must(sel("SELECT pg_backend_pid()")); again == pid {
		t.Error("the connection was used again")
	}
}
