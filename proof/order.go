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

// OrderConfig says what mode order tries: whether the answer to a statement, as a sequence, is the same
// in D and in D', which differ in the others' values alone.
type OrderConfig struct {
	Walls      Walls // All or Engine; Database, which does not promise it, to see the proof fail
	Statements int
	Seed       uint64
	Workers    int           // rounded up to a multiple of Servers
	Time       time.Duration // after which no further statement is begun; 0 for no limit
	Findings   int           // how many differing statements are reduced and kept; the rest are counted
	First      bool          // end at the first difference
	Custom     bool          // the planner sees the values of statements, as a policy can have it
	Plans      bool          // plans with their costs are compared, beside the answers
	Single     bool          // no statement that can compare columns of two tables
	Hash       bool          // a column has a hash index, whose order shows what the others hold
	Together   bool          // btree indexes keep the rows of a value together, which shows it too

	// What could close the channel, to see what is left then.
	Generic    bool // plans that do not know the parameters
	Parameters bool // the values of statements are parameters, all of them
	Blind      bool // no statistics but on scope columns
}

// twin is D or D' of a worker: a superuser's session, and tenantgate before it.
type twin struct {
	kind   database
	admin  *session
	plans  *session                // of a further copy, in which nothing is ever written; nil where plans are not compared
	direct request                 // what statements that pass by the engine have in common
	ways   map[bool]*listener      // by whether statements are prepared
	client map[bool]*pgconn.PgConn // to the listener
	rest   map[policy.ScopeMode]*policy.Policy

	role, signature string // of the statements whose plans are compared
}

// prober tries statements of one server on both sides.
type prober struct {
	server    string
	generator *statement.Generator
	sides     [2]*twin
	cfg       OrderConfig
}

// Order tries statements and reports what came of them. An error is one of the proof itself.
func (w *World) Order(ctx context.Context, cfg OrderConfig) (*OrderReport, error) {
	probers := make([]*prober, (max(cfg.Workers, 1)+len(Servers)-1)/len(Servers)*len(Servers))
	defer func() {
		for _, p := range probers {
			p.close(ctx)
		}
	}()
	for i := range probers {
		var err error
		if probers[i], err = w.newProber(ctx, cfg, i); err != nil {
			return nil, err
		}
	}
	report := newOrderReport(cfg)
	errs := make([]error, len(probers))
	var group sync.WaitGroup
	began := time.Now()
	for i, p := range probers {
		group.Go(func() { errs[i] = p.work(ctx, i, len(probers), report) })
	}
	group.Wait()
	report.Elapsed = time.Since(began)
	return report, errors.Join(errs...)
}

func (w *World) newProber(ctx context.Context, cfg OrderConfig, i int) (*prober, error) {
	server := i % len(Servers)
	if err := w.twins(ctx, server); err != nil {
		return nil, err
	}
	p := &prober{server: Servers[server], generator: statement.New(Servers[server]), cfg: cfg}
	for side, kind := range []database{kestrel, martlet} {
		name := fmt.Sprintf("%s_copy%d", kind.of(server), len(w.made))
		url, err := w.create(ctx, name, w.name+"_"+kind.of(server))
		if err != nil {
			return p, err
		}
		p.sides[side] = &twin{kind: kind, ways: map[bool]*listener{}, client: map[bool]*pgconn.PgConn{}}
		if err := w.openTwin(ctx, p.sides[side], url, w.name+"_"+name, p); err != nil {
			return p, err
		}
	}
	return p, nil
}

// steady are the settings of a database without which an answer's order is chance.
const steady = `ALTER DATABASE %[1]s SET max_parallel_workers_per_gather = 0; ALTER DATABASE %[1]s SET synchronize_seqscans = off; ALTER DATABASE %[1]s SET jit = off;`

func (w *World) openTwin(ctx context.Context, t *twin, url, name string, p *prober) (err error) {
	if err := w.exec(ctx, url, p.prepare(name)); err != nil {
		return err
	}
	if t.admin, err = openSession(ctx, url, p.server); err != nil {
		return err
	}
	if p.cfg.Plans {
		if err := w.openPlans(ctx, t, name, p); err != nil {
			return err
		}
	}
	if p.cfg.Walls == Database {
		t.direct = request{role: w.role(), signed: signed{p.server, w.key.Sign(p.server)}}
		return nil
	}
	t.role, t.signature = w.freeRole(), ""
	if p.cfg.Walls.walled() {
		t.role, t.signature = w.role(), w.key.Sign(p.server)
	}
	planner := policy.Generic
	if p.cfg.Custom {
		planner = policy.Custom
	}
	if t.rest, err = compile(ctx, url, p.cfg.Walls, planner); err != nil {
		return err
	}
	for _, prepared := range []bool{true, false} {
		l, err := w.listen(ctx, behind{server: p.server, url: url, walls: p.cfg.Walls, noPrepared: !prepared, planner: planner})
		if err != nil {
			return err
		}
		t.ways[prepared] = l
		l.directory.mode.Store(policy.Inject)
		if t.client[prepared], err = pgconn.Connect(ctx, "postgres://"+p.server+":"+password+"@"+l.addr+"/"+p.server+"?sslmode=disable"); err != nil {
			return fmt.Errorf("logging in to the listener: %w", err)
		}
	}
	return nil
}

// prepare gives the SQL that makes a copy of a side what the config asks for.
func (p *prober) prepare(name string) string {
	sql := fmt.Sprintf(steady, name)
	if p.server != Servers[0] { // so that a hash join of few rows has several batches
		sql += "ALTER DATABASE " + name + " SET work_mem = '64kB';"
	}
	if p.cfg.Generic {
		sql += "ALTER DATABASE " + name + " SET plan_cache_mode = force_generic_plan;"
	}
	switch {
	case p.cfg.Blind:
		sql += blind
	case p.cfg.Plans:
		sql += uncorrelated
	}
	if p.cfg.Hash {
		sql += hashed(p.server, name)
	}
	if p.cfg.Together {
		sql += deduplicated + fmt.Sprintf(indexScans, name)
	}
	return sql
}

// indexScans has Postgres read an index where it can, as it does of a large table.
const indexScans = `ALTER DATABASE %[1]s SET enable_seqscan = off; ALTER DATABASE %[1]s SET enable_bitmapscan = off; ALTER DATABASE %[1]s SET enable_sort = off;`

// hashed gives messages a hash index, and then the server so many rows of two values that each fills several pages of a
// bucket: how many of them fit on the first one shows how many the others have. Plain index scans show the order in such
// an index; a large table has them.
func hashed(server, database string) string {
	return fmt.Sprintf(`CREATE INDEX ON messages USING hash (content);
		INSERT INTO messages (id, server_id, conversation_id, content) SELECT 'own' || g, %[1]s, c.id, CASE g %% 2 WHEN 0 THEN 'Kestrel 4000' ELSE 'Martlet 8000' END
			FROM generate_series(1, 2000) g, (SELECT id FROM conversations WHERE server_id = %[1]s ORDER BY id LIMIT 1) c;
		ALTER DATABASE %[2]s SET enable_bitmapscan = off;`, literal(server), database)
}

// blind takes the statistics of all columns but the scope columns, and of indexes' expressions.
const blind = `DELETE FROM pg_statistic AS s USING pg_attribute AS a, pg_class AS c
	WHERE a.attrelid = s.starelid AND a.attnum = s.staattnum AND c.oid = s.starelid AND c.relnamespace IN ('public'::regnamespace, 'shop'::regnamespace)
	AND NOT a.attname ` + scopeColumns + `;`

const scopeColumns = `IN ('server_id', 'tenant', 'owner', 'Server Id')`

func (p *prober) close(ctx context.Context) {
	if p == nil {
		return
	}
	for _, t := range p.sides {
		if t == nil {
			continue
		}
		for _, prepared := range []bool{true, false} {
			if t.client[prepared] != nil {
				_ = t.client[prepared].Close(ctx)
			}
			if t.ways[prepared] != nil {
				_ = t.ways[prepared].stop()
			}
		}
		for _, s := range []*session{t.admin, t.plans} {
			if s != nil {
				s.close(ctx)
			}
		}
	}
}

// work tries every statement whose number leaves the prober's own as its remainder.
func (p *prober) work(ctx context.Context, first, step int, report *OrderReport) error {
	began := time.Now()
	for number := first; number < p.cfg.Statements && (p.cfg.Time == 0 || time.Since(began) < p.cfg.Time) && !report.ended(); number += step {
		q := p.probe(number)
		if p.cfg.Single && compares(q.text(p.server)) {
			continue
		}
		o, err := p.try(ctx, q)
		if err != nil {
			return fmt.Errorf("statement %d: %w", number, err)
		}
		if report.count(q, o) {
			report.keep(p.reduce(ctx, q, o))
		}
	}
	return nil
}
