package metrics

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// PoolState reads a connection pool: connections idle and acquired now, the most it
// may hold, requests waiting for one, backends that go on after their connection was given up, and
// what waits because its server is held back. It is called at each scrape and must not block.
type PoolState func() (idle, acquired, limit, waiting, abandoned, heldBack int)

// upstream holds what is counted about the database behind tenantgate.
type upstream struct {
	errors   bounded[prometheus.Counter]
	replaced bounded[prometheus.Counter]
	parsed   prometheus.Counter
	pool     *pool
}

func newUpstream(f factory, known Known) upstream {
	p := newPool()
	f.registry.MustRegister(p)
	return upstream{
		pool: p,
		parsed: f.counter("upstream_statements_parsed_total",
			"Statements that Postgres parsed and planned anew, because their connection had not prepared them. A text is kept prepared from the second time on that it is sent. So the metric rises after a start, until each connection has seen each text. If it keeps rising nearly as fast as statements_total, the application uses more texts at a time than --prepared-statements keeps."),
		errors: f.counters("upstream_errors_total",
			"Statements and connections that failed, by class. connect, network, shutdown and read_only mean that the database could not be used; pool_wait that no connection became free in time; busy that a server had more than its share at work while others were active; server_share and project_share that one server, or one project, held as many as it may (--project-share). statement, timeout, cancelled and too_large are about one statement; internal is a defect.",
			label{"class", known.ErrorClasses}),
		replaced: f.counters("upstream_replaced_total",
			"Database connections closed at the end of a transaction because of memory or settings that their backend may keep, by reason. time_zones: statements computed time zones from values. record_types: rows of many types. large_plan: a plan of more than 4 MB. settings: a function of the database made a setting for the session. A new connection costs some milliseconds. If one of the first three keeps rising, an application's texts are unusual, or somebody tries to use up Postgres' memory.",
			label{"reason", known.Replaced}),
	}
}

// UpstreamError counts one failed statement or connection.
func (m *Metrics) UpstreamError(class string) { m.upstream.errors.of(class).Inc() }

// ConnectionReplaced counts one connection that was closed for what its backend may keep.
func (m *Metrics) ConnectionReplaced(reason string) { m.upstream.replaced.of(reason).Inc() }

// StatementParsed counts one statement that its connection had not kept prepared.
func (m *Metrics) StatementParsed() { m.upstream.parsed.Inc() }

// WatchPool makes the upstream_pool gauges show what read returns. Until it is called
// they are absent; a later call replaces an earlier one.
func (m *Metrics) WatchPool(read PoolState) { m.upstream.pool.read.Store(&read) }

// pool collects the gauges from one reading, so that they belong together.
type pool struct {
	read                                                atomic.Pointer[PoolState]
	idle, acquired, limit, waiting, abandoned, heldBack *prometheus.Desc
}

func newPool() *pool {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(prometheus.BuildFQName(namespace, "upstream_pool", name), help, nil, nil)
	}
	return &pool{
		idle:     desc("idle", "Database connections open and unused."),
		acquired: desc("acquired", "Database connections running a statement."),
		limit:    desc("max", "Database connections that the pool may open. acquired at this value and waiting above 0 means that requests queue; waiting above 0 alone means that one server or project holds its share."),
		waiting:  desc("waiting", "Requests waiting for a database connection now."),
		abandoned: prometheus.NewDesc(prometheus.BuildFQName(namespace, "upstream", "abandoned"),
			"Database backends that still run a statement although its time limit is over and its connection was given up: Postgres can't cancel some functions, such as normalize and strpos of long texts. Each holds a connection of its server's share until it ends. If it stays above 0, pg_stat_activity shows the statements.", nil, nil),
		heldBack: prometheus.NewDesc(prometheus.BuildFQName(namespace, "", "held_back"),
			"Texts and statements that wait now because their server uses more than its share of the processors while others are active. A text waits for a second at most, a statement as long as for a connection (--pool-wait). If it stays above 0, one server sends more than its share.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (p *pool) Describe(out chan<- *prometheus.Desc) {
	out <- p.idle
	out <- p.acquired
	out <- p.limit
	out <- p.waiting
	out <- p.abandoned
	out <- p.heldBack
}

// Collect implements prometheus.Collector.
func (p *pool) Collect(out chan<- prometheus.Metric) {
	read := p.read.Load()
	if read == nil {
		return
	}
	idle, acquired, limit, waiting, abandoned, heldBack := (*read)()
	out <- gauge(p.idle, idle)
	out <- gauge(p.acquired, acquired)
	out <- gauge(p.limit, limit)
	out <- gauge(p.waiting, waiting)
	out <- gauge(p.abandoned, abandoned)
	out <- gauge(p.heldBack, heldBack)
}

func gauge(desc *prometheus.Desc, value int) prometheus.Metric {
	return prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(value))
}
