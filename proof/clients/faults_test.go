package clients_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/control/embedded"
	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
)

var long = flag.Bool("faults-long", false, "run TestFaults with 5,000 idle clients, and more of every fault")

// What the service of the faults is started with.
const (
	faultsPool            = 4
	faultsIdleTransaction = 2 * time.Second
)

// faulty is a tenantgate and a Postgres of its own, to which bad things are done.
type faulty struct {
	service
	dir     string
	cluster *embedded.Cluster
	url     string // of a server
	other   string // of another one
	hammer  *hammer
	before  figures
}

// TestFaults does to a tenantgate what networks, clients and databases do. All the while two
// clients of two servers ask and change, and look whether every answer is their own. After
// each fault the service must be as it was: no connection of the database's is lost or in
// use, no lock is held, no goroutine is left.
func TestFaults(t *testing.T) {
	f := newFaulty(t)
	for _, fault := range []struct {
		name string
		does func(*faulty, *testing.T)
	}{
		{"idle clients", (*faulty).idleClients}, {"slow reader", (*faulty).slowReader}, {"client gone", (*faulty).clientGone},
		{"half open", (*faulty).halfOpen}, {"cancel storm", (*faulty).cancelStorm}, {"hostile frames", (*faulty).hostileFrames},
		{"backend killed", (*faulty).backendKilled}, {"database killed", (*faulty).databaseKilled},
	} {
		t.Run(fault.name, func(t *testing.T) {
			began := time.Now()
			fault.does(f, t)
			f.settled(t)
			t.Logf("took %v", time.Since(began).Round(time.Millisecond))
		})
	}
	f.hammer.stop(t)
}

func newFaulty(t *testing.T) *faulty {
	t.Helper()
	f := &faulty{dir: pgtest.DataDir(t)}
	f.startDatabase(t)
	t.Cleanup(func() { _ = f.cluster.Stop(context.WithoutCancel(t.Context())) })
	f.policy = f.patientPolicy(t)
	f.flags = []string{"--pool-max", fmt.Sprint(faultsPool), "--pool-min", "1", "--pool-wait", "5s", "--pg-idle-transaction", faultsIdleTransaction.String()}
	if err := f.start(t.Context(), f.cluster.AdminURL, func(role string) string { return f.cluster.URL(role, gatePassword, gateDatabase) }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.stop)
	f.url, f.other = f.server(t), f.server(t)
	f.hammer = newHammer(f.server(t), f.server(t))
	f.hammer.start()
	time.Sleep(time.Second) // everything that is made once is made
	f.before = f.measure(t)
	return f
}

func (f *faulty) startDatabase(t *testing.T) {
	t.Helper()
	cluster, err := embedded.Start(t.Context(), pgtest.Config(f.dir))
	if err != nil {
		t.Fatal(err)
	}
	f.cluster = cluster
}

// patientPolicy is that of the clients' tests, with time for slow readers.
func (f *faulty) patientPolicy(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "statementTimeout: 30s", "statementTimeout: 120s")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// settled waits, while the hammers rest, until the service is as it was.
func (f *faulty) settled(t *testing.T) {
	t.Helper()
	f.hammer.quiet.Lock()
	defer f.hammer.quiet.Unlock()
	var now figures
	var busy string
	eventually(t, 15*time.Second, func() bool {
		now, busy = f.measure(t), f.busy(t)
		return now.acquired == 0 && now.waiting == 0 && now.goroutines <= f.before.goroutines+2 && now.clients <= f.before.clients && busy == ""
	}, func() string { return fmt.Sprintf("before %+v, now %+v, busy: %s", f.before, now, busy) })
	f.allConnections(t)
}

// busy tells what the service's backends do; "" when they all wait for it.
func (f *faulty) busy(t *testing.T) string {
	t.Helper()
	const query = `SELECT coalesce(string_agg(state || ': ' || left(query, 60), '; '), '') FROM pg_stat_activity WHERE usename = 'clients_statement' AND state <> 'idle'`
	return f.tells(t, query)
}

// tells gives the text of a query's only value, as the superuser gets it. The connection is
// closed at once: much is asked.
func (f *faulty) tells(t *testing.T, query string) (value string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), f.admin)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if err := conn.QueryRow(t.Context(), query).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// allConnections has as many transactions open at a time as the pool has connections.
func (f *faulty) allConnections(t *testing.T) {
	t.Helper()
	var open []*spoken
	for n := range faultsPool {
		s := speak(t, []string{f.url, f.other}[n%2])
		open = append(open, s)
		s.send(`Query {"String": "BEGIN; SELECT 1"}`)
		if said := s.until([]string{"ReadyForQuery"}); !strings.HasSuffix(said, "ReadyForQuery \"T\"\n") {
			t.Errorf("connection %d of %d: %s", n+1, faultsPool, said)
		}
	}
	for _, s := range open {
		s.end()
	}
	eventually(t, 5*time.Second, func() bool { return f.measure(t).acquired == 0 }, func() string { return "connections stay in use" })
}

// eventually fails the test where something does not become so in time.
func eventually(t *testing.T, most time.Duration, so func() bool, why func() string) {
	t.Helper()
	for end := time.Now().Add(most); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(why())
		}
	}
}

// often is short, or full where the long form runs.
func often(short, full int) int {
	if *long {
		return full
	}
	return short
}
