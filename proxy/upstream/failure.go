package upstream

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
	"github.com/tenantgate/tenantgate/proxy/upstream/values"
)

// SQLSTATEs that are more than a member of their class; see appendix A of Postgres' manual.
const (
	undefinedStatement = "26000"
	undefinedColumn    = "42703"
	divisionByZero     = "22012"
	readOnly           = "25006"
	featureNotThere    = "0A000"
	stringTruncated    = "22001"
	notNull            = "23502"
	checkViolated      = "23514"
	insufficientRights = "42501"
	queryCanceled      = "57014"
	resolutionUnknown  = "08007"
	protocolViolation  = "08P01"
	lockNotAvailable   = "55P03"
	deadlock           = "40P01"
)

// retryAfter is what a caller is told to wait when the database is not there for it.
const retryAfter = time.Second

// failure is a run that did not end well.
type failure struct {
	err       error
	refused   *proxy.Error // when this program refused; err then adds nothing
	reached   reach
	unsent    bool // nothing was sent to the server
	synced    bool
	at        phase
	executed  bool // the error came in place of a result: what was prepared fitted
	announced bool // the types of its parameters were given
	outlived  bool // our own deadline ended it, on a server that is there
	elapsed   time.Duration
	readOnly  bool // the transaction takes no writes because the caller wanted it so
}

// server is the error that Postgres reported; nil when it reported none.
func (f *failure) server() *pgconn.PgError {
	var pg *pgconn.PgError
	if errors.As(f.err, &pg) {
		return pg
	}
	return nil
}

func sqlState(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

// sqlStateClass is the first two characters, which name the class.
func sqlStateClass(err error) string {
	if s := sqlState(err); len(s) == 5 {
		return s[:2]
	}
	return ""
}

// ended tells whether the server ended the connection and said so.
func (f *failure) ended() bool {
	switch sqlState(f.err) {
	case "57P01", "57P02", "57P03", "57P05":
		return true
	default:
		return false
	}
}

// stale tells whether a prepared statement no longer fits the schema or is gone, or may not
// fit the types that its parameters had. Postgres finds that when it parses or binds: the
// statement did not begin. What ends the connection, or a wait for a lock, is no such thing.
func (f *failure) stale() bool {
	pg := f.server()
	if pg == nil || pg.SeverityUnlocalized != "ERROR" || f.executed {
		return false
	}
	if f.announced && f.at == analysing && (sqlClass(pg.Code) == "42" || sqlClass(pg.Code) == "XX") {
		return true // the types given do not fit, or are gone
	}
	return pg.Code == undefinedStatement || pg.Code == featureNotThere && pg.Routine == "RevalidateCachedQuery"
}

// repeatable tells whether the statement certainly did not run, and may run if repeated:
//
//   - nothing was sent;
//   - the server ended the connection before the prelude's answer. Answers come in order
//     and the prelude runs first, so the statement had not begun. A connection that merely
//     broke tells nothing: the server may have committed before the break;
//   - the prepared statement was stale, and no other one ran before it;
//   - the server takes no writes. That is an error, so the transaction was rolled back, and
//     the next connection is made to a server that does.
func (f *failure) repeatable() bool {
	switch {
	case f.refused != nil:
		return false
	case f.unsent, f.stale() && f.reached < completed, f.writesElsewhere():
		return true
	default:
		return f.ended() && f.reached == unbegun
	}
}

// writesElsewhere tells whether writes are to go to another database now. A trigger that raises the same has run.
func (f *failure) writesElsewhere() bool {
	pg := f.server()
	return pg != nil && pg.Code == readOnly && pg.Routine != raiseRoutine && !f.readOnly
}

// reshaped tells whether the check of the tables' shapes failed (shapesSQL). Any other error of it tells nothing of them.
func (f *failure) reshaped() bool { return f.at == checking && sqlState(f.err) == divisionByZero }

// undone tells whether the statement certainly left nothing behind. What the server
// reported before the statement's end, it reported instead of a commit; without a Sync
// there is none; and an error that is not fatal rolls back even where it takes the
// commit's place.
func (f *failure) undone(st *statement) bool {
	switch pg := f.server(); {
	case !st.mayWrite, !f.synced, f.unsent:
		return true
	case pg == nil:
		return false
	case pg.SeverityUnlocalized == "ERROR":
		return true
	default:
		return f.ended() && f.reached < completed // told by the server, not by a pooler
	}
}

// class is the class for Recorder.UpstreamError; "" for what is the caller's mistake alone,
// and for a connection that was not there, which acquire counts.
func (f *failure) class() string {
	switch {
	case errors.Is(f.err, values.ErrLimit), errors.Is(f.err, frame.ErrTooLong):
		return classTooLarge
	case f.refused != nil && f.refused.Code == policy.Internal:
		return classInternal
	case f.refused != nil:
		return ""
	case f.ended():
		return classShutdown
	case f.stale():
		return classStale
	case f.reshaped():
		return classSchema
	}
	switch state := sqlState(f.err); {
	case f.writesElsewhere():
		return classReadOnly
	case state == queryCanceled:
		return classTimeout
	case state != "":
		return classStatement
	case f.outlived:
		return classTimeout
	default:
		return classNetwork
	}
}
