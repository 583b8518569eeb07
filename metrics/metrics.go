package metrics

import (
	"cmp"
	"net/http"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// scrapesAtOnce bounds the scrapes in progress; a further one is answered 503.
const scrapesAtOnce = 4

// Build identifies the running binary.
type Build struct {
	Version string // e.g. 1.2.3 or 1.3.0-dev; shown as "unknown" when empty
	Commit  string // that it was built from; shown as "unknown" when empty
}

// Known are the values that labels may have. A value that is in none of them is
// counted as "other"; an empty set leaves only that.
type Known struct {
	Endpoints    []string // of requests: short names, never paths
	Codes        []string // the interface's error codes and client_closed; requests_total adds "ok" by itself
	Frontends    []string // "rest", "wire"
	Kinds        []string // statement kinds: select, insert, update, delete, command
	Outcomes     []string // how an approved statement ended: ok, the error code it ended with, or client_closed
	Stages       []string // auth, policy, pool_wait, upstream, encode
	Connections  []string // how the start-up of a Postgres client ended
	ClientStates []string // of Postgres clients
	HTTPStates   []string // of HTTP connections
	ErrorClasses []string // why a statement or a connection failed, e.g. connect, timeout
	Replaced     []string // why a connection was replaced, e.g. time_zones
}

// Metrics is every metric of one process. Its methods are safe for concurrent use,
// never block and never fail. Make it with New.
type Metrics struct {
	registry *prometheus.Registry
	gate     gate
	caches   caches
	upstream upstream
	policies *policies
	clients  clients
}

// New builds and registers all metrics, and the Go runtime's and the process's beside
// them, on a registry of its own.
func New(build Build, known Known) *Metrics {
	f := factory{registry: prometheus.NewRegistry()}
	f.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	f.gaugeVec("build_info",
		"Always 1. The labels name the running binary; compare them across replicas during a rollout.",
		"version", "commit", "goversion",
	).WithLabelValues(cmp.Or(build.Version, "unknown"), cmp.Or(build.Commit, "unknown"), runtime.Version()).Set(1)
	return &Metrics{
		registry: f.registry,
		gate:     newGate(f, known),
		caches:   newCaches(f),
		upstream: newUpstream(f, known),
		policies: newPolicies(f),
		clients:  newClients(f, known),
	}
}

// Handler serves the metrics in the format that the scraper asks for: text, or
// protobuf for native histograms.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		Registry:            m.registry,
		MaxRequestsInFlight: scrapesAtOnce,
	})
}
