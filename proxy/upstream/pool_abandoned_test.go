package upstream

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// of is a statement of a server.
func (st *statement) of(server string) *statement {
	st.project, st.server = "p"+server, server
	return st
}

// halt runs a server's statement, whose backend goes on by itself until resume. told is what
// the server is told in the end.
func (b *bench) halt(server string, n int) (resume func(), told <-chan error) {
	b.t.Helper()
	text := fmt.Sprintf("SELECT pg_sleep(100), %d", n)
	st := sel(text).of(server)
	done := make(chan error, 1)
	st.limits.StatementTimeout = 2 * time.Second
	go func() {
		_, err := b.pool.query(context.Background(), st, Encoding{}, nil)
		done <- err
	}()
	pid := "SELECT coalesce(max(pid), 0) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database() AND query = '" + text + "'"
	b.eventually("the statement runs", func() bool { return b.one(pid) != "0" })
	return stop(b.t, pidOf(b.t, b.one(pid))), done
}

// Ensure a backend that can't be ended holds its server's turn until it is gone: the server waits for
// that, and others are served.
func TestAbandoned(t *testing.T) {
	b := setup(t, Config{MaxConns: 8, AcquireTimeout: 20 * time.Second}, "")
	var resumes []func()
	var told []<-chan error
	for n := range 3 {
		resume, done := b.halt("a", n)
		resumes, told = append(resumes, resume), append(told, done)
	}
	for _, done := range told {
		if err := <-done; proxy.AsError(err).Code != proxy.StatementTimeout {
			t.Fatal(err)
		}
	}
	b.eventually("all are counted", func() bool { return b.pool.Stat().Abandoned == 3 })
	start := time.Now()
	e := b.fail(sel("SELECT 1").of("a"), proxy.Overloaded)
	if !errors.Is(e, errAbandoned) || !e.Retryable || time.Since(start) > 10*time.Second || b.rec.class(classAbandoned) != 1 {
		t.Errorf("%+v after %v", e, time.Since(start))
	}
	served := make(chan error, 20) // of another, while 5 of 8 connections are left
	for range cap(served) {
		go func() {
			_, err := b.pool.query(context.Background(), sel("SELECT pg_sleep(0.05)").of("b"), Encoding{}, nil)
			served <- err
		}()
	}
	for range cap(served) {
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
	for i, resume := range resumes {
		resume()
		b.eventually("one is gone", func() bool { return b.pool.Stat().Abandoned == len(resumes)-1-i })
	}
	b.must(sel("SELECT 1").of("a"))
	for of := range b.pool.abandoned.of {
		t.Errorf("%v is counted still", of)
	}
}

// Ensure a server that waited for a turn while its backends were abandoned gets none.
func TestAbandonedMeanwhile(t *testing.T) {
	b := setup(t, Config{MaxConns: 4, AcquireTimeout: 20 * time.Second}, "")
	first, ended := b.halt("a", 0)
	second, endedToo := b.halt("a", 1)
	defer second()
	waits := make(chan error, 1)
	go func() {
		_, err := b.pool.query(context.Background(), sel("SELECT 1").of("a"), Encoding{}, nil)
		waits <- err
	}()
	<-ended
	<-endedToo
	b.eventually("both are counted", func() bool { return b.pool.Stat().Abandoned == 2 })
	if waiting := b.pool.Stat().Waiting; waiting != 1 {
		t.Fatalf("%d wait", waiting)
	}
	first()
	if err := <-waits; !errors.Is(err, errAbandoned) {
		t.Error(err)
	}
}

// Ensure a backend that was killed counts for nothing: its server goes on.
func TestKilledIsNotAbandoned(t *testing.T) {
	b := setup(t, Config{MaxConns: 4}, "")
	for n := range 20 {
		text := fmt.Sprintf("SELECT pg_sleep(100), %d", n)
		done := make(chan error, 1)
		go func() {
			_, err := b.pool.query(context.Background(), sel(text).of("a"), Encoding{}, nil)
			done <- err
		}()
		b.eventually("it runs", func() bool {
			return b.one("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query = '"+text+"'") == "1"
		})
		if err := <-done; err == nil {
			t.Error("a killed backend answered")
		}
		b.must(sel("SELECT 1").of("a"))
	}
}

// Ensure what a process leaves behind holds turns of the next one, some of them, until it is gone.
func TestFormer(t *testing.T) {
	b := setup(t, Config{MaxConns: 4}, "")
	_, first := b.halt("a", 0)
	_, second := b.halt("a", 1)
	<-first
	<-second
	next, err := Open(t.Context(), Config{URL: b.url, MaxConns: 4, SearchPath: "pg_catalog, public", AcquireTimeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		next.lookForFormer(ctx, 50*time.Millisecond, 100*time.Millisecond)
	}()
	defer func() { cancel(); <-done }()
	time.Sleep(200 * time.Millisecond)
	if n := next.pool.Stat().TotalConns(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
	if err := next.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.eventually("one of two is counted", func() bool { return next.Stat().Abandoned == 1 })
	if err := next.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	var taken []proxy.Account
	for i := range 4 {
		of := proxy.Account{Project: fmt.Sprint(i)}
		if next.turns.Take(t.Context(), of, 5*time.Second*time.Duration(min(3-i, 1))+time.Millisecond) == nil {
			taken = append(taken, of)
		}
	}
	if len(taken) != 3 {
		t.Errorf("%d of 4 turns are left", len(taken))
	}
	for _, of := range taken {
		next.turns.Give(of)
	}
	if n, err := next.former(t.Context(), time.Now().Add(-time.Hour), -time.Second); n != 0 || err != nil {
		t.Errorf("%d of this process's own, %v", n, err)
	}
	b.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'SELECT pg_sleep(100)%'")
	for _, pid := range []string{"0", "1"} {
		p := b.one("SELECT coalesce(max(pid), 0) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(100), " + pid + "'")
		if p != "0" {
			resumeOf(t, pidOf(t, p))
		}
	}
	b.eventually("none is counted", func() bool { return next.Stat().Abandoned == 0 })
}

func resumeOf(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}
