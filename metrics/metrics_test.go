package metrics_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/tenantgate/tenantgate/metrics"
)

// newMetrics makes metrics with a few known values of each label.
func newMetrics() *metrics.Metrics {
	return metrics.New(metrics.Build{Version: "1.2.3", Commit: "0123abc"}, metrics.Known{
		Endpoints:   []string{"query", "lookup"},
		Codes:       []string{"internal", "unauthorized"},
		Frontends:   []string{"rest"},
		Kinds:       []string{"select", "insert"},
		Outcomes:    []string{"ok", "failed"},
		Stages:      []string{"auth", "policy", "upstream"},
		Connections: []string{"ok", "unauthorized"}, ClientStates: []string{"idle", "active"}, HTTPStates: []string{"idle", "starting"}, ErrorClasses: []string{"connect"}, Replaced: []string{"time_zones"},
	})
}

// scrape gives the text exposition, one line an element.
func scrape(t *testing.T, m *metrics.Metrics) []string {
	t.Helper()
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if answer.Code != http.StatusOK {
		t.Fatalf("status %d: %s", answer.Code, answer.Body)
	}
	return strings.Split(answer.Body.String(), "\n")
}

func wantLines(t *testing.T, m *metrics.Metrics, lines ...string) {
	t.Helper()
	got := scrape(t, m)
	for _, line := range lines {
		if !slices.Contains(got, line) {
			name, _, _ := strings.Cut(line, "{")
			near := slices.DeleteFunc(slices.Clone(got), func(s string) bool { return !strings.HasPrefix(s, name) })
			t.Errorf("missing: %s\nthere is:\n%s", line, strings.Join(near, "\n"))
		}
	}
}

// record reports every event once.
func record(m *metrics.Metrics) {
	m.Request("query", "ok", 0.003)
	m.Rejected("unauthorized", "rest")
	m.Stage("policy", 0.00002)
	m.Statement("select", "ok")
	m.Overridden(2)
	m.PlanCache("hit")
	m.PlanCache("miss")
	m.PlanCache("eviction")
	m.CredentialCache("hit")
	m.CredentialCache("miss")
	m.SchemaRefresh("changed")
	m.UpstreamError("connect")
	m.ConnectionReplaced("time_zones")
	m.StatementParsed()
	m.PolicyInfo("default", "ab12")
	m.ScopedTables(3, 1)
	m.FoundTables(map[string][]string{"rule": {"a", "b"}, "gone": {"a"}}, nil)
	m.FoundTables(map[string][]string{"rule": {"a", "b"}}, map[string][]string{"key": {"a"}})
	m.WatchPool(func() (idle, acquired, limit, waiting, abandoned, heldBack int) { return 3, 4, 16, 1, 2, 7 })
	m.Connection("ok")
	m.WatchClients(func() map[string]int { return map[string]int{"idle": 5} })
	m.WatchHTTP(func() map[string]int { return map[string]int{"idle": 6} })
	m.Evicted("rest", false)
}

func TestEveryEventIsCounted(t *testing.T) {
	m := newMetrics()
	record(m)
	wantLines(t, m,
		`tenantgate_pg_connections_total{outcome="ok"} 1`,
		`tenantgate_pg_clients{state="active"} 0`,
		`tenantgate_pg_clients{state="idle"} 5`,
		`tenantgate_http_connections{state="idle"} 6`,
		`tenantgate_http_connections{state="starting"} 0`,
		`tenantgate_connections_evicted_total{authenticated="no",frontend="rest"} 1`,
		`tenantgate_connections_evicted_total{authenticated="yes",frontend="rest"} 0`,
		`tenantgate_requests_total{code="ok",endpoint="query"} 1`,
		`tenantgate_request_duration_seconds_count{endpoint="query"} 1`,
		`tenantgate_request_duration_seconds_bucket{endpoint="query",le="0.0025"} 0`,
		`tenantgate_request_duration_seconds_bucket{endpoint="query",le="0.005"} 1`,
		`tenantgate_rejections_total{code="unauthorized",frontend="rest"} 1`,
		`tenantgate_stage_duration_seconds_bucket{stage="policy",le="1e-05"} 0`,
		`tenantgate_stage_duration_seconds_bucket{stage="policy",le="5e-05"} 1`,
		`tenantgate_statements_total{kind="select",outcome="ok"} 1`,
		`tenantgate_server_id_overridden_total 2`,
		`tenantgate_plan_cache_hits_total 1`,
		`tenantgate_plan_cache_misses_total 1`,
		`tenantgate_plan_cache_evictions_total 1`,
		`tenantgate_credential_cache_hits_total 1`,
		`tenantgate_credential_cache_misses_total 1`,
		`tenantgate_schema_refreshes_total{result="changed"} 1`,
		`tenantgate_upstream_errors_total{class="connect"} 1`,
		`tenantgate_upstream_statements_parsed_total 1`,
		`tenantgate_upstream_replaced_total{reason="time_zones"} 1`,
		`tenantgate_upstream_pool_idle 3`,
		`tenantgate_upstream_pool_acquired 4`,
		`tenantgate_upstream_pool_max 16`,
		`tenantgate_upstream_pool_waiting 1`,
		`tenantgate_upstream_abandoned 2`,
		`tenantgate_held_back 7`,
		`tenantgate_policy_info{name="default",sha256="ab12"} 1`,
		`tenantgate_scoped_tables{walled="true"} 3`,
		`tenantgate_scoped_tables{walled="false"} 1`,
		`tenantgate_tables_closed{finding="rule",table="a"} 1`,
		`tenantgate_tables_closed{finding="rule",table="b"} 1`,
		`tenantgate_tables_telling{finding="key",table="a"} 1`,
	)
}

// Ensure that each observation is in the next scrape, once, however many come at once.
func TestEveryObservationIsCounted(t *testing.T) {
	m := newMetrics()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 1000 {
				m.Stage("policy", 0.5)
				m.Request("query", "ok", 0.5)
			}
		})
	}
	all.Go(func() { scrape(t, m) })
	all.Wait()
	m.Stage("policy", 0.5)
	for range 2 {
		wantLines(t, m,
			`tenantgate_stage_duration_seconds_count{stage="policy"} 4001`,
			`tenantgate_stage_duration_seconds_sum{stage="policy"} 2000.5`,
			`tenantgate_request_duration_seconds_count{endpoint="query"} 4000`,
		)
	}
}

func TestSeriesExistBeforeTheirFirstEvent(t *testing.T) {
	wantLines(t, newMetrics(),
		`tenantgate_requests_total{code="internal",endpoint="lookup"} 0`,
		`tenantgate_rejections_total{code="internal",frontend="rest"} 0`,
		`tenantgate_statements_total{kind="insert",outcome="failed"} 0`,
		`tenantgate_schema_refreshes_total{result="failed"} 0`,
		`tenantgate_upstream_errors_total{class="connect"} 0`,
		`tenantgate_stage_duration_seconds_count{stage="auth"} 0`,
	)
}

// Whatever is reported, the number of series stays what it was.
func TestUnknownLabelValuesBecomeOther(t *testing.T) {
	m := newMetrics()
	record(m)
	before := len(scrape(t, m))
	for i := range 500 {
		odd := fmt.Sprintf("srv-%d \xff", i)
		m.Request(odd, odd, 1)
		m.Request("query", odd, 1)
		m.Rejected(odd, odd)
		m.Stage(odd, 1)
		m.Statement(odd, odd)
		m.PlanCache(odd)
		m.CredentialCache(odd)
		m.SchemaRefresh(odd)
		m.UpstreamError(odd)
	}
	if after := len(scrape(t, m)); after != before {
		t.Errorf("%d lines became %d", before, after)
	}
	wantLines(t, m,
		`tenantgate_requests_total{code="other",endpoint="other"} 500`,
		`tenantgate_requests_total{code="other",endpoint="query"} 500`,
		`tenantgate_request_duration_seconds_count{endpoint="other"} 500`,
		`tenantgate_rejections_total{code="other",frontend="other"} 500`,
		`tenantgate_stage_duration_seconds_count{stage="other"} 500`,
		`tenantgate_statements_total{kind="other",outcome="other"} 500`,
		`tenantgate_schema_refreshes_total{result="other"} 500`,
		`tenantgate_upstream_errors_total{class="other"} 500`,
		`tenantgate_plan_cache_hits_total 1`,
	)
}

func TestOverriddenNeverGoesDown(t *testing.T) {
	m := newMetrics()
	m.Overridden(0)
	m.Overridden(-3)
	wantLines(t, m, `tenantgate_server_id_overridden_total 0`)
}

func TestPolicyInfoShowsOneSumForAName(t *testing.T) {
	m := newMetrics()
	m.PolicyInfo("default", "old")
	m.PolicyInfo("strict", "s")
	m.PolicyInfo("default", "new")
	wantLines(t, m, `tenantgate_policy_info{name="default",sha256="new"} 1`, `tenantgate_policy_info{name="strict",sha256="s"} 1`)
	if got := count(scrape(t, m), "tenantgate_policy_info{"); got != 2 {
		t.Errorf("%d policies are shown, want 2", got)
	}
}

func TestPolicyInfoIsBounded(t *testing.T) {
	m := newMetrics()
	for i := range 1000 {
		m.PolicyInfo(fmt.Sprintf("p%d", i), fmt.Sprint(i))
	}
	m.PolicyInfo("p7", "again \xff")
	if got := count(scrape(t, m), "tenantgate_policy_info{"); got != 101 {
		t.Errorf("%d policies are shown, want 100 and the one for all others", got)
	}
	wantLines(t, m, `tenantgate_policy_info{name="other",sha256=""} 1`, `tenantgate_policy_info{name="p7",sha256="again ?"} 1`)
}

func count(lines []string, prefix string) int {
	n := 0
	for _, line := range lines {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}

func TestPoolGaugesAreAbsentUntilWatched(t *testing.T) {
	m := newMetrics()
	if got := count(scrape(t, m), "tenantgate_upstream_pool"); got != 0 {
		t.Errorf("%d lines without a pool", got)
	}
}

func TestBuildAndRuntimeAreShown(t *testing.T) {
	lines := scrape(t, newMetrics())
	for _, prefix := range []string{
		`tenantgate_build_info{commit="0123abc",goversion="go`, "go_goroutines ", "process_cpu_seconds_total ", "process_open_fds ",
	} {
		if count(lines, prefix) != 1 {
			t.Errorf("no line starts with %s", prefix)
		}
	}
	wanted := `version="1.2.3"} 1`
	if !slices.ContainsFunc(lines, func(s string) bool { return strings.HasSuffix(s, wanted) }) {
		t.Errorf("no line ends with %s", wanted)
	}
}

// A scraper that asks for protobuf gets native histograms; its text form shows them as
// classic ones, so the test looks at the bytes for the schema that text can't carry.
func TestHistogramsAreNativeToo(t *testing.T) {
	m := newMetrics()
	record(m)
	request := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	request.Header.Set("Accept", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text")
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, request)
	if body := answer.Body.String(); !strings.Contains(body, "positive_span") || !strings.Contains(body, "cumulative_count") {
		t.Error("the histograms are not both classic and native")
	}
}

func TestEventsAllocateNothing(t *testing.T) {
	m := newMetrics()
	record(m)
	allocs := testing.AllocsPerRun(1000, func() {
		m.Request("query", "ok", 0.003)
		m.Request("nowhere", "nothing", 0.003)
		m.Rejected("unauthorized", "rest")
		m.Stage("policy", 0.00002)
		m.Statement("select", "ok")
		m.Overridden(1)
		m.PlanCache("hit")
		m.CredentialCache("hit")
	})
	if allocs >= 1 {
		t.Errorf("%v allocations for a request's events", allocs)
	}
}

func TestEventsAndScrapesInParallel(t *testing.T) {
	m := newMetrics()
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for range 200 {
				record(m)
			}
		})
	}
	for range 5 {
		scrape(t, m)
	}
	workers.Wait()
	wantLines(t, m, `tenantgate_requests_total{code="ok",endpoint="query"} 1600`, `tenantgate_plan_cache_misses_total 1600`)
}

func TestExpositionPassesTheLinter(t *testing.T) {
	m := newMetrics()
	record(m)
	body := strings.Join(scrape(t, m), "\n")
	problems, err := promlint.New(strings.NewReader(body)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestExpositionPassesPromtool(t *testing.T) {
	m := newMetrics()
	record(m)
	command := exec.Command(promtool(t), "check", "metrics")
	command.Stdin = strings.NewReader(strings.Join(scrape(t, m), "\n"))
	if out, err := command.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}

// promtool gives the program's path; without it the test is skipped.
func promtool(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed")
	}
	return path
}

func TestTooManyScrapesAtOnceAreRefused(t *testing.T) {
	m := newMetrics()
	entered, leave := make(chan struct{}), make(chan struct{})
	var inside atomic.Int64
	m.WatchPool(func() (idle, acquired, limit, waiting, abandoned, heldBack int) {
		if inside.Add(1) <= 4 {
			entered <- struct{}{}
			<-leave
		}
		return 0, 0, 0, 0, 0, 0
	})
	handler := m.Handler()
	get := func() int {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		return answer.Code
	}
	var scrapes sync.WaitGroup
	for range 4 {
		scrapes.Go(func() { get() })
		<-entered
	}
	status := get()
	close(leave)
	scrapes.Wait()
	if status != http.StatusServiceUnavailable {
		t.Errorf("the fifth scrape at once got %d", status)
	}
}

// BenchmarkRequestEvents measures all events of one statement.
func BenchmarkRequestEvents(b *testing.B) {
	m := newMetrics()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			m.CredentialCache("hit")
			m.Stage("auth", 0.0000004)
			m.PlanCache("hit")
			m.Stage("policy", 0.000002)
			m.Stage("pool_wait", 0.0000002)
			m.Stage("upstream", 0.0004)
			m.Stage("encode", 0.000003)
			m.Statement("select", "ok")
			m.Overridden(0)
			m.Request("query", "ok", 0.003)
		}
	})
}
