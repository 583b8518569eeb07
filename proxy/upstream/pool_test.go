package upstream

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure a full pool is told as overload after the wait limit, and serves again after.
func TestPoolIsFull(t *testing.T) {
	b := setup(t, Config{MaxConns: 2, AcquireTimeout: 300 * time.Millisecond}, "")
	b.eventually("both connections exist", func() bool {
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { _, _ = b.query(sel("SELECT pg_sleep(0.05)")) })
		}
		wg.Wait()
		return b.pool.Stat().Idle == 2
	})
	const busy = "SELECT pg_sleep(1.5)"
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { b.must(sel(busy)) })
	}
	b.eventually("both are busy", func() bool { return b.running(busy) == "2" })
	if s := b.pool.Stat(); s.Acquired != 2 || s.Idle != 0 || s.Max != 2 {
		t.Errorf("got %+v", s)
	}
	refused := make(chan *proxy.Error)
	go func() { refused <- b.fail(sel("SELECT 1"), proxy.Overloaded) }()
	b.eventually("one waits", func() bool { return b.pool.Stat().Waiting == 1 })
	if err := b.pool.Ready(t.Context()); err != nil {
		t.Errorf("a busy pool is not ready: %v", err)
	}
	if e := <-refused; !e.Retryable || e.RetryAfter == 0 || b.rec.class(classServerShare) != 2 {
		t.Errorf("got %+v, counted %v", e, b.rec.errors)
	}
	wg.Wait()
	b.must(sel("SELECT 1"))
	if s := b.pool.Stat(); s.Waiting != 0 || s.Acquired != 0 {
		t.Errorf("got %+v", s)
	}
}

// Ensure a database that takes no more connections is told as overload.
func TestTooManyConnections(t *testing.T) {
	admin := pgtest.Database(t)
	conn, err := pgx.Connect(t.Context(), admin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	role := pgtest.Name("role")
	if _, err := conn.Exec(t.Context(), "CREATE ROLE "+role+" LOGIN PASSWORD 'p' CONNECTION LIMIT 1"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = conn.Exec(context.Background(), "DROP ROLE "+role) })
	b := setup(t, Config{URL: pgtest.As(t, admin, role, "p"), MaxConns: 2}, "")
	held, err := b.pool.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	b.fail(sel("SELECT 1"), proxy.Overloaded)
}

// Ensure the pool is not reset again and again while the database fails.
func TestResetsArePaced(t *testing.T) {
	b := setup(t, Config{MaxConns: 1}, "")
	first := b.must(sel("SELECT pg_backend_pid()"))
	b.pool.reset(classShutdown)
	second := b.must(sel("SELECT pg_backend_pid()"))
	b.pool.reset(classShutdown)
	if third := b.must(sel("SELECT pg_backend_pid()")); first == second || second != third {
		t.Errorf("connections %s, %s, %s", first, second, third)
	}
}

// Ensure many callers at once get their own results.
func TestManyCallers(t *testing.T) {
	b := setup(t, Config{MaxConns: 5, PreparedStatements: 4}, "")
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			for j := range 10 {
				want := strconv.Itoa(i*100 + j)
				st := sel("SELECT $1::int /* "+strconv.Itoa(j%7)+" */", num(want))
				if body, err := b.query(st); err != nil || !strings.HasSuffix(body, "[["+want+"]]") {
					t.Errorf("got %s, %v; want %s", body, err, want)
				}
			}
		})
	}
	wg.Wait()
	if b.rec.stages["pool_wait"] != 400 || b.rec.stages["upstream"] != 400 || b.rec.stages["encode"] != 400 || len(b.rec.stages) != 3 {
		t.Errorf("stages %v", b.rec.stages)
	}
}

// Ensure the session is what values and statements rest on, whatever the role, the
// database or the connection string says; the same behind a pooler, statement by statement.
func TestSession(t *testing.T) {
	for name, cfg := range map[string]Config{"named": {}, "unnamed": {NoPrepared: true}} {
		t.Run(name, func(t *testing.T) {
			admin := pgtest.Database(t)
			role := pgtest.Name("role")
			conn, err := pgx.Connect(t.Context(), admin)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close(context.Background()) })
			for _, sql := range []string{
				"CREATE ROLE " + role + " LOGIN PASSWORD 'p'",
				"ALTER ROLE " + role + " SET datestyle = 'German'", "ALTER ROLE " + role + " SET timezone = 'Asia/Tokyo'", "ALTER ROLE " + role + " SET bytea_output = 'escape'",
				"ALTER ROLE " + role + " SET extra_float_digits = -5", "ALTER ROLE " + role + " SET intervalstyle = 'iso_8601'", "ALTER ROLE " + role + " SET search_path = public",
				"ALTER ROLE " + role + " SET row_security = off", "ALTER ROLE " + role + " SET standard_conforming_strings = off", "ALTER ROLE " + role + " SET client_encoding = 'LATIN1'",
			} {
				if _, err := conn.Exec(t.Context(), sql); err != nil {
					t.Fatal(err)
				}
			}
			t.Cleanup(func() {
				_, _ = conn.Exec(context.Background(), "DROP ROLE "+role)
			})
			cfg.URL = pgtest.As(t, admin, role, "p")
			cfg.SearchPath = "pg_catalog, pg_temp"
			b := setup(t, cfg, "")
			got := b.must(sel(`SELECT current_user, current_setting('search_path'), current_setting('row_security'), current_setting('synchronize_seqscans'), '1 day 01:00'::interval, 0.1::float8 + 0.2::float8, '\x61'::bytea,
				'2026-01-31 09:15:00+09'::timestamptz, '2026-01-31'::date, 'a\b', 'é€', current_setting('statement_timeout')`))
			want := `[["` + role + `","pg_catalog, pg_temp","on","off","1 day 01:00:00",0.30000000000000004,"YQ==","2026-01-31T00:15:00Z","2026-01-31","a\\b","é€","5s"]]`
			if !strings.HasSuffix(got, want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// Ensure Ready tells a database that answers from one that doesn't, in bounded time, and
// that a query to the latter says so without naming it.
func TestReady(t *testing.T) {
	b := setup(t, Config{}, "")
	if err := b.pool.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	gone := setup(t, Config{URL: "postgres://someone:secret@127.0.0.1:1/hidden", ConnectTimeout: time.Second}, "")
	refusal(t, gone.pool.Ready(t.Context()), proxy.UpstreamUnavailable, "no server")
	e := gone.fail(sel("SELECT 1"), proxy.UpstreamUnavailable)
	if strings.Contains(e.Message+e.Hint, "127.0.0.1") || strings.Contains(e.Error(), "secret") || !e.Retryable || gone.rec.class(classConnect) == 0 {
		t.Errorf("got %v, counted %v", e, gone.rec.errors)
	}
	_, err := gone.pool.Schema(t.Context(), nil)
	refusal(t, err, proxy.UpstreamUnavailable, "no server")
}

// Ensure a connection string that is none is refused without being shown.
func TestBadURL(t *testing.T) {
	for _, bad := range []string{"postgres://u:secret@h:notaport/d", "host=x password=secret sslmode=nonsense"} {
		if _, err := Open(t.Context(), Config{URL: bad}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// Ensure a password file is read at each connect, so that a changed password is met.
func TestPasswordFile(t *testing.T) {
	admin := pgtest.Database(t)
	conn, err := pgx.Connect(t.Context(), admin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	role := pgtest.Name("role")
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(context.Background(), sql); err != nil {
			t.Fatal(err)
		}
	}
	exec("CREATE ROLE " + role + " LOGIN PASSWORD 'first'")
	t.Cleanup(func() { exec("DROP ROLE " + role) })
	file := filepath.Join(t.TempDir(), "password")
	put := func(content string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("first\n")
	b := setup(t, Config{URL: pgtest.As(t, admin, role, "wrong"), PasswordFile: file, MaxConns: 1}, "")
	b.must(sel("SELECT 1"))
	exec("ALTER ROLE " + role + " PASSWORD 'second'")
	put("second")
	b.pool.replace()
	b.must(sel("SELECT 1"))
	put(strings.Repeat("x", maxPasswordFile+1))
	b.pool.replace()
	if e := b.fail(sel("SELECT 1"), proxy.UpstreamUnavailable); !strings.Contains(e.Error(), "larger") {
		t.Errorf("got %v", e)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	b.fail(sel("SELECT 1"), proxy.UpstreamUnavailable)
}

// preparation is what a session sends first once it is connected.
const preparation = "tg_prelude"

// Ensure a database that stops answering while a connection is being made ready does not
// hold the connection's place for good.
func TestDeadWhileConnecting(t *testing.T) {
	r, through := pgtest.NewRelay(t, pgtest.Database(t))
	var once atomic.Bool
	r.Watch.Store(new(func(p pgtest.Part) bool {
		if bytes.Contains(p.Bytes, []byte(preparation)) && once.CompareAndSwap(false, true) {
			r.Silent.Store(true)
		}
		return true
	}))
	b := setup(t, Config{URL: through, MaxConns: 1, AcquireTimeout: 300 * time.Millisecond, ConnectTimeout: 500 * time.Millisecond}, "")
	b.fail(sel("SELECT 1"), proxy.UpstreamUnavailable)
	r.Silent.Store(false)
	b.eventually("the pool recovers", func() bool { _, err := b.query(sel("SELECT 1")); return err == nil })
}

// Ensure a network that swallows everything costs bounded time, that a write whose fate
// is open says so, and that the pool recovers.
func TestDeadNetwork(t *testing.T) {
	db := pgtest.Database(t)
	r, through := pgtest.NewRelay(t, db)
	b := setup(t, Config{URL: through, MaxConns: 1, AcquireTimeout: 3 * time.Second, ConnectTimeout: time.Second}, "")
	b.must(sel("SELECT 1"))
	b.must(sel("SELECT 1"))
	r.Silent.Store(true)
	start := time.Now()
	st := write("update", false, "UPDATE t SET a = 1")
	st.limits.StatementTimeout = 200 * time.Millisecond
	st.approved = &unapproved{sql: "SELECT 1"} // known on the connection, so that the Sync goes out at once
	e := b.fail(st, proxy.UpstreamUnavailable)
	if took := time.Since(start); took > 200*time.Millisecond+grace+2*cancelPatience {
		t.Errorf("took %s", took)
	}
	if e.Retryable || !strings.Contains(e.Message, "not known") || e.SQLState != "08007" {
		t.Errorf("got %+v", e)
	}
	r.Silent.Store(false)
	b.eventually("the pool recovers", func() bool { _, err := b.query(sel("SELECT 1")); return err == nil })
	if b.rec.class(classNetwork) == 0 {
		t.Errorf("counted %v", b.rec.errors)
	}
}
