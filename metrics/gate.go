package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// gate holds what is counted on the way of a request, from its arrival to its answer.
type gate struct {
	requests   bounded[endpoint]
	rejections bounded[bounded[prometheus.Counter]] // by code, then front end
	stages     bounded[prometheus.Observer]
	statements bounded[bounded[prometheus.Counter]] // by kind, then outcome
	overridden prometheus.Counter
	short      bounded[bounded[prometheus.Counter]] // by what, then whose
}

// endpoint is what is counted for one endpoint.
type endpoint struct {
	codes   bounded[prometheus.Counter]
	seconds prometheus.Observer
}

func newGate(f factory, known Known) gate {
	return gate{
		requests: newRequests(f, known),
		rejections: f.pairs("rejections_total",
			"Requests refused before a statement ran, by error code and front end. Those of rest are also in requests_total; failed logins of Postgres clients are in pg_connections_total instead. They cause no work in the database. A jump in unauthorized means a bad deployment or somebody who guesses credentials; in *_not_allowed, an application that does not match the policy; in rate_limited, a noisy server.",
			label{"code", known.Codes}, label{"frontend", known.Frontends}),
		stages: f.histograms("stage_duration_seconds",
			"Seconds that requests spent in one stage. policy and encode are tenantgate's own work, pool_wait is waiting for a free database connection (raise the pool or find the slow statements), upstream is Postgres.",
			label{"stage", known.Stages}, stageBuckets()),
		statements: f.pairs("statements_total",
			"Statements that the policy approved and that were passed to the pool for Postgres, counted once however often they were tried, by kind and outcome: ok, the error code that the caller got, or client_closed.",
			label{"kind", known.Kinds}, label{"outcome", known.Outcomes}),
		short: f.pairs("short_total",
			"Refusals because a shared resource ran short, by whose share was used up (server; project: --project-share, --project-budget; all: everything is in use) and by resource (what). parsing: places in which texts are checked. requests: statements a second, and statements at once. clients: connected Postgres clients. answers: memory for large REST answers that are not read yet. bodies: memory for requests of more than 64 KiB. management: requests to create, change and list servers. lookups: look-ups that are not answered from memory: of credentials, where server also means a client's network until it has shown valid ones, and of servers and projects by id, where server also means a token. users: look-ups of end users by e-mail. handshakes: places for TLS handshakes, of which none became free in 5 s because clients begin more of them than the processors can compute. statements: memory for prepared statements and portals of Postgres clients. savepoints: open savepoints, each of which uses an entry of Postgres' lock table. portals, cursors: tables in the plans of open ones, each of which pins shared buffers of Postgres. messages: pauses of clients that send many Postgres messages or REST requests which run nothing; here server also means a client's network, until it has shown valid credentials. Connections to the database are in upstream_errors_total.",
			label{"what", []string{"parsing", "requests", "clients", "answers", "management", "lookups", "users", "bodies", "handshakes", "statements", "savepoints", "portals", "cursors", "messages"}}, label{"whose", []string{"server", "project", "all"}}),
		overridden: f.counter("server_id_overridden_total",
			"Values that callers gave for a scope column and that were not the server's own id: each that was replaced by the authenticated server's id, and one for each statement refused with foreign_server_id. Nothing leaked; a steady rate means that a client sends no id, mixes up its servers, or tries another server's id."),
	}
}

func newRequests(f factory, known Known) bounded[endpoint] {
	counts := f.pairs("requests_total",
		"Requests answered, by endpoint and code. code is ok, the error code of the response's body, or client_closed when the client disconnected before its answer. internal is a defect, upstream_unavailable and overloaded are the database or its pool, statement_timeout is a slow statement; all others are the caller's errors.",
		label{"endpoint", known.Endpoints}, label{"code", append(slices.Clone(known.Codes), "ok")})
	seconds := f.histograms("request_duration_seconds",
		"Seconds from the moment a request's head has been read until its answer is ready to be written, by endpoint: receiving a large body counts, sending the answer does not. Refused requests count too. See stage_duration_seconds for where the time went.",
		label{"endpoint", known.Endpoints}, requestBuckets())
	return newBounded(known.Endpoints, func(value string) endpoint {
		return endpoint{codes: counts.of(value), seconds: seconds.of(value)}
	})
}

// requestBuckets reach from half a millisecond to past the default statement timeout.
func requestBuckets() []float64 {
	return []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
}

// stageBuckets start lower: a cached decision takes microseconds.
func stageBuckets() []float64 {
	return []float64{.00001, .00005, .0001, .0005, .001, .005, .01, .05, .1, .5, 1, 5}
}

// Request counts one answered request. code is "ok" or the error code of its body.
func (m *Metrics) Request(endpoint, code string, seconds float64) {
	e := m.gate.requests.of(endpoint)
	e.codes.of(code).Inc()
	e.seconds.Observe(seconds)
}

// Rejected counts one request that was turned away before its statement ran.
func (m *Metrics) Rejected(code, frontend string) {
	m.gate.rejections.of(code).of(frontend).Inc()
}

// Stage records how long a request spent in one stage.
func (m *Metrics) Stage(stage string, seconds float64) {
	m.gate.stages.of(stage).Observe(seconds)
}

// Statement counts one statement that was handed over for the database, by its outcome.
func (m *Metrics) Statement(kind, outcome string) {
	m.gate.statements.of(kind).of(outcome).Inc()
}

// Short counts what was refused because a share of something is in use.
func (m *Metrics) Short(what, whose string) { m.gate.short.of(what).of(whose).Inc() }

// Overridden counts n values for a scope column that were another server's, replaced or
// refused; n below 1 counts nothing.
func (m *Metrics) Overridden(n int) {
	if n > 0 {
		m.gate.overridden.Add(float64(n))
	}
}
