package upstream

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

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
	return Result{Body: dst}, f.explain(ctx, st)
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
	conn, err := p.acquire(ctx)
	if err != nil {
		return Result{}, &failure{err: err, refused: proxy.AsError(err)}
	}
	defer conn.Release()
	ctx, cancel := context.WithTimeout(ctx, st.limits.StatementTimeout+grace)
	defer cancel()
	r := newRun(conn.Conn, st, p.types, enc, cancel)
	res, err := r.execute(ctx, dst)
	r.record(p.cfg.Recorder)
	if err == nil {
		return res, nil
	}
	return Result{}, r.failure(ctx, err)
}

// newRun prepares one attempt.
func newRun(conn *pgxpool.Conn, st *statement, t *types, enc Encoding, cancel context.CancelFunc) *run {
	r := &run{
		st: st, s: sessionOf(conn.Conn().PgConn()), types: t, enc: encoder{Encoding: enc}, cancel: cancel, start: time.Now(),
	}
	r.bound(nil)
	return r
}

// outlived tells whether the attempt's own deadline ended it while the server was there:
// Postgres did not look for its time limit, as it does not in some loops. A server that is
// there confirms the cancellation; where there is none, it has answered the prelude.
func (r *run) outlived(ctx context.Context) bool {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return false
	}
	if c := cancellerOf(r.s.conn); c != nil {
		return !c.unconfirmed
	}
	return r.reached >= begun
}

// failure tells what the run knows about its end; ctx is the attempt's.
func (r *run) failure(ctx context.Context, err error) *failure {
	f := &failure{
		err: err, reached: r.reached, synced: r.synced, at: r.at,
		outlived: r.outlived(ctx), elapsed: time.Since(r.start),
	}
	errors.As(err, &f.refused)
	if f.stale() {
		r.s.statements.drop(r.st.sql)
		if sqlState(err) == undefinedStatement {
			// Somebody dropped the connection's statements: the others are gone too.
			ctx, cancel := context.WithTimeout(context.Background(), closePatience)
			defer cancel()
			_ = r.s.conn.Close(ctx)
		}
	}
	return f
}
