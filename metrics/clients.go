package metrics

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// ClientStates reads how many clients are connected, by state. It is called at each scrape
// and must not block.
type ClientStates func() map[string]int

// clients holds what is counted about connections of clients.
type clients struct {
	connections bounded[prometheus.Counter]          // of Postgres clients
	evicted     bounded[bounded[prometheus.Counter]] // by front end and authenticated
	ended       bounded[prometheus.Counter]          // transactions of Postgres clients
	postgres    *states
	http        *states
}

func newClients(f factory, known Known) clients {
	postgres := newStates(f, "pg_clients", known.ClientStates,
		"Postgres clients connected now, by state: starting (not authenticated yet), idle, active (a statement runs), transaction (silent, with a transaction open, which holds a database connection from its first statement on). Many in transaction are an application that does other work between BEGIN and COMMIT.")
	http := newStates(f, "http_connections", known.HTTPStates,
		"HTTP connections open now, by state: starting (no request with valid credentials has come yet), idle (between requests), active (a request is served, or its answer sent). Many in starting are health checks or browsers, or somebody who opens connections and completes no request: these are closed first when places run short.")
	return clients{
		postgres: postgres, http: http,
		evicted: f.pairs("connections_evicted_total",
			"Connections that were closed to make room for others, by front end and whether they had authenticated. It happens at --max-conns, --pg-max-clients and, for one address, --max-unauthenticated-per-ip. If no rises, somebody opens connections and does not log in, or the limit is too low; if yes rises, clients keep more connections open than --max-conns.",
			label{"frontend", known.Frontends}, label{"authenticated", []string{"yes", "no"}}),
		ended: f.counters("pg_transactions_ended_total",
			"Postgres clients that were disconnected, and their transactions rolled back, by reason. timeout: older than --pg-transaction-timeout. contended: older than --pg-contended-timeout, while somebody with fewer database connections waited for one. unread: the client, in a transaction or not, read nothing of a result for longer than its statement may run. A rise of the first two means an application that keeps transactions open; of unread, one that stops reading.",
			label{"reason", []string{"timeout", "contended", "unread"}}),
		connections: f.counters("pg_connections_total",
			"Connections of Postgres clients, by outcome of the login. ok: logged in. An error code: refused with that code. cancel: a short connection that a client opens to cancel a statement. protocol: it ended before a login, or was no Postgres client: a probe of the port, or a client that requires TLS where that is off. A rise in unauthorized means a wrong key or somebody who guesses keys.",
			label{"outcome", known.Connections}),
	}
}

// Connection counts a Postgres client that came, by how its start-up ended.
func (m *Metrics) Connection(outcome string) { m.clients.connections.of(outcome).Inc() }

// Evicted counts a connection that was closed to make room for another.
func (m *Metrics) Evicted(frontend string, authenticated bool) {
	word := "no"
	if authenticated {
		word = "yes"
	}
	m.clients.evicted.of(frontend).of(word).Inc()
}

// WatchHTTP does for the http_connections gauges what WatchClients does for pg_clients.
func (m *Metrics) WatchHTTP(read ClientStates) { m.clients.http.read.Store(&read) }

// TransactionEnded counts a transaction that was ended, by why.
func (m *Metrics) TransactionEnded(why string) { m.clients.ended.of(why).Inc() }

// WatchClients makes the pg_clients gauges show what read returns. Until it is called they are
// absent; a later call takes the place of an earlier one.
func (m *Metrics) WatchClients(read ClientStates) { m.clients.postgres.read.Store(&read) }

// states collects the gauges from one reading.
type states struct {
	read  atomic.Pointer[ClientStates]
	known []string
	desc  *prometheus.Desc
}

func newStates(f factory, name string, known []string, help string) *states {
	s := &states{known: known, desc: prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, []string{"state"}, nil)}
	f.registry.MustRegister(s)
	return s
}

// Describe implements prometheus.Collector.
func (s *states) Describe(out chan<- *prometheus.Desc) { out <- s.desc }

// Collect implements prometheus.Collector.
func (s *states) Collect(out chan<- prometheus.Metric) {
	read := s.read.Load()
	if read == nil {
		return
	}
	now := (*read)()
	for _, state := range s.known {
		out <- prometheus.MustNewConstMetric(s.desc, prometheus.GaugeValue, float64(now[state]), state)
	}
}
