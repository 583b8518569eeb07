package proof

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
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

	// What could close the channel, to see what is left then.
	Generic    bool // plans that do not know the parameters
	Parameters bool // the values of statements are parameters, all of them
	Blind      bool // no statistics but on scope columns
}

// twin is D or D' of a worker: a superuser's session, and tenantgate before it.
type twin struct {
	admin  *session
	direct request                 // what statements that pass by the engine have in common
	ways   map[bool]*listener      // by whether statements are prepared
	client map[bool]*pgconn.PgConn // to the listener
	rest   map[policy.ScopeMode]*policy.Policy
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
		p.sides[side] = &twin{ways: map[bool]*listener{}, client: map[bool]*pgconn.PgConn{}}
		if err := w.openTwin(ctx, p.sides[side], url, w.name+"_"+name, p); err != nil {
			return p, err
		}
	}
	return p, nil
}

// steady are the settings of a database without which an answer's order is chance.
const steady = `ALTER DATABASE %[1]s SET max_parallel_workers_per_gather = 0; ALTER DATABASE %[1]s SET synchronize_seqscans = off; ALTER DATABASE %[1]s SET jit = off;`

func (w *World) openTwin(ctx context.Context, t *twin, url, name string, p *prober) (err error) {
	sql := fmt.Sprintf(steady, name)
	if p.server != Servers[0] { // so that a hash join of few rows has several batches
		sql += "ALTER DATABASE " + name + " SET work_mem = '64kB';"
	}
	if p.cfg.Generic {
		sql += "ALTER DATABASE " + name + " SET plan_cache_mode = force_generic_plan;"
	}
	if p.cfg.Blind {
		sql += blind
	}
	if err := w.exec(ctx, url, sql); err != nil {
		return err
	}
	if t.admin, err = openSession(ctx, url, p.server); err != nil {
		return err
	}
	if p.cfg.Walls == Database {
		t.direct = request{role: w.role(), signed: signed{p.server, w.key.Sign(p.server)}}
		return nil
	}
	if t.rest, err = compile(ctx, url, p.cfg.Walls); err != nil {
		return err
	}
	for _, prepared := range []bool{true, false} {
		l, err := w.listen(ctx, behind{server: p.server, url: url, walls: p.cfg.Walls, noPrepared: !prepared})
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

// blind takes the statistics of all columns but the scope columns, and of indexes' expressions.
const blind = `DELETE FROM pg_statistic AS s USING pg_attribute AS a, pg_class AS c
	WHERE a.attrelid = s.starelid AND a.attnum = s.staattnum AND c.oid = s.starelid AND c.relnamespace IN ('public'::regnamespace, 'shop'::regnamespace)
	AND a.attname NOT IN ('server_id', 'tenant', 'owner', 'Server Id');`

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
		if t.admin != nil {
			t.admin.close(ctx)
		}
	}
}

// work tries every statement whose number leaves the prober's own as its remainder.
func (p *prober) work(ctx context.Context, first, step int, report *OrderReport) error {
	began := time.Now()
	for number := first; number < p.cfg.Statements && (p.cfg.Time == 0 || time.Since(began) < p.cfg.Time) && !report.ended(); number += step {
		q := p.probe(number)
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

// probing is a probe with the path that it goes.
type probing struct {
	statement.Probe
	number   int
	path     Path
	prepared bool
}

// probe gives the probe of a number.
func (p *prober) probe(number int) probing {
	r := rand.New(rand.NewPCG(p.cfg.Seed+4, uint64(number))) //nolint:gosec // chance, not secrecy
	values := statement.Values(r.IntN(2))
	if p.cfg.Parameters {
		values = statement.Parameters
	}
	q := probing{number: number, path: paths[r.IntN(len(paths))], prepared: r.IntN(3) > 0}
	if p.cfg.Walls == Database {
		q.path = Direct
		q.Probe = p.generator.Probe(p.cfg.Seed, number, statement.None, values)
		return q
	}
	mode := policy.Inject
	if q.path == REST {
		mode = Engine.modes()[r.IntN(3)]
	}
	q.Probe = p.generator.Probe(p.cfg.Seed, number, mode, values)
	if q.path == REST && writes(q.text(p.server)) { // there, a statement is committed
		q.path, q.Probe = Extended, p.generator.Probe(p.cfg.Seed, number, policy.Inject, values)
	}
	_, args := q.NativeText(p.server)
	if len(args) > 0 && !q.path.takesArguments() || q.path.reads() && (writes(q.text(p.server)) || q.First() == "table") {
		q.path = Extended
	}
	return q
}

func (q probing) text(server string) string {
	text, _ := q.NativeText(server)
	return text
}

// probed is what came of a probe.
type probed struct {
	refused   string // the engine's code
	answers   [2]answer
	differs   bool
	unsettled bool
	slow      bool
}

// try runs a probe on both sides, and again where they differ: a statement whose answer differs
// from itself tells nothing.
func (p *prober) try(ctx context.Context, q probing) (o probed, err error) {
	for round := range 2 {
		for side, t := range p.sides {
			a, err := t.run(ctx, q, p.server)
			if err != nil {
				return o, fmt.Errorf("running %s: %w", q.text(p.server), err)
			}
			if round > 0 && a.sequence() != o.answers[side].sequence() {
				o.unsettled = true
			}
			o.answers[side] = a
			o.slow = o.slow || a.state == cancelled
		}
		if o.differs = o.answers[0].sequence() != o.answers[1].sequence(); !o.differs {
			break
		}
	}
	if c := o.answers[0].code; c != "" && !ofDatabase(string(c)) {
		o.refused = string(c)
	}
	o.differs = o.differs && !o.unsettled && !o.slow
	return o, p.clean(ctx, q)
}

// sequence is an answer as one text.
func (a answer) sequence() string {
	return strings.Join([]string{strings.Join(a.columns, "|"), strings.Join(a.rows, "\n"), a.tag, a.state, a.message}, "\n")
}

// clean removes what rolled-back transactions left, so that the sides stay alike.
func (p *prober) clean(ctx context.Context, q probing) error {
	var left []string
	if len(q.Plant.Tokens) > 0 && q.path != REST && q.path != Direct {
		left = append(left, qualified(q.Into))
	}
	if text := q.text(p.server); writes(text) {
		for _, i := range touched(text) {
			left = append(left, qualified(statement.Tables()[i]))
		}
	}
	if len(left) == 0 {
		return nil
	}
	return p.both(ctx, "VACUUM "+strings.Join(left, ", "))
}

// reduce makes a differing statement as small as it can be while it differs.
func (p *prober) reduce(ctx context.Context, q probing, o probed) Difference {
	d := Difference{Original: q.text(p.server)}
	fails := func(try probing) bool {
		again, err := p.try(ctx, try)
		return err == nil && again.differs
	}
	if bare := q; len(q.Plant.Tokens) > 0 {
		if bare.Plant = (statement.Statement{}); fails(bare) {
			q = bare
		}
	}
	q.Statement = statement.Shrink(q.Statement, 400, func(try statement.Statement) bool {
		smaller := q
		if p.cfg.Parameters && quoted(try) > quoted(q.Statement) {
			return false
		}
		smaller.Statement = try
		return fails(smaller)
	})
	if again, err := p.try(ctx, q); err == nil && again.differs {
		o = again
	}
	d.probing, d.outcome, d.server = q, o, p.server
	d.Shows = p.shows(ctx, q)
	return d
}

// quoted counts the constants in quotes.
func quoted(st statement.Statement) (n int) {
	for _, t := range st.Tokens {
		if strings.HasPrefix(t.Text, "'") {
			n++
		}
	}
	return n
}

// shows gives the columns without whose statistics, of each alone, there is no difference.
func (p *prober) shows(ctx context.Context, q probing) (columns []string) {
	text := strings.ToLower(q.text(p.server))
	for _, t := range statement.Tables() {
		if !strings.Contains(text, strings.ToLower(t.Name)) || t.ScopeType == "" {
			continue
		}
		for i := range t.Columns {
			c := &t.Columns[i]
			if c.Kind == statement.Scope {
				continue
			}
			if p.forget(ctx, t, c.Name) != nil {
				return append(columns, "?")
			}
			if o, err := p.try(ctx, q); err == nil && !o.differs {
				columns = append(columns, t.Name+"."+c.Name)
			}
			if p.remember(ctx, t) != nil {
				return append(columns, "?")
			}
		}
	}
	return columns
}

// forget takes a column's statistics from both sides; remember gathers the table's anew.
func (p *prober) forget(ctx context.Context, t *statement.Table, column string) error {
	return p.both(ctx, fmt.Sprintf(`DELETE FROM pg_statistic AS s USING pg_attribute AS a WHERE a.attrelid = s.starelid AND a.attnum = s.staattnum
		AND a.attname = %[2]s AND s.starelid IN (SELECT relid FROM pg_partition_tree('%[1]s') UNION SELECT '%[1]s'::regclass);
		UPDATE pg_class SET relname = relname WHERE oid = '%[1]s'::regclass`, qualified(t), literal(column)))
}

func (p *prober) remember(ctx context.Context, t *statement.Table) error {
	return p.both(ctx, fmt.Sprintf("ANALYZE %[1]s; UPDATE pg_class SET relname = relname WHERE oid = '%[1]s'::regclass", qualified(t)))
}

func (p *prober) both(ctx context.Context, sql string) error {
	for _, t := range p.sides {
		if err := t.admin.exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}
