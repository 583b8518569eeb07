package clients_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// backendKilled ends the backend under a statement, outside of a transaction and in one.
func (f *faulty) backendKilled(t *testing.T) {
	for n := range often(3, 50) {
		alone, within := speak(t, f.url), speak(t, f.other)
		f.killedUnder(t, alone, fmt.Sprintf("alone%d_", n), "I")
		say(t, within, "BEGIN; INSERT INTO samples (id, t) VALUES (2000, 'lost')", "T")
		f.killedUnder(t, within, fmt.Sprintf("within%d_", n), "E")
		say(t, alone, "SELECT 'after'", "I")
		say(t, within, "SELECT 'failed'", "E")
		say(t, within, "ROLLBACK", "I")
		within.send(`Query {"String": "SELECT count(*) FROM samples WHERE id = 2000"}`)
		if said := within.until([]string{"ReadyForQuery"}); !strings.Contains(said, `DataRow ["0"]`) {
			t.Errorf("after it the client was told %s", said)
		}
		f.idleKilled(t, within)
		alone.end()
		within.end()
	}
}

// killedUnder ends the backend under a client's statement.
func (f *faulty) killedUnder(t *testing.T, s *spoken, mark, state string) {
	t.Helper()
	s.send(fmt.Sprintf("Query {\"String\": %q}", marked(mark)))
	f.running(t, mark)
	kill := "SELECT count(pg_terminate_backend(pid))::text FROM pg_stat_activity WHERE usename = 'clients_statement' AND state = 'active' AND query LIKE '%" + mark + "%'"
	if killed := f.tells(t, kill); killed != "1" {
		t.Errorf("%s backends were killed", killed)
	}
	said := s.until([]string{"ReadyForQuery"})
	if !strings.Contains(said, "ErrorResponse") || !strings.HasSuffix(said, "ReadyForQuery \""+state+"\"\n") || strings.Contains(said, "DataRow") {
		t.Errorf("the client was told %s", said)
	}
}

// idleKilled ends the backend of a client that thinks about its transaction.
func (f *faulty) idleKilled(t *testing.T, s *spoken) {
	t.Helper()
	f.hammer.quiet.Lock()
	defer f.hammer.quiet.Unlock()
	say(t, s, "BEGIN; SELECT 'thinks'", "T")
	if killed := f.tells(t, "SELECT count(pg_terminate_backend(pid))::text FROM pg_stat_activity WHERE usename = 'clients_statement' AND state = 'idle in transaction'"); killed != "1" {
		t.Errorf("%s backends were killed", killed)
	}
	s.send(`Query {"String": "SELECT 1"}`)
	if said := s.until([]string{"ReadyForQuery"}); !strings.Contains(said, "ErrorResponse") || !strings.HasSuffix(said, "ReadyForQuery \"E\"\n") {
		t.Errorf("the client was told %s", said)
	}
	say(t, s, "ROLLBACK", "I")
	say(t, s, "SELECT 1", "I")
}

// databaseKilled kills all of Postgres under statements, and starts it again.
func (f *faulty) databaseKilled(t *testing.T) {
	running, thinking, resting := speak(t, f.url), speak(t, f.other), speak(t, f.url)
	say(t, thinking, "BEGIN; INSERT INTO samples (id, t) VALUES (2000, 'lost')", "T")
	running.send(fmt.Sprintf("Query {\"String\": %q}", marked("outage")))
	f.running(t, "outage")
	f.kill(t)
	began := time.Now()
	for s, state := range map[*spoken]string{running: "I", thinking: "E", resting: "I"} {
		if s != running {
			s.send(`Query {"String": "SELECT 1"}`)
		}
		said := s.until([]string{"ReadyForQuery"})
		if !strings.Contains(said, "ErrorResponse") || !strings.HasSuffix(said, "ReadyForQuery \""+state+"\"\n") && !strings.Contains(said, "FATAL") {
			t.Errorf("without a database a client was told %s", said)
		}
	}
	say(t, thinking, "ROLLBACK", "I")
	t.Logf("the clients were told after %v", time.Since(began).Round(time.Millisecond))
	f.startDatabase(t)
	began = time.Now()
	for _, s := range []*spoken{running, thinking, resting} {
		f.recovers(t, s)
		s.end()
	}
	t.Logf("they were served again %v after it was back", time.Since(began).Round(time.Millisecond))
}

// recovers waits until a client is served again on the same connection.
func (f *faulty) recovers(t *testing.T, s *spoken) {
	t.Helper()
	said := ""
	eventually(t, 10*time.Second, func() bool {
		s.send("Query {\"String\": \"ROLLBACK\"}\nQuery {\"String\": \"SELECT count(*) FROM samples WHERE id = 2000\"}")
		said = s.until([]string{"ReadyForQuery", "ReadyForQuery"})
		return strings.Contains(said, `DataRow ["0"]`) || strings.Contains(said, "(the connection")
	}, func() string { return "with a database again a client was told " + said })
	if strings.Contains(said, "(the connection") {
		t.Error("a connection did not outlive the database")
	}
}

// kill kills the postmaster and all that it has started.
func (f *faulty) kill(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(f.cluster.Home(), "pg", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	pid, err := strconv.Atoi(string(first))
	if err != nil {
		t.Fatal(err)
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Skip("the backends are not known: ", err)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	for _, child := range strings.Fields(string(children)) {
		if n, err := strconv.Atoi(child); err == nil {
			_ = syscall.Kill(n, syscall.SIGKILL)
		}
	}
	<-f.cluster.Done()
}
