package metrics

import "github.com/prometheus/client_golang/prometheus"

// caches holds what is counted about the things kept in memory.
type caches struct {
	plans       map[string]prometheus.Counter // by event
	credentials map[string]prometheus.Counter // by event
	refreshes   bounded[prometheus.Counter]
}

func newCaches(f factory) caches {
	return caches{
		plans: map[string]prometheus.Counter{
			"hit": f.counter("plan_cache_hits_total",
				"Statements whose decision was found in the plan cache."),
			"miss": f.counter("plan_cache_misses_total",
				"Statements that were not in the plan cache, and were parsed, decided, rewritten and verified. A low hit ratio costs CPU: an application that writes values into its texts instead of args makes every text new."),
			"eviction": f.counter("plan_cache_evictions_total",
				"Plans dropped to keep the cache within its bound. A steady rate with a low hit ratio means that the cache is too small for the texts in use."),
		},
		credentials: map[string]prometheus.Counter{
			"hit": f.counter("credential_cache_hits_total",
				"Credential look-ups answered from memory."),
			"miss": f.counter("credential_cache_misses_total",
				"Credential look-ups that asked the control store. A jump without a deployment means that somebody guesses credentials, or that the cache was emptied because the control store's notifications were lost."),
		},
		refreshes: f.counters("schema_refreshes_total",
			"Times the catalog of the policies' tables was read again, by result. changed: a table was altered, and plans were compiled again. failed: the catalog could not be read, and decisions use the last known schema; or no table of a policy matches the schema, and the policy serves nothing until one of the two is fixed: the log names the policy and the line.",
			label{"result", []string{"unchanged", "changed", "failed"}}),
	}
}

// PlanCache counts a "hit", "miss" or "eviction" of the plan cache; any other event counts nothing.
func (m *Metrics) PlanCache(event string) { increment(m.caches.plans, event) }

// CredentialCache counts a "hit" or "miss" of the credential cache; any other event counts nothing.
func (m *Metrics) CredentialCache(event string) { increment(m.caches.credentials, event) }

// SchemaRefresh counts one reading of the catalog: "unchanged", "changed" or "failed".
func (m *Metrics) SchemaRefresh(result string) { m.caches.refreshes.of(result).Inc() }

func increment(counters map[string]prometheus.Counter, event string) {
	if c, ok := counters[event]; ok {
		c.Inc()
	}
}
