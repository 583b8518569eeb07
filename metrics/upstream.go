package metrics

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// PoolState reads a connection pool: connections idle and acquired now, the most it
// may hold, and requests waiting for one. It is called at each scrape and must not block.
type PoolState func() (idle, acquired, limit, waiting int)

// upstream holds what is counted about the database behind tenantgate.
type upstream struct {
	errors bounded[prometheus.Counter]
	parsed prometheus.Counter
	pool   *pool
}

func newUpstream(f factory, known Known) upstream {
	p := newPool()
	f.registry.MustRegister(p)
	return upstream{
		pool: p,
		parsed: f.counter("upstream_statements_parsed_total",
			"Statements that Postgres parsed and planned anew, because their connection had not kept them prepared. It rises after a start, as each connection meets each text. If it goes on rising nearly as fast as statements_total, the application uses more texts at a time than --prepared-statements keeps."),
		errors: f.counters("upstream_errors_total",
			"Statements and connections that failed, by class. connect, network, shutdown and read_only mean that the database could not be used; pool_wait that no connection became free in time. statement, timeout, cancelled and too_large are about one statement; internal is a defect.",
			label{"class", known.ErrorClasses}),
	}
}

// UpstreamError counts one failed statement or connection.
func (m *Metrics) UpstreamError(class string) { m.upstream.errors.of(class).Inc() }

// StatementParsed counts one statement that its connection had not kept prepared.
func (m *Metrics) StatementParsed() { m.upstream.parsed.Inc() }

// WatchPool makes the upstream_pool gauges show what read tells. Until it is called
// they are absent; a later call takes the place of an earlier one.
func (m *Metrics) WatchPool(read PoolState) { m.upstream.pool.read.Store(&read) }

// pool collects the four gauges from one reading, so that they belong together.
type pool struct {
	read                           atomic.Pointer[PoolState]
	idle, acquired, limit, waiting *prometheus.Desc
}

func newPool() *pool {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(prometheus.BuildFQName(namespace, "upstream_pool", name), help, nil, nil)
	}
	return &pool{
		idle:     desc("idle", "Database connections open and unused."),
		acquired: desc("acquired", "Database connections running a statement."),
		limit:    desc("max", "Database connections that the pool may open. acquired at this value with waiting above 0 means that requests queue; waiting alone, that one server holds its three quarters."),
		waiting:  desc("waiting", "Requests waiting for a database connection now."),
	}
}

// Describe implements prometheus.Collector.
func (p *pool) Describe(out chan<- *prometheus.Desc) {
	out <- p.idle
	out <- p.acquired
	out <- p.limit
	out <- p.waiting
}

// Collect implements prometheus.Collector.
func (p *pool) Collect(out chan<- prometheus.Metric) {
	read := p.read.Load()
	if read == nil {
		return
	}
	idle, acquired, limit, waiting := (*read)()
	out <- gauge(p.idle, idle)
	out <- gauge(p.acquired, acquired)
	out <- gauge(p.limit, limit)
	out <- gauge(p.waiting, waiting)
}

func gauge(desc *prometheus.Desc, value int) prometheus.Metric {
	return prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(value))
}
