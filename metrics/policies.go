package metrics

import (
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// maxPolicies bounds the policies told by name. Their names come from the operator's
// files, so they can't be known to New.
const maxPolicies = 100

// policies tells which policy texts are in force, and what stands behind them.
type policies struct {
	info    *prometheus.GaugeVec
	wall    *prometheus.GaugeVec
	closed  bounded[prometheus.Gauge] // by finding
	telling bounded[prometheus.Gauge] // by finding
	names   []string                  // of findings
	mu      sync.Mutex                // guards sums
	sums    map[string]string         // by name
}

func newPolicies(f factory, known Known) *policies {
	by := label{name: "finding", values: known.Findings}
	return &policies{
		info: f.gaugeVec("policy_info",
			"Always 1. The policies in force and the SHA-256 of their files: replicas that show different sums for one name decide differently.",
			"name", "sha256"),
		wall: f.gaugeVec("scoped_tables",
			"Scoped tables of the policies, by whether row-level security stands behind them (walled true) as the catalog was read last. A table with false is kept apart by the policy alone, and with --rls required nothing is served meanwhile: the log says what it lacks.",
			"walled"),
		closed: f.gauges("tables_closed",
			"Tables of the policies that are closed, by the finding of tenantgate doctor that closes them: a statement that names one could reach other servers' rows, and is refused with table_not_allowed. /readyz and the log name the tables.", by),
		telling: f.gauges("tables_telling",
			"Tables of the policies that tell a server whether another one has a value, by the finding of tenantgate doctor. They are served; /readyz and the log name them.", by),
		names: known.Findings,
		sums:  make(map[string]string),
	}
}

// ScopedTables tells behind how many scoped tables row-level security stands, and behind
// how many it does not.
func (m *Metrics) ScopedTables(walled, open int) {
	m.policies.wall.WithLabelValues("true").Set(float64(walled))
	m.policies.wall.WithLabelValues("false").Set(float64(open))
}

// FoundTables tells how many tables each finding closes, and by how many it tells of values. A
// finding that is not among them has none.
func (m *Metrics) FoundTables(closed, telling map[string]int) {
	for _, name := range m.policies.names {
		m.policies.closed.of(name).Set(float64(closed[name]))
		m.policies.telling.of(name).Set(float64(telling[name]))
	}
}

// PolicyInfo tells that the policy of this name is in force, made from a file with
// this SHA-256 in hex. It takes the place of what was told of the name before.
func (m *Metrics) PolicyInfo(name, sha256 string) {
	p := m.policies
	p.mu.Lock()
	defer p.mu.Unlock()
	name, sha256 = strings.ToValidUTF8(name, "?"), strings.ToValidUTF8(sha256, "?")
	old, told := p.sums[name]
	if !told && len(p.sums) >= maxPolicies {
		name, sha256 = other, ""
		old = p.sums[name]
	}
	p.info.DeleteLabelValues(name, old)
	p.sums[name] = sha256
	p.info.WithLabelValues(name, sha256).Set(1)
}
