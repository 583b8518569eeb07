package upstream

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// stop halts a process until the test ends: so is a backend in a loop that does not look
// for interrupts.
func stop(t testing.TB, pid int) (resume func()) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	resume = func() { _ = syscall.Kill(pid, syscall.SIGCONT) }
	t.Cleanup(resume)
	return resume
}

func pidOf(t testing.TB, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// stuck starts st, halts its backend, and gives what the caller is told in the end.
func (b *bench) stuck(ctx context.Context, st *statement) <-chan error {
	b.t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := b.pool.query(ctx, st, Encoding{}, nil)
		done <- err
	}()
	const asleep = "SELECT coalesce(max(pid), 0) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
	b.eventually("the statement runs", func() bool { return b.one(asleep) != "0" })
	stop(b.t, pidOf(b.t, b.one(asleep)))
	return done
}

const notKnown = "whether the statement took effect is not known"

// Ensure a statement that Postgres does not end at its limit is a timeout, with or without
// an effect.
func TestOutlivesItsLimit(t *testing.T) {
	put := write("insert", false, "INSERT INTO t SELECT 1 FROM pg_sleep(20)")
	for _, c := range []struct {
		what string
		cfg  Config
		st   *statement
		open bool
	}{
		{"read", Config{}, sel("SELECT pg_sleep(20)"), false}, {"write", Config{}, put, true}, {"unnamed", Config{NoPrepared: true}, put, true},
	} {
		t.Run(c.what, func(t *testing.T) {
			c.cfg.MaxConns = 1
			b := setup(t, c.cfg, "CREATE TABLE t (a int)")
			c.st.limits.StatementTimeout = 700 * time.Millisecond
			e := refusal(t, <-b.stuck(t.Context(), c.st), proxy.StatementTimeout, c.what)
			if e.Retryable || strings.Contains(e.Message, notKnown) != c.open {
				t.Errorf("got %+v", e)
			}
			if b.rec.class(classTimeout) != 1 || b.rec.class(classNetwork) != 0 {
				t.Errorf("counted %v", b.rec.errors)
			}
		})
	}
}

// Ensure a write whose caller left before it was sent may be sent again.
func TestGoneBeforeTheWrite(t *testing.T) {
	db := pgtest.Database(t)
	admin, err := pgx.Connect(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = admin.Close(context.Background()) }()
	if _, err := admin.Exec(t.Context(), "CREATE TABLE t (a int)"); err != nil {
		t.Fatal(err)
	}
	r, through := pgtest.NewRelay(t, db)
	b := setup(t, Config{MaxConns: 1, URL: through}, "")
	b.must(sel("SELECT 1"))
	r.Watch.Store(new(func(pgtest.Part) bool { time.Sleep(200 * time.Millisecond); return true }))
	why := &proxy.Error{Code: proxy.ShuttingDown, Message: "send the request again", Retryable: true, RetryAfter: time.Second}
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(100*time.Millisecond, func() { cancel(why) })
	_, err = b.pool.query(ctx, write("insert", false, "INSERT INTO t VALUES (1)"), Encoding{}, nil)
	if e := refusal(t, err, proxy.ShuttingDown, "a write that was only described"); !e.Retryable || e.Message != why.Message {
		t.Errorf("got %+v", e)
	}
	r.Watch.Store(nil)
	var rows int
	if err := admin.QueryRow(t.Context(), "SELECT count(*) FROM t").Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d rows, %v", rows, err)
	}
}

// Ensure a caller whose context ended is not told to send a write again that may have
// taken effect, whatever the cause would say, and keeps the cause's code.
func TestGoneFromAnOpenWrite(t *testing.T) {
	why := &proxy.Error{Code: proxy.ShuttingDown, Message: "send the request again", Retryable: true, RetryAfter: time.Second}
	for _, c := range []struct {
		st    *statement
		cause error
		code  proxy.Code
		open  bool
	}{
		{write("insert", false, "INSERT INTO t SELECT 1 FROM pg_sleep(20)"), why, proxy.ShuttingDown, true},
		{write("insert", false, "INSERT INTO t SELECT 1 FROM pg_sleep(20)"), context.Canceled, policy.QueryFailed, true},
		{write("insert", false, "INSERT INTO t SELECT 1 FROM pg_sleep(20)"), context.DeadlineExceeded, proxy.StatementTimeout, true},
		{write("insert", true, "INSERT INTO t SELECT 1 FROM pg_sleep(20) RETURNING a"), why, proxy.ShuttingDown, false},
		{sel("SELECT pg_sleep(20)"), why, proxy.ShuttingDown, false},
	} {
		t.Run(string(c.code)+" "+string(c.st.kind), func(t *testing.T) {
			b := setup(t, Config{MaxConns: 1}, "CREATE TABLE t (a int)")
			ctx, cancel := context.WithCancelCause(t.Context())
			told := b.stuck(ctx, c.st)
			cancel(c.cause)
			e := refusal(t, <-told, c.code, c.st.text())
			invites := strings.Contains(e.Message, "again") || e.Retryable || e.RetryAfter != 0
			if strings.Contains(e.Message, notKnown) != c.open || c.open && invites || !c.open && e.Message != why.Message {
				t.Errorf("got %+v", e)
			}
			if !errors.Is(e, c.cause) {
				t.Errorf("the cause %v is not in the chain of %v", c.cause, e)
			}
		})
	}
}
