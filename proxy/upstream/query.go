package upstream

import (
	"context"
	"errors"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// grace is what a statement may take beyond its time limit, which Postgres itself holds,
// before the connection counts as dead.
const grace = 2 * time.Second

// Result is what a statement answered.
type Result struct {
	Body         []byte // dst, with `"columns":[…],"rows":[…]` appended
	Rows         int    // rows in Body
	RowsAffected int64  // rows inserted, updated or deleted; 0 for SELECT
}

// query runs st, a second time when the first certainly did not start.
func (p *Pool) query(ctx context.Context, st *statement, enc Encoding, dst []byte) (Result, error) {
	if st.limits.StatementTimeout <= 0 {
		return Result{Body: dst}, defect("a statement without a time limit reached upstream")
	}
	if !isQuery(st.sql) {
		return Result{Body: dst}, defect("what is no query reached upstream")
	}
	res, f := p.attempt(ctx, st, enc, dst)
	if f != nil && f.repeatable() && ctx.Err() == nil {
		p.react(ctx, f)
		res, f = p.attempt(ctx, st, enc, dst)
	}
	if f == nil {
		return res, nil
	}
	p.react(ctx, f)
	e := f.explain(ctx, st)
	p.logLack(ctx, st.account(), st, e)
	return Result{Body: dst}, e
}

// react counts a failure and draws its consequence for the other connections.
func (p *Pool) react(ctx context.Context, f *failure) {
	class := f.class()
	switch class {
	case "":
		return
	case classReadOnly, classShutdown:
		p.reset(class)
	case classTimeout, classNetwork:
		if ctx.Err() != nil {
			class = classCancelled
		}
	}
	p.cfg.Recorder.UpstreamError(class)
}

// attempt runs st once.
func (p *Pool) attempt(ctx context.Context, st *statement, enc Encoding, dst []byte) (Result, *failure) {
	account := st.account()
	job, waited, err := p.begin(ctx, account)
	if err != nil {
		return Result{}, &failure{err: err, refused: proxy.AsError(err)}
	}
	defer p.cfg.Work.End(job)
	l, err := p.acquire(ctx, account, waited, wears(st.plan, st.records))
	if err != nil {
		return Result{}, &failure{err: err, refused: proxy.AsError(err)}
	}
	defer p.release(l, account)
	r := &l.session.run
	*r = run{talk: talk{ctx: ctx, s: l.session}, st: st, types: p.types, descriptions: p.descriptions, enc: encoder{Encoding: enc}, start: l.given}
	defer func() {
		if !r.ended { // a panic: answers of this run's are still to come
			l.session.giveUp()
		}
		*r = run{} // nothing of a server's stays with the connection
	}()
	r.bound(nil)
	res, err := r.execute(dst)
	r.record(p.cfg.Recorder)
	if r.zones {
		l.session.zoned += r.end.Sub(r.start)
	}
	if err == nil {
		return res, nil
	}
	return Result{}, r.failure(err)
}

// failure tells what the run knows about its end.
func (r *run) failure(err error) *failure {
	f := &failure{
		err: err, reached: r.reached, unsent: !r.s.wire.sent, synced: r.synced, at: r.at, announced: r.announced != nil,
		outlived: r.outlived(), elapsed: r.end.Sub(r.start), executed: r.executed,
	}
	errors.As(err, &f.refused)
	if f.stale() {
		r.s.statements.drop(r.st.exact)
		r.descriptions.drop(r.st.key)
		if sqlState(err) == undefinedStatement && !r.s.left {
			r.s.giveUp() // somebody dropped the connection's statements: the others are gone too
		}
	}
	return f
}

// outlived tells whether the attempt's own deadline ended it while the server was there:
// Postgres did not look for its time limit, as it does not in some loops. A server that is
// there confirms the cancellation; where there is none, it has answered the prelude.
func (r *run) outlived() bool {
	if r.s.pooled() {
		return r.late && r.reached >= begun
	}
	return r.late && !r.deaf
}
