package upstream

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/goleak"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// recorder counts what the pool reports.
type recorder struct {
	mu     sync.Mutex
	stages map[string]int
	errors map[string]int
	parsed int
}

func (r *recorder) Stage(stage string, seconds float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if seconds < 0 {
		stage = "negative " + stage
	}
	r.stages[stage]++
}

func (r *recorder) StatementParsed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parsed++
}

func (r *recorder) UpstreamError(class string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors[class]++
}

func (r *recorder) Short(what, whose string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors["short of "+what+": "+whose]++
}

func (r *recorder) ConnectionReplaced(reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors[reason]++
}

func (r *recorder) class(name string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.errors[name]
}

func newRecorder() *recorder {
	return &recorder{stages: map[string]int{}, errors: map[string]int{}}
}

// bench is a database and a pool on it.
type bench struct {
	t     testing.TB
	url   string
	admin *pgx.Conn
	pool  *Pool
	rec   *recorder
}

// setup makes a database, runs the SQL in it and opens a pool. It fails the test when a
// goroutine of the pool outlives it.
func setup(t testing.TB, cfg Config, sql string) *bench {
	t.Helper()
	b := &bench{t: t, url: pgtest.Database(t), rec: newRecorder()}
	conn, err := pgx.Connect(t.Context(), b.url)
	if err != nil {
		t.Fatal(err)
	}
	b.admin = conn
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	b.exec(sql)
	before := goleak.IgnoreCurrent()
	if cfg.URL == "" {
		cfg.URL = b.url
	}
	if cfg.SearchPath == "" {
		cfg.SearchPath = "pg_catalog, public"
	}
	if cfg.AcquireTimeout == 0 {
		cfg.AcquireTimeout = 20 * time.Second // the machine may be busy
	}
	cfg.Recorder = b.rec
	if b.pool, err = Open(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.pool.Close()
		for stage := range b.rec.stages {
			if strings.HasPrefix(stage, "negative") {
				t.Errorf("a stage took %s time", stage)
			}
		}
		_, _ = b.admin.Exec(context.WithoutCancel(t.Context()), "SELECT 1") // ends the read that pgconn leaves behind a slow write
		goleak.VerifyNone(t, before)
	})
	return b
}

func (b *bench) exec(sql string) {
	b.t.Helper()
	if sql == "" {
		return
	}
	if _, err := b.admin.Exec(b.t.Context(), sql); err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
}

// one gives the single value of a query as text.
func (b *bench) one(sql string) string {
	b.t.Helper()
	var v string
	if err := b.admin.QueryRow(b.t.Context(), "SELECT ("+sql+")::text").Scan(&v); err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// query runs what need not be a policy's.
func (p *Pool) query(ctx context.Context, st *statement, enc Encoding, dst []byte) (Result, error) {
	q := p.queries.Get().(*query)
	defer p.queries.Put(q)
	return q.run(ctx, p, st, enc, dst)
}

// query runs st and gives its JSON.
func (b *bench) query(st *statement) (string, error) {
	res, err := b.pool.query(context.Background(), st, Encoding{}, nil)
	return string(res.Body), err
}

func (b *bench) must(st *statement) string {
	b.t.Helper()
	body, err := b.query(st)
	if err != nil {
		b.t.Fatalf("%s: %v", st.text(), err)
	}
	return body
}

// fail runs st and gives the error that it must end with.
func (b *bench) fail(st *statement, code proxy.Code) *proxy.Error {
	b.t.Helper()
	body, err := b.query(st)
	return refusal(b.t, err, code, st.text()+body)
}

func refusal(t testing.TB, err error, code proxy.Code, what string) *proxy.Error {
	t.Helper()
	var e *proxy.Error
	if !errors.As(err, &e) {
		t.Fatalf("%s: got %v, want %s", what, err, code)
	}
	if e.Code != code {
		t.Fatalf("%s: got %v, want %s", what, err, code)
	}
	return e
}

// eventually waits until cond holds.
func (b *bench) eventually(what string, cond func() bool) {
	b.t.Helper()
	for range 500 {
		if cond() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.t.Fatalf("after 5s: %s", what)
}

// running counts the statements that the pool's sessions run now.
func (b *bench) running(sql string) string {
	return b.one("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'tenantgate' AND state = 'active' AND query = '" + sql + "'")
}

func str(s string) policy.Arg { return policy.Arg{Kind: policy.String, Text: s} }
func num(s string) policy.Arg { return policy.Arg{Kind: policy.Number, Text: s} }
func arr(s string) policy.Arg { return policy.Arg{Kind: policy.Array, Text: s} }
func obj(s string) policy.Arg { return policy.Arg{Kind: policy.Object, Text: s} }
func boolean(b bool) policy.Arg {
	return policy.Arg{Kind: policy.Bool, Text: strconv.FormatBool(b)}
}

func limits() policy.Limits {
	return policy.Limits{StatementTimeout: 5 * time.Second, MaxRows: 1000, MaxResultBytes: 1 << 20}
}

// unapproved is a text that no policy has seen.
type unapproved struct {
	sql      string
	fleeting bool
	tables   []policy.TableName
}

func (u *unapproved) Rewritten() string           { return u.sql }
func (u *unapproved) Key() string                 { return u.sql }
func (u *unapproved) Declared() policy.GivenTypes { return nil }
func (u *unapproved) Tables() []policy.TableName  { return u.tables }
func (u *unapproved) Fleeting() bool              { return u.fleeting }
func (u *unapproved) PlanBytes() int              { return 0 }
func (u *unapproved) RecordBytes() int            { return 0 }

// unapproved gives the text of a statement that sel has made.
func (st *statement) unapproved() *unapproved { return st.approved.(*unapproved) }

// sel is a SELECT whose whole text is the caller's.
func sel(sql string, args ...policy.Arg) *statement {
	st := &statement{wanted: wanted{approved: &unapproved{sql: sql}}, kind: policy.Select, returns: true, limits: limits(), position: func(p int) int { return p }}
	for i, a := range args {
		st.params = append(st.params, policy.Param{Value: a, Index: i})
	}
	return st
}

// write is a statement that changes rows and, if so, returns some.
func write(kind policy.Kind, returns bool, sql string, args ...policy.Arg) *statement {
	st := sel(sql, args...)
	st.kind, st.mayWrite, st.returns = kind, true, returns
	return st
}

func pgError(state, severity string) *pgconn.PgError {
	return &pgconn.PgError{Code: state, Severity: severity, SeverityUnlocalized: severity}
}

// waitsForLock waits until a session of the pool waits for a lock, seen from within tx.
func (b *bench) waitsForLock(tx pgx.Tx) {
	b.t.Helper()
	b.eventually("a statement waits for a lock", func() bool {
		var n int
		err := tx.QueryRow(b.t.Context(), "SELECT count(*) FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())").Scan(&n)
		if err != nil {
			b.t.Fatal(err)
		}
		return n > 0
	})
}
