package proof

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proof/statement"
)

// FiltersConfig says what the mode for filters plans: whether some condition of a caller's may be evaluated on other servers' rows
// that fails, or takes long.
type FiltersConfig struct {
	Walls      Walls // All or Engine
	Statements int
	Seed       uint64
	Time       time.Duration // after which no further statement is begun; 0 for no limit
	Texts      []string      // to plan instead, as clients of the listener send them
}

// FiltersReport is what came of a run of the mode for filters.
type FiltersReport struct {
	Tried, Refused int
	Planned        int // Postgres made a plan of it
	Scans          int // of scoped tables, in these plans
	Found          []string
	Elapsed        time.Duration
	mu             sync.Mutex
}

func (r *FiltersReport) String() string {
	return fmt.Sprintf("filters: %d statements, %d refused, %d planned, %d scans of scoped tables, %d of them ask too early; %s",
		r.Tried, r.Refused, r.Planned, r.Scans, len(r.Found), r.Elapsed.Round(time.Second))
}

// Filters has Postgres plan statements, and reads from each plan in which order a scan of a scoped table evaluates its conditions.
// Without index scans, all conditions on the table stand in one list; with them, so do conditions of joins. An error is one of the
// proof itself.
func (w *World) Filters(ctx context.Context, cfg FiltersConfig) (*FiltersReport, error) {
	all := make([]*filters, len(Servers))
	for i := range Servers {
		var err error
		if all[i], err = w.openFilters(ctx, cfg, i); err != nil {
			return nil, err
		}
		defer func() { _ = all[i].conn.Close(ctx) }()
	}
	if len(cfg.Texts) > 0 {
		cfg.Statements = len(cfg.Texts)
	}
	report, began := &FiltersReport{}, time.Now()
	errs := make([]error, len(Servers))
	var group sync.WaitGroup
	for i, f := range all {
		group.Go(func() {
			for number := i; number < cfg.Statements && (cfg.Time == 0 || time.Since(began) < cfg.Time) && errs[i] == nil; number += len(Servers) {
				errs[i] = f.try(ctx, number, report)
			}
		})
	}
	group.Wait()
	report.Elapsed = time.Since(began)
	return report, errors.Join(errs...)
}

// try decides and plans the statement of a number.
func (f *filters) try(ctx context.Context, number int, report *FiltersReport) (err error) {
	text, d := f.decide(number)
	what := fmt.Sprintf("number %d of server %s: %s", number, f.server, text)
	var p *filterPlan
	if d.Verdict == policy.Allow {
		if p, err = f.plan(ctx, d.Approved, planners[number/len(Servers)/2%2]); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	report.count(d, p, what)
	return nil
}

func (r *FiltersReport) count(d policy.Decision, p *filterPlan, what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Tried++
	switch {
	case d.Verdict != policy.Allow:
		r.Refused++
	case p != nil:
		r.Planned++
		scans, early := p.early()
		r.Scans += scans
		for _, condition := range early {
			r.Found = append(r.Found, fmt.Sprintf("%s\n  %s\n  %s", condition, what, d.Approved.Rewritten()))
		}
	}
}

// filters plans statements of one server and reads in which order their conditions are evaluated.
type filters struct {
	cfg             FiltersConfig
	server          string
	prober          *prober
	source          *source
	policies        map[policy.ScopeMode]*policy.Policy
	role, signature string
	conn            *pgconn.PgConn
	printed         string // the last plan
	catalog         filterCatalog
}

func (w *World) openFilters(ctx context.Context, cfg FiltersConfig, server int) (*filters, error) {
	if err := w.twins(ctx, server); err != nil {
		return nil, err
	}
	url, err := w.create(ctx, fmt.Sprintf("filters%d", len(w.made)), w.name+"_"+kestrel.of(server))
	if err != nil {
		return nil, err
	}
	f := &filters{cfg: cfg, server: Servers[server], role: w.freeRole(), source: newSource(Config{Walls: cfg.Walls, Seed: cfg.Seed}, server),
		prober: &prober{server: Servers[server], generator: statement.New(Servers[server]), cfg: OrderConfig{Walls: cfg.Walls, Seed: cfg.Seed}}}
	if cfg.Walls.walled() {
		f.role, f.signature = w.role(), w.key.Sign(f.server)
	}
	if f.policies, err = compile(ctx, url, cfg.Walls, policy.Generic); err != nil {
		return nil, err
	}
	if err := f.connect(ctx, url); err != nil {
		return nil, err
	}
	f.catalog, err = readFilterCatalog(ctx, f.conn)
	return f, err
}

// connect opens a superuser's session in which Postgres tells each plan that it makes.
func (f *filters) connect(ctx context.Context, url string) error {
	c, err := pgconn.ParseConfig(url)
	if err != nil {
		return errors.New("the database's URL is not one")
	}
	for name, value := range map[string]string{
		"debug_print_plan": "on", "debug_pretty_print": "off", "client_min_messages": "log", "log_min_messages": "panic", "plan_cache_mode": "force_generic_plan",
		"max_parallel_workers_per_gather": "0", "jit": "off",
	} {
		c.RuntimeParams[name] = value
	}
	c.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if n.Message == "plan:" {
			f.printed = n.Detail
		}
	}
	if f.conn, err = pgconn.ConnectConfig(ctx, c); err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	return nil
}

// decide takes the statements of the experiment and those of mode order in turns.
func (f *filters) decide(number int) (string, policy.Decision) {
	if len(f.cfg.Texts) > 0 {
		return f.cfg.Texts[number], f.policies[policy.Inject].Decide(f.cfg.Texts[number], policy.Postgres)
	}
	if number/len(Servers)%2 == 0 {
		st := f.source.statement(number)
		text, _ := st.Text(f.server)
		return text, f.policies[st.Mode].Decide(text, policy.REST)
	}
	q := f.prober.probe(number)
	if q.path == REST {
		text, _ := q.Text(f.server)
		return text, f.policies[q.Mode].Decide(text, policy.REST)
	}
	text, _ := q.NativeText(f.server)
	return text, f.policies[policy.Inject].Decide(text, policy.Postgres)
}

// planners are the settings with which a statement is planned: without an index all conditions stand in one list, and with one that is
// asked for each row of another table, conditions of the join stand among them.
var planners = []string{
	"SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_bitmapscan = off",
	"SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_material = off",
}

// plan gives the plan for any values of what was approved; nil where Postgres makes an error of it.
func (f *filters) plan(ctx context.Context, a *policy.Approved, settings string) (*filterPlan, error) {
	f.printed = ""
	if _, _, err := explain(ctx, f.conn, a, settings, gated{f.role, f.server, f.signature}); err != nil || f.printed == "" {
		return nil, err
	}
	tree, err := readTree(f.printed)
	if err != nil {
		return nil, err
	}
	return newFilterPlan(&f.catalog, a, tree), nil
}
