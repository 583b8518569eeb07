package upstream

import (
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

func (b *bench) backends() string {
	return b.one("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'tenantgate'")
}

// Ensure a backend that goes on after its connection was given up keeps its place: the
// database never has more of the pool's backends than the ceiling.
func TestGivenUpBackendsCount(t *testing.T) {
	for name, cfg := range map[string]Config{"named": {}, "unnamed": {NoPrepared: true}} {
		t.Run(name, func(t *testing.T) {
			cfg.MaxConns, cfg.AcquireTimeout = 1, 300*time.Millisecond
			b := setup(t, cfg, "")
			conn, err := b.pool.pool.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			resume := stop(t, int(conn.Conn().PgConn().PID()))
			_ = conn.Conn().Close(t.Context())
			conn.Release()
			for range 5 {
				e := b.fail(sel("SELECT 1"), proxy.Overloaded)
				if !errors.Is(e, proxy.ErrNoTurn) || !e.Retryable || e.Hint != busyHint {
					t.Errorf("got %+v", e)
				}
				if n := b.backends(); n != "1" {
					t.Fatalf("%s backends with a ceiling of 1", n)
				}
			}
			if err := b.pool.Ready(t.Context()); err != nil {
				t.Errorf("a full pool is not ready: %v", err)
			}
			resume()
			b.eventually("the pool recovers", func() bool { _, err := b.query(sel("SELECT 1")); return err == nil })
		})
	}
}

// Ensure a reset with halted backends does not go beyond the ceiling either, and that one
// with live backends gives their places back at once.
func TestResetKeepsTheCeiling(t *testing.T) {
	b := setup(t, Config{MaxConns: 1, AcquireTimeout: 2 * time.Second}, "")
	for range 20 {
		b.must(sel("SELECT 1"))
		b.pool.replace()
	}
	pid := b.must(sel("SELECT pg_backend_pid()"))
	resume := stop(t, pidOf(t, strings.Trim(pid[strings.Index(pid, "[["):], "[]")))
	b.pool.replace()
	b.fail(sel("SELECT 1"), proxy.Overloaded)
	if n := b.backends(); n != "1" {
		t.Fatalf("%s backends with a ceiling of 1", n)
	}
	resume()
	b.eventually("the pool recovers", func() bool { _, err := b.query(sel("SELECT 1")); return err == nil })
}

// Ensure Close takes little time whatever the database does, and leaves nothing.
func TestCloseWithDeadDatabase(t *testing.T) {
	b := setup(t, Config{MaxConns: 2}, "")
	postmaster := pidOf(t, b.one("SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)"))
	st := sel("SELECT pg_sleep(20)")
	st.limits.StatementTimeout = 300 * time.Millisecond
	told := b.stuck(t.Context(), st)
	b.must(sel("SELECT 1"))
	resume := stop(t, postmaster)
	if <-told == nil {
		t.Error("the statement came to its end")
	}
	start := time.Now()
	b.pool.Close()
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("took %s", took)
	}
	resume()
}

// Ensure Close waits for a statement that runs.
func TestCloseWaitsForStatements(t *testing.T) {
	b := setup(t, Config{MaxConns: 1}, "")
	b.must(sel("SELECT 1"))
	st := sel("SELECT pg_sleep(2.5)")
	done := make(chan error, 1)
	go func() {
		_, err := b.query(st)
		done <- err
	}()
	b.eventually("the statement runs", func() bool { return b.running(st.text()) == "1" })
	b.pool.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// Ensure a database that takes connections and never answers is told as one that cannot be
// reached, however many attempts still hold a place.
func TestSilentDatabase(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // the kernel accepts, nobody else does
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	url := "postgres://u:p@" + l.Addr().String() + "/d?sslmode=disable"
	b := setup(t, Config{URL: url, MaxConns: 2, AcquireTimeout: 300 * time.Millisecond, ConnectTimeout: 500 * time.Millisecond}, "")
	for range 5 {
		b.fail(sel("SELECT 1"), proxy.UpstreamUnavailable)
		refusal(t, b.pool.Ready(t.Context()), proxy.UpstreamUnavailable, "a silent database")
	}
	start := time.Now()
	b.pool.Close()
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("took %s", took)
	}
}

// inUse counts the places that are taken, at all addresses.
func (p *places) inUse() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, taken := range p.taken {
		n += len(taken)
	}
	return n
}

// Ensure a server that keeps its places keeps none of another address.
func TestPlacesOfAnAddress(t *testing.T) {
	p := newPlaces(1, 20*time.Millisecond)
	defer p.close()
	for _, step := range []struct {
		address string
		free    bool
	}{{"a", true}, {"a", false}, {"b", true}, {"b", false}} {
		if _, err := p.reserve(t.Context(), step.address); (err == nil) != step.free || !step.free && !errors.Is(err, proxy.ErrNoTurn) {
			t.Errorf("%s: %v", step.address, err)
		}
	}
}

// Ensure a server that takes connections and never serves keeps a place for seconds only.
func TestFarewellOfAStranger(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	p := newPlaces(1, time.Second)
	defer p.close()
	c, err := (&ticket{places: p, dial: (&net.Dialer{}).DialContext}).connect(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	select {
	case <-c.(*socket).gone:
	case <-time.After(unservedTime + 5*time.Second):
		t.Error("its place is still taken")
	}
}

// Ensure the backend of a closed connection keeps its place as long as it is busy, which may be for hours.
func TestFarewellOfABusyBackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlaces(1, time.Second)
		place, err := p.reserve(t.Context(), "address")
		if err != nil {
			t.Fatal(err)
		}
		ours, backend := net.Pipe()
		s := &socket{Conn: halfCloser{ours}, ticket: &ticket{places: p}, place: place, gone: make(chan struct{})}
		s.ticket.connected.Store(true)
		p.open[s] = struct{}{}
		p.wg.Add(1)
		_ = s.Close()
		time.Sleep(48 * time.Hour)
		synctest.Wait()
		if _, err := p.reserve(t.Context(), "address"); err == nil {
			t.Error("its place is free while it is busy")
		}
		_ = backend.Close()
		p.wg.Wait()
		if _, err := p.reserve(t.Context(), "address"); err != nil {
			t.Error("its place is still taken:", err)
		}
	})
}

// halfCloser is a pipe whose reading side stays open.
type halfCloser struct{ net.Conn }

func (halfCloser) CloseWrite() error { return nil }
