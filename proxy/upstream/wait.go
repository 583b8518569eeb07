package upstream

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/proxy/frame"
)

// next gives the next message; an error of the server's is an error. A run that is woken
// calls the statement off and goes on to hear how it ended.
func (r *run) next() (kind byte, body []byte, err error) {
	for {
		kind, body, err = r.s.wire.next()
		switch {
		case err == nil && kind != frame.ErrorResponse:
			return kind, body, nil
		case err == nil:
			err = serverError(body)
			r.broken = r.broken || fatal(err)
			return kind, nil, err
		case errors.Is(err, os.ErrDeadlineExceeded) && r.woken():
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

// woken calls the statement off, once; it tells whether there is still an end to wait for.
// Behind a pooler there is none: a cancellation there costs the connection.
func (r *run) woken() bool {
	r.late = r.late || !r.called && r.ctx.Err() == nil
	return !r.s.pooled() && r.callOff()
}

// stop ends a statement whose rows are not wanted any more.
func (r *run) stop() {
	if r.s.pooled() {
		r.broken = true
		return
	}
	r.callOff()
}

// callOff has the server cancel the statement, if that was not asked of it before.
func (r *run) callOff() bool {
	if r.called {
		return false
	}
	r.called = true
	r.deaf = !r.s.cancel()
	return true
}

// skip reads up to a message of a type.
func (r *run) skip(until byte) error {
	for {
		kind, _, err := r.next()
		if err != nil || kind == until {
			return err
		}
	}
}
