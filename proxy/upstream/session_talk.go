package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/proxy/frame"
)

// talk is what is said on one connection for one caller. While it waits it can be woken, by
// its deadline or the end of its context, and calls off what runs.
type talk struct {
	ctx         context.Context //nolint:containedctx // a talk lives no longer than its call
	s           *session
	broken      bool // the connection can't be used any more
	timedOut    bool // its own deadline woke it
	cancelSent  bool // the statement was called off
	unconfirmed bool // and the server did not confirm that
}

// next gives the next message; an error of the server's is an error. At its deadline it has the
// statement cancelled, and goes on to hear how it ended.
func (r *talk) next() (kind byte, body []byte, err error) {
	for {
		kind, body, err = r.s.wire.next()
		switch {
		case err == nil && kind != frame.ErrorResponse:
			return kind, body, nil
		case err == nil:
			err = serverError(body, r.s.wire.truncated)
			r.broken = r.broken || fatal(err)
			return kind, nil, err
		case errors.Is(err, os.ErrDeadlineExceeded) && r.onDeadline():
			continue
		}
		r.broken = true
		return 0, nil, fmt.Errorf("waiting for the database's answer: %w", err)
	}
}

// fatal tells whether the server's error ends the connection, or makes no sense.
func fatal(err error) bool {
	var pg *pgconn.PgError
	return !errors.As(err, &pg) || cmp.Or(pg.SeverityUnlocalized, pg.Severity) != "ERROR"
}

// onDeadline calls the statement off, once; it tells whether there is still an end to wait for.
// Behind a pooler there is none: a cancellation there costs the connection.
func (r *talk) onDeadline() bool {
	r.timedOut = r.timedOut || !r.cancelSent && r.ctx.Err() == nil
	return !r.s.pooled() && r.cancelOnce()
}

// stop ends a statement whose rows are not wanted any more.
func (r *talk) stop() {
	if r.s.pooled() {
		r.broken = true
		return
	}
	r.cancelOnce()
}

// cancelOnce has the server cancel the statement, if that was not asked of it before.
func (r *talk) cancelOnce() bool {
	if r.cancelSent {
		return false
	}
	r.cancelSent = true
	r.unconfirmed = !r.s.cancel()
	return true
}

// skip reads up to a message of a type.
func (r *talk) skip(until byte) error {
	for {
		kind, _, err := r.next()
		if err != nil || kind == until {
			return err
		}
	}
}
