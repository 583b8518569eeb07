package metrics

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// ClientStates reads how many Postgres clients are connected, by state. It is called at each
// scrape and must not block.
type ClientStates func() map[string]int

// clients holds what is counted about the clients of Postgres' protocol.
type clients struct {
	connections bounded[prometheus.Counter]
	states      *states
}

func newClients(f factory, known Known) clients {
	s := &states{known: known.ClientStates, desc: prometheus.NewDesc(prometheus.BuildFQName(namespace, "", "pg_clients"),
		"Postgres clients connected now, by state: starting (not authenticated yet), idle, active (a statement runs), transaction (silent, with a transaction open, which holds a database connection from its first statement on). Many in transaction are an application that does other work between BEGIN and COMMIT.",
		[]string{"state"}, nil)}
	f.registry.MustRegister(s)
	return clients{
		states: s,
		connections: f.counters("pg_connections_total",
			"Postgres clients that connected, by how that ended: ok, the error code that they got, cancel for the short connections that cancel a statement, protocol for what left or was no Postgres client before it had logged in: a probe of the port, or a client that insists on TLS where that is off. A rise in unauthorized is a wrong key or somebody guessing.",
			label{"outcome", known.Connections}),
	}
}

// Connection counts a Postgres client that came, by how its start-up ended.
func (m *Metrics) Connection(outcome string) { m.clients.connections.of(outcome).Inc() }

// WatchClients makes the pg_clients gauges show what read tells. Until it is called they are
// absent; a later call takes the place of an earlier one.
func (m *Metrics) WatchClients(read ClientStates) { m.clients.states.read.Store(&read) }

// states collects the gauges from one reading.
type states struct {
	read  atomic.Pointer[ClientStates]
	known []string
	desc  *prometheus.Desc
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
