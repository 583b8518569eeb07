package upstream

import (
	"fmt"
	"time"

	"github.com/tenantgate/tenantgate/proxy/frame"
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
	settling               // the client's settings
)

// run is one attempt at one statement on one connection.
type run struct {
	talk
	st    *statement
	types *types
	enc   encoder

	descriptions *descriptions
	announced    *described // what is taken to be known of the text; nil: it is prepared already, or was described

	zones    bool // it may make time zones
	unknown  bool // the connection had not prepared the text
	opened   bool // the prelude's answer was read
	synced   bool // the Sync was sent: the server commits what succeeds
	ended    bool // the connection is ready or closed
	executed bool // the statement took its values
	reached  reach
	at       phase // of the answer being read

	start, first, end time.Time
}

// execute runs the statement and leaves the connection either ready or closed. The error
// is an *proxy.Error where this program itself refused, a *pgconn.PgError where the server
// did, else the connection's.
func (r *run) execute(dst []byte) (Result, error) {
	w := &r.s.wire
	w.begin()
	r.s.alarm.set(r.ctx, r.start.Add(r.st.limits.StatementTimeout+grace))
	res, err := r.exchange(dst)
	if err != nil {
		r.drain()
	}
	r.end = time.Now()
	if r.broken || r.deaf || !w.idle() {
		r.s.giveUp()
	}
	r.s.alarm.off()
	r.ended = true
	return res, err
}

// exchange sends everything and reads the answers up to the end of the transaction.
func (r *run) exchange(dst []byte) (Result, error) {
	if r.s.conn.Frontend().ReadBufferLen() > 0 { // half a message, which nobody will ever read
		r.broken = true
		return Result{}, frame.ErrMalformed
	}
	p, err := r.prepare()
	if err != nil {
		return Result{}, err
	}
	if err := r.send(p); err != nil {
		return Result{}, err
	}
	if err := r.opening(); err != nil {
		return Result{}, err
	}
	if err := r.confirm(p); err != nil {
		return Result{}, err
	}
	res, err := r.rows(p, dst)
	if err != nil {
		return res, err
	}
	return res, r.finish()
}

// prepare begins the transaction and finds out how the statement's values are sent and its
// rows are read.
func (r *run) prepare() (*plan, error) {
	r.zones = r.st.bound.Valid() && r.st.bound.Approved().Zones()
	r.s.statements.renew(r.descriptions)
	p := r.encoded(r.kept().get(r.st.exact))
	r.s.statements.deallocate(&r.s.wire)
	r.s.writePrelude(r.st)
	if r.unknown = p == nil; r.unknown {
		p = r.announce()
	}
	if p == nil {
		return r.describe()
	}
	return p, nil
}

// kept are the connection's prepared statements, if the run's may be one of them; else nil.
func (r *run) kept() *statements {
	if r.st.fleeting || r.st.plan > planMost {
		return nil
	}
	return r.s.statements
}

// encoded gives a plan with what JSON needs of it; nil where a type is not known any more.
func (r *run) encoded(p *plan) *plan {
	if p == nil || p.head != nil {
		return p
	}
	full := newPlan(p.sql, p.name, p.said, r.types)
	if full == nil {
		r.s.statements.drop(p.sql)
		return nil
	}
	full.of, full.bytes = p.of, p.bytes
	*p = *full
	return p
}

// send sends the statement and what follows it.
func (r *run) send(p *plan) error {
	if err := r.ctx.Err(); err != nil {
		return err // a cancellation between two round trips meets an idle server
	}
	r.bound(p.columns)
	if r.st.bound.Valid() {
		r.zones = r.zones || zoneIn(r.st.bound, p.said)
	}
	w := &r.s.wire
	if refused := r.st.bind(w, p); refused != nil {
		w.out.Buf = w.out.Buf[:0]
		return refused
	}
	here := len(w.out.Buf)
	r.s.writeShapes(r.st)
	if r.st.reviewed() || len(w.out.Buf)-here > maxBehind {
		w.out.Buf = w.out.Buf[:here]
		w.askNow()
		return r.flush()
	}
	return r.sync()
}

// maxBehind bounds what is sent behind a statement, in bytes: a server that waits for us to
// read its rows takes no more than its socket does, and we would wait for it.
const maxBehind = 16 << 10

// sync sends what was written and the end of the transaction.
func (r *run) sync() error {
	r.s.wire.sync()
	r.synced = true
	return r.flush()
}

func (r *run) flush() error {
	err := r.s.wire.flush()
	if err != nil {
		r.broken = true
		return fmt.Errorf("sending a statement: %w", err)
	}
	r.s.statements.deallocated()
	return nil
}

// opening reads the answers that precede the statement's.
func (r *run) opening() error {
	if r.opened {
		return nil
	}
	if err := r.skip(frame.CommandComplete); err != nil {
		return err
	}
	r.opened, r.reached = true, begun
	return nil
}
