package metrics

import (
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// maxPolicies limits the policies that are reported by name. Their names come from the operator's
// files, so they can't be known to New.
const maxPolicies = 100

// policies reports which policy texts are in force, and which tables have row-level security.
type policies struct {
	info    *prometheus.GaugeVec
	wall    *prometheus.GaugeVec
	closed  *found
	telling *found
	mu      sync.Mutex        // guards sums and what is found
	sums    map[string]string // by name
}

func newPolicies(f factory) *policies {
	return &policies{
		info: f.gaugeVec("policy_info",
			"Always 1. The policies in force and the SHA-256 of their files: replicas that show different sums for one name decide differently.",
			"name", "sha256"),
		wall: f.gaugeVec("scoped_tables",
			"Scoped tables of the policies, by whether row-level security protects them (walled true), as of the last read of the catalog. A table with false is protected by the policy only, and with --rls required nothing is served meanwhile: the log says what is missing.",
			"walled"),
		closed: newFound(f, "tables_closed",
			"Always 1. A table of the policies that is closed: a statement that names it is refused with table_not_allowed. finding is tenantgate doctor's name of the breach by which a statement could reach other servers' rows, or policy-misfit if the table no longer matches a policy. /readyz and the log say more."),
		telling: newFound(f, "tables_telling",
			"Always 1. A table of the policies that reveals to a server whether another one has a value, by the finding of tenantgate doctor. It is not closed; /readyz and the log say more."),
		sums: make(map[string]string),
	}
}

// ScopedTables reports how many scoped tables row-level security protects, and
// how many it does not.
func (m *Metrics) ScopedTables(walled, open int) {
	m.policies.wall.WithLabelValues("true").Set(float64(walled))
	m.policies.wall.WithLabelValues("false").Set(float64(open))
}

// FoundTables sets the tables that each finding closes, and those that reveal values by it.
func (m *Metrics) FoundTables(closed, telling map[string][]string) {
	m.policies.mu.Lock()
	defer m.policies.mu.Unlock()
	m.policies.closed.set(closed)
	m.policies.telling.set(telling)
}

// maxFound bounds the tables that are exposed by name, for each gauge. They come from the operator's files.
const maxFound = 1000

// found is a gauge of tables by finding, of which none stays when it is not found any more.
type found struct {
	vec   *prometheus.GaugeVec
	shown map[[2]string]bool // finding and table
}

func newFound(f factory, name, help string) *found {
	return &found{vec: f.gaugeVec(name, help, "finding", "table")}
}

func (f *found) set(tables map[string][]string) {
	next := map[[2]string]bool{}
	for finding, names := range tables {
		for _, name := range names {
			if len(next) >= maxFound {
				name = other
			}
			next[[2]string{finding, strings.ToValidUTF8(name, "?")}] = true
		}
	}
	for key := range f.shown {
		if !next[key] {
			f.vec.DeleteLabelValues(key[:]...)
		}
	}
	for key := range next {
		f.vec.WithLabelValues(key[:]...).Set(1)
	}
	f.shown = next
}

// PolicyInfo reports that the policy of this name is in force, read from a file with
// this SHA-256 in hex. It replaces what was reported for the name before.
func (m *Metrics) PolicyInfo(name, sha256 string) {
	p := m.policies
	p.mu.Lock()
	defer p.mu.Unlock()
	name, sha256 = strings.ToValidUTF8(name, "?"), strings.ToValidUTF8(sha256, "?")
	old, known := p.sums[name]
	if !known && len(p.sums) >= maxPolicies {
		name, sha256 = other, ""
		old = p.sums[name]
	}
	p.info.DeleteLabelValues(name, old)
	p.sums[name] = sha256
	p.info.WithLabelValues(name, sha256).Set(1)
}
