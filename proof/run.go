package proof

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proof/statement"
	"github.com/tenantgate/tenantgate/proxy/upstream"
	front "github.com/tenantgate/tenantgate/proxy/wire"
)

// Config says what to try.
type Config struct {
	Walls      Walls
	Statements int
	Seed       uint64
	Workers    int           // sessions at once; rounded up to a multiple of Servers, so that a statement's number tells its server
	Time       time.Duration // after which no further statement is begun; 0 for no limit
	Findings   int           // how many failing statements are reduced and kept; the rest are counted

	// Corpus are hand-written statements of each of Servers, tried as they are and mutated.
	Corpus [][]statement.Statement

	tamper func(sql string) string         // breaks what is sent, to see the proof fail
	pose   func(*upstream.Pool) front.Link // breaks what the listener runs
	enough func(Fault) bool                // a fault after which no further statement is begun; nil for none
}

// tidyEvery is after how many statements a worker's databases are vacuumed.
const tidyEvery = 4000

// committedEvery is the same where statements are committed and undone.
const committedEvery = 500

// shrinkTries bounds how often a failing statement is tried to be reduced.
const shrinkTries = 3000

// Run tries statements and tells what came of them. An error is one of the proof itself.
// A World runs one at a time.
func (w *World) Run(ctx context.Context, cfg Config) (*Report, error) {
	workers := make([]*worker, (max(cfg.Workers, 1)+len(Servers)-1)/len(Servers)*len(Servers))
	defer func() {
		for _, k := range workers {
			if k != nil {
				w.idle = append(w.idle, k.leave(ctx, cfg)...)
			}
		}
	}()
	for i := range workers {
		var err error
		if workers[i], err = w.newWorker(ctx, cfg, i%len(Servers)); err != nil {
			return nil, err
		}
		workers[i].tamper = cfg.tamper
	}
	report := newReport(cfg)
	errs := make([]error, len(workers))
	var group sync.WaitGroup
	began := time.Now()
	for i, k := range workers {
		group.Go(func() { errs[i] = k.work(ctx, cfg, i, len(workers), report) })
	}
	group.Wait()
	report.Elapsed = time.Since(began)
	return report, errors.Join(errs...)
}

// work tries every statement whose number leaves the worker's own as its remainder.
func (k *worker) work(ctx context.Context, cfg Config, first, step int, report *Report) error {
	source := newSource(cfg, first%len(Servers))
	began := time.Now()
	for number, n := first, 1; number < cfg.Statements && (cfg.Time == 0 || time.Since(began) < cfg.Time) && !report.ended(); number, n = number+step, n+1 {
		st := source.statement(number)
		o, err := k.try(ctx, st, chance(cfg.Seed, number))
		if err != nil {
			return err
		}
		if report.count(st, o, cfg.enough) {
			f := k.reduce(ctx, cfg, number, st, o)
			report.keep(f)
		}
		if n%tidyEvery == 0 || k.listener != nil && n%committedEvery == 0 {
			if err := k.tidy(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// chance is the source of what is chosen beside a statement: its plan.
func chance(seed uint64, number int) *rand.Rand {
	return rand.New(rand.NewPCG(seed+1, uint64(number))) //nolint:gosec // chance, not secrecy
}

// Finding is a statement that broke the promise, reduced.
type Finding struct {
	Number    int
	Seed      uint64
	Server    string
	Fault     Fault
	Refusal   policy.Code
	Original  string
	Statement statement.Statement
	outcome   outcome
	Plan      string
}

// reduce makes a failing statement as small as it can be while it fails in the same way.
func (k *worker) reduce(ctx context.Context, cfg Config, number int, st statement.Statement, o outcome) Finding {
	original, _ := st.Text(k.server)
	small := statement.Shrink(st, shrinkTries, func(try statement.Statement) bool {
		again, err := k.try(ctx, try, chance(cfg.Seed, number))
		return err == nil && again.fault == o.fault && again.shared.state == o.shared.state && again.own.state == o.own.state
	})
	if again, err := k.try(ctx, small, chance(cfg.Seed, number)); err == nil && again.fault != "" {
		o = again
	} else {
		small = st
	}
	return Finding{
		Number: number, Seed: cfg.Seed, Server: k.server, Fault: o.fault, Refusal: o.refused,
		Original: original, Statement: small, outcome: o, Plan: k.plan(ctx, o.gate),
	}
}

// plan tells how Postgres would run a request.
func (k *worker) plan(ctx context.Context, r request) string {
	if r.sql == "" {
		return ""
	}
	r.sql, r.checks = "EXPLAIN (COSTS OFF, VERBOSE) "+r.sql, nil
	a, err := k.shared.run(ctx, r)
	if err != nil || a.state != "" {
		return a.message
	}
	plan := ""
	for _, line := range a.rows {
		plan += "    " + line + "\n"
	}
	return plan
}
