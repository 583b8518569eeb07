package clients_test

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// running waits until a statement with the mark in its text runs.
func (f *faulty) running(t *testing.T, mark string) {
	t.Helper()
	query := "SELECT count(*)::text FROM pg_stat_activity WHERE usename = 'clients_statement' AND state = 'active' AND query LIKE '%" + mark + "%'"
	eventually(t, 10*time.Second, func() bool { return f.tells(t, query) != "0" }, func() string { return mark + " does not run" })
}

// marked is a statement that runs for far too long; the mark is a part of its text in the
// database, too. Postgres takes it for a short one, and so compiles nothing: that can't be
// cancelled, and takes seconds on a busy machine.
func marked(mark string) string {
	const many = "generate_series(1, (SELECT 1000000))"
	return "SELECT '" + mark + "' AS mark, count(*) FROM " + many + " AS a, " + many + " AS b WHERE a + b < 0"
}

func say(t *testing.T, s *spoken, sql, state string) {
	t.Helper()
	s.send(fmt.Sprintf("Query {\"String\": %q}", sql))
	if said := s.until([]string{"ReadyForQuery"}); !strings.HasSuffix(said, "ReadyForQuery \""+state+"\"\n") {
		t.Fatalf("%s: %s", sql, said)
	}
}

// clientGone has clients end without a word, in each of their states. Their locks are free
// soon after, and nothing of what they did remains.
func (f *faulty) clientGone(t *testing.T) {
	for n := range often(2, 50) {
		for _, how := range []string{"FIN", "RST"} {
			for _, when := range []string{"idle", "running", "portal", "copy"} {
				f.oneGone(t, fmt.Sprintf("gone%d", n), how, when)
			}
		}
	}
}

func (f *faulty) oneGone(t *testing.T, mark, how, when string) {
	t.Helper()
	s, other := speak(t, f.url), speak(t, f.url)
	defer other.end()
	say(t, other, "INSERT INTO samples (id, t) VALUES (1000, 'kept') ON CONFLICT (id) DO UPDATE SET t = 'kept'", "I")
	say(t, s, "BEGIN; UPDATE samples SET t = '"+mark+"' WHERE id = 1000", "T")
	switch when {
	case "running":
		s.send(fmt.Sprintf("Query {\"String\": %q}", marked(mark)))
		f.running(t, mark)
	case "portal":
		s.send("Parse {\"Query\": \"SELECT n FROM generate_series(1, 100000) AS n\"}\nBind {\"DestinationPortal\": \"p\"}\nExecute {\"Portal\": \"p\", \"MaxRows\": 5}\nFlush")
		s.until([]string{"PortalSuspended"})
	case "copy":
		s.send("Query {\"String\": \"COPY samples (id, t) FROM STDIN\"}\nCopyText \"1001\\tx\\n\"")
		s.until([]string{"CopyInResponse"})
	}
	if tcp, ok := s.Conn.(*net.TCPConn); ok && how == "RST" {
		_ = tcp.SetLinger(0)
	}
	began := time.Now()
	_ = s.Close()
	other.send("Query {\"String\": \"SELECT t FROM samples WHERE id >= 1000 FOR UPDATE\"}") // waits for the lock
	said := other.until([]string{"ReadyForQuery"})
	if took := time.Since(began); took > 5*time.Second || !strings.Contains(said, "DataRow [\"kept\"]\nCommandComplete \"SELECT 1\"") {
		t.Errorf("%s, %s: after %v another client was told %s", how, when, took, said)
	}
}

// wire forwards connections until it is cut: then it is silent, as a machine that is gone.
type wire struct {
	net.Listener
	cut atomic.Bool
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{Listener: ln}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			near, err := ln.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				_ = near.Close()
				continue
			}
			t.Cleanup(func() { _ = near.Close(); _ = far.Close() })
			go w.pass(near, far)
			go w.pass(far, near)
		}
	}()
	return w
}

func (w *wire) pass(from io.Reader, to io.Writer) {
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if err != nil || w.cut.Load() {
			return // and nothing is closed
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

// through gives the URL of a server by way of another address.
func through(t *testing.T, server, address string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = address
	return u.String()
}

// halfOpen has a client's machine vanish, with a lock in its transaction. The lock is free
// when the time for an idle transaction is over.
func (f *faulty) halfOpen(t *testing.T) {
	w := newWire(t, f.address)
	s, other := speak(t, through(t, f.url, w.Addr().String())), speak(t, f.url)
	defer other.end()
	say(t, s, "INSERT INTO samples (id, t) VALUES (1000, 'kept') ON CONFLICT (id) DO UPDATE SET t = 'kept'", "I")
	say(t, s, "BEGIN; UPDATE samples SET t = 'half' WHERE id = 1000", "T")
	w.cut.Store(true)
	began := time.Now()
	other.send("Query {\"String\": \"SELECT t FROM samples WHERE id = 1000 FOR UPDATE\"}")
	said := other.until([]string{"ReadyForQuery"})
	took := time.Since(began)
	t.Logf("the lock was free after %v", took.Round(time.Millisecond))
	if took > faultsIdleTransaction+3*time.Second || took < faultsIdleTransaction/2 || !strings.Contains(said, "DataRow [\"kept\"]") {
		t.Errorf("after %v another client was told %s", took, said)
	}
}
