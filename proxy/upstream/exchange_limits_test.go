package upstream

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/upstream/values"
)

func withLimits(st *statement, rows, bytes int) *statement {
	st.limits.MaxRows, st.limits.MaxResultBytes = rows, bytes
	return st
}

// Ensure a result at the limit passes and one beyond it is an error, never a cut result,
// and that the connection goes on.
func TestRowAndByteLimits(t *testing.T) {
	b := setup(t, Config{MaxConns: 1}, "")
	pid := b.must(sel("SELECT pg_backend_pid()"))
	body := b.must(withLimits(sel("SELECT generate_series(1,10) AS g"), 10, 1<<20))
	b.must(withLimits(sel("SELECT generate_series(1,10) AS g"), 10, len(body)+responseTail-1))
	for _, c := range []struct {
		rows, bytes int
		says        string
	}{{9, 1 << 20, "9 rows"}, {10, len(body) + responseTail - 2, "bytes"}, {0, 1 << 20, "0 rows"}, {-1, 1 << 20, "-1 rows"}, {10, 0, "0 bytes"}} {
		e := b.fail(withLimits(sel("SELECT generate_series(1,10) AS g"), c.rows, c.bytes), proxy.ResultTooLarge)
		if !strings.Contains(e.Message, c.says) || e.Hint == "" {
			t.Errorf("%+v: got %q, hint %q", c, e.Message, e.Hint)
		}
	}
	res, err := b.pool.query(context.Background(), withLimits(sel("SELECT 1"), 0, 1<<20), Encoding{}, []byte("kept"))
	if err == nil || string(res.Body) != "kept" {
		t.Errorf("after a refusal dst is %q", res.Body)
	}
	if again := b.must(sel("SELECT pg_backend_pid()")); again != pid {
		t.Errorf("connection %s was lost, now %s", pid, again)
	}
	if b.rec.class(classTooLarge) != 6 {
		t.Errorf("counted %v", b.rec.errors)
	}
}

// Ensure a result beyond the limits is cancelled on the server and never read to its end:
// this one would take minutes.
func TestTooLargeIsCancelled(t *testing.T) {
	b := setup(t, Config{MaxConns: 1}, "")
	start := time.Now()
	const sql = "SELECT repeat(''x'', 1000), generate_series(1, 100000000)"
	st := withLimits(sel(strings.ReplaceAll(sql, "''", "'")), 1000, 1<<20)
	st.limits.StatementTimeout = time.Minute
	b.fail(st, proxy.ResultTooLarge)
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("took %s", took)
	}
	if n := b.running(sql); n != "0" {
		t.Errorf("%s such statements still run", n)
	}
	b.must(sel("SELECT 1"))
}

// Ensure one value far beyond the limit is refused before it is read into memory.
func TestHugeValueIsNotRead(t *testing.T) {
	b := setup(t, Config{MaxConns: 1}, "")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	st := withLimits(sel("SELECT repeat('x', 60000000)"), 1000, 1<<20)
	st.limits.StatementTimeout = time.Minute
	b.fail(st, proxy.ResultTooLarge)
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 20<<20 {
		t.Errorf("%d bytes were allocated", grown)
	}
	b.must(sel("SELECT 1")) // on a new connection
}

// Ensure bytea, twice as long on the wire as in bytes, still passes up to the limit.
func TestWideValueWithinLimit(t *testing.T) {
	b := setup(t, Config{}, "")
	b.must(withLimits(sel("SELECT decode(repeat('00', 5000000), 'hex')"), 1, 7<<20))
}

// Ensure a write whose result is refused leaves nothing behind, whether the result is
// known at once or after the statement ended, with few or many rows on their way, and
// that one within the limits is committed.
func TestRefusedReturningIsRolledBack(t *testing.T) {
	for name, cfg := range map[string]Config{"named": {MaxConns: 1}, "unnamed": {MaxConns: 1, NoPrepared: true}} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, cfg, "CREATE TABLE t (a int, b text)")
			for range 2 {
				for _, st := range []*statement{
					withLimits(write("insert", true, "INSERT INTO t SELECT g, 'x' FROM generate_series(1,10) g RETURNING a"), 9, 1<<20),
					withLimits(write("insert", true, "INSERT INTO t SELECT g, 'x' FROM generate_series(1,20000) g RETURNING a, repeat('x', 200)"), 1<<30, 1<<20),
					withLimits(write("insert", true, "INSERT INTO t SELECT 1, repeat('x', 5000000) RETURNING b"), 10, 1<<20),
					withLimits(write("select", true, "WITH i AS (INSERT INTO t SELECT g FROM generate_series(1,10) g RETURNING a) SELECT a FROM i"), 9, 1<<20),
				} {
					b.fail(st, proxy.ResultTooLarge)
					if n := b.one("SELECT count(*) FROM t"); n != "0" {
						t.Fatalf("%s: %s rows were committed", st.text(), n)
					}
				}
			}
			b.must(withLimits(write("insert", true, "INSERT INTO t SELECT g, 'x' FROM generate_series(1,10) g RETURNING a"), 10, 1<<20))
			if n := b.one("SELECT count(*) FROM t"); n != "10" {
				t.Errorf("%s rows were committed, want 10", n)
			}
			b.must(write("delete", false, "DELETE FROM t"))
			if n := b.one("SELECT count(*) FROM t"); n != "0" {
				t.Errorf("%s rows are left", n)
			}
		})
	}
}

// Ensure a failure to encode takes back a write too.
func TestBrokenEncodingIsRolledBack(t *testing.T) {
	b := setup(t, Config{MaxConns: 1}, "CREATE TABLE t (a int)")
	st := write("insert", true, "INSERT INTO t VALUES (1) RETURNING a")
	for range 3 {
		b.must(st)
	}
	conn, err := b.pool.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sessionOf(conn.Conn().PgConn()).statements.get(st.text()).form.columns[0], _ = values.NewTypes().Get(pgtype.BoolOID)
	conn.Release()
	e := b.fail(st, policy.Internal)
	if e.Cause == nil || strings.Contains(e.Message, "bool") {
		t.Errorf("the cause belongs into the log only: %v", e)
	}
	if n := b.one("SELECT count(*) FROM t"); n != "3" {
		t.Errorf("%s rows, want 3", n)
	}
}

// Ensure the time limit is Postgres' own, reaches a statement that only plans or waits for
// a lock, and is gone with the transaction.
func TestStatementTimeout(t *testing.T) {
	b := setup(t, Config{MaxConns: 1}, "CREATE TABLE t (a int)")
	slow := sel("SELECT pg_sleep(10)")
	slow.limits.StatementTimeout = 100 * time.Millisecond
	for range 2 {
		start := time.Now()
		e := b.fail(slow, proxy.StatementTimeout)
		if took := time.Since(start); took > time.Second || e.SQLState != "57014" || e.Retryable {
			t.Errorf("took %s, %+v", took, e)
		}
	}
	tx, err := b.admin.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK t"); err != nil {
		t.Fatal(err)
	}
	locked := write("insert", false, "INSERT INTO t VALUES (1)")
	locked.limits.StatementTimeout = 100 * time.Millisecond
	b.fail(locked, proxy.StatementTimeout)
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := b.one("SELECT count(*) FROM t"); n != "0" {
		t.Errorf("the statement ran after its time: %s rows", n)
	}
	long := sel("SELECT pg_sleep(0.2)")
	b.must(long)
	if b.rec.class(classTimeout) != 3 {
		t.Errorf("counted %v", b.rec.errors)
	}
}

// Ensure a time limit under a millisecond, or none, does not become "no limit".
func TestNoTimeLimit(t *testing.T) {
	b := setup(t, Config{}, "")
	st := sel("SELECT pg_sleep(5)")
	st.limits.StatementTimeout = time.Microsecond
	b.must(sel("SELECT 1")) // so that what follows has a connection
	start := time.Now()
	b.fail(st, proxy.StatementTimeout)
	if took := time.Since(start); took >= grace {
		t.Errorf("took %s: it was not Postgres that ended it", took)
	}
	st.limits.StatementTimeout = 0
	b.fail(st, policy.Internal)
	_, err := b.pool.Query(t.Context(), "", policy.Bound{}, Encoding{}, nil)
	refusal(t, err, policy.Internal, "the zero Bound")
}

// Ensure a limit that a statement left on its connection is not the next one's, even where
// that is the one that the connection began with.
func TestTimeLimitIsNotLeftBehind(t *testing.T) {
	b := setup(t, Config{MaxConns: 1}, "")
	for _, left := range []string{"0", "1"} {
		b.must(as("a", sel("SELECT pg_catalog.set_config('statement_timeout', '"+left+"', false)")))
		for _, limit := range []time.Duration{5 * time.Second, 15 * time.Second, time.Second} {
			st := as("b", sel("SELECT current_setting('statement_timeout')"))
			st.limits.StatementTimeout = limit
			if got := b.must(st); !strings.HasSuffix(got, `[["`+limit.String()+`"]]`) {
				t.Errorf("limited to %s after one had left %s: %s", limit, left, got)
			}
		}
	}
}
