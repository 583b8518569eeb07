package upstream

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// reach is how far a run certainly came, by what the server answered.
type reach uint8

const (
	unbegun   reach = iota // nothing was answered
	begun                  // the prelude ran: the statement may have begun
	completed              // the statement ran to its end; it is committed by the Sync
)

// phase is what an answer is about. The zero value is the one that tells a caller least.
type phase uint8

const (
	running   phase = iota // binding, planning and executing: rows may have been read
	analysing              // Postgres reads the text and the catalog, and no row
	checking               // the shapes of the tables
)

// run is one attempt at one statement on one connection.
type run struct {
	st     *statement
	s      *session
	types  *types
	enc    encoder
	cancel context.CancelFunc // ends the pipeline's context, and so the statement

	pl      *pgconn.Pipeline
	closes  int  // answers to come about dropped statements
	opened  bool // the prelude's answer was read
	synced  bool // the Sync was sent: the server commits what succeeds
	reached reach
	at      phase // of the answer being read

	start, first, end time.Time
}

// execute runs the statement and leaves the connection either ready or closed. The error
// is an *proxy.Error where this program itself refused, else what pgconn said.
func (r *run) execute(ctx context.Context, dst []byte) (Result, error) {
	defer func() { r.end = time.Now() }()
	known := r.s.statements.get(r.st.sql)
	var values [][]byte
	if known != nil {
		var refused *proxy.Error
		if values, refused = r.st.values(known.params); refused != nil {
			return Result{}, refused
		}
	}
	r.pl = r.s.conn.StartPipeline(ctx)
	res, err := r.exchange(ctx, known, values, dst)
	if err != nil {
		r.abort()
	}
	if closing := r.pl.Close(); err == nil && closing != nil {
		err = closing
	}
	return res, err
}

// exchange sends everything and reads the answers up to the end of the transaction.
func (r *run) exchange(ctx context.Context, p *plan, values [][]byte, dst []byte) (Result, error) {
	r.closes = r.s.statements.sendStale(r.pl)
	r.s.sendPrelude(r.pl, r.st)
	if p == nil {
		var err error
		if p, values, err = r.describe(ctx); err != nil {
			return Result{}, err
		}
	}
	r.bound(p.columns)
	if err := r.send(ctx, p, values); err != nil {
		return Result{}, err
	}
	if err := r.opening(); err != nil {
		return Result{}, err
	}
	res, err := r.rows(p, dst)
	if err != nil {
		return res, err
	}
	return res, r.finish()
}

// send sends the statement and what follows it.
func (r *run) send(ctx context.Context, p *plan, values [][]byte) error {
	if err := ctx.Err(); err != nil {
		return err // a cancellation between two round trips meets an idle server
	}
	r.pl.SendQueryStatement(p.desc, values, nil, nil)
	if len(r.st.shapes) > 0 {
		r.s.sendShapes(r.pl, r.st)
	}
	if r.st.reviewed() {
		return r.flush()
	}
	r.synced = true
	return r.pl.Sync()
}

// flush has the server answer what was sent, without ending the transaction.
func (r *run) flush() error {
	r.pl.SendFlushRequest()
	return r.pl.Flush()
}

// opening reads the answers that precede the statement's.
func (r *run) opening() error {
	if r.opened {
		return nil
	}
	for range r.closes {
		if _, err := r.pl.GetResults(); err != nil {
			return err
		}
	}
	if err := r.skip(); err != nil {
		return err
	}
	r.opened, r.reached = true, begun
	return nil
}

// reader gives the next result.
func (r *run) reader() (*pgconn.ResultReader, error) {
	answer, err := r.pl.GetResults()
	if err != nil {
		return nil, err
	}
	reader, ok := answer.(*pgconn.ResultReader)
	if !ok {
		return nil, fmt.Errorf("reading a result: %T came instead", answer)
	}
	return reader, nil
}

// skip reads the next result and forgets it.
func (r *run) skip() error {
	reader, err := r.reader()
	if err != nil {
		return err
	}
	_, err = reader.Close()
	return err
}

// finish reads the check of the shapes and commits.
func (r *run) finish() error {
	if len(r.st.shapes) > 0 {
		r.at = checking
		if err := r.skip(); err != nil {
			return err
		}
		r.at = running
	}
	if !r.synced {
		r.synced = true
		if err := r.pl.Sync(); err != nil {
			return err
		}
	}
	// A deferred constraint fails here, in place of the commit.
	answer, err := r.pl.GetResults()
	if err != nil {
		return err
	}
	if _, ok := answer.(*pgconn.PipelineSync); !ok {
		return fmt.Errorf("committing: %T came instead of the end", answer)
	}
	return nil
}

// abort makes sure that nothing of a failed run remains, and that the answers end. Where
// the Sync was not sent, the transaction is open or has failed; ROLLBACK ends the one and
// is skipped in the other, and in no case is the Sync after it a commit.
func (r *run) abort() {
	if r.synced || r.s.conn.IsClosed() {
		return
	}
	r.pl.SendQueryParams("ROLLBACK", nil, nil, nil, nil)
	_ = r.pl.Sync() // fails with the connection, and the transaction with it
}

// affected is the count of the command tag; that of SELECT counts rows that were read.
func affected(tag pgconn.CommandTag, kind policy.Kind) int64 {
	if kind == policy.Select || tag.Select() {
		return 0
	}
	return tag.RowsAffected()
}
