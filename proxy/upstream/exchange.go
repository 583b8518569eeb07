package upstream

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// exchange is one proxy.Exchange under way on a link. Its steps are written in order, and for
// each of them it is noted what answers are to come (exchange_replies.go). They are read when all is
// written; before that where much is: a server that waits for us to read takes no more than
// its socket does.
type exchange struct {
	talk
	link    *Link // nil: there is none under way
	request *proxy.Exchange
	out     *frame.Writer
	json    *jsonResult // what runs in place of steps; nil: nothing

	answers   []answer // to come, and what is to be said between them
	answered  int      // those of answers that were given
	writing   int      // the step that is being written
	hadTurn   bool     // it has waited for a turn, which an unknown text would have needed
	pending   bool     // something was written for the database since the last flush
	preparing []*plan  // statements whose preparation was written and not confirmed
	unread    bool     // of what was written, a result can still be refused: it is read before what a refusal could not undo

	at           phase // of the answer being read
	reached      reach
	synced       bool // the Sync was sent
	ended        bool // a step ended a transaction
	committing   bool // a COMMIT was written
	reading      *answer
	timeLimit    time.Duration // that a statement has
	clientErr    error         // what became of the client's connection
	free         bool          // the transaction has ended
	bytes        int64         // of rows
	unnamed      *plan         // what was prepared last, where nothing may be named
	mayMakeZones bool          // something in it may make time zones
	attached     time.Time
	end          struct {
		at   int   // in the client's buffer: where the last statement's end begins
		sent int64 // when that was there; -1: there is none
	}
	atStart struct{ held, opened, explicit bool }
}

// run does the exchange, and leaves the connection between two of them, or closed. What is to
// be known of a failure is found out while the connection is the link's.
func (e *exchange) run() (f *linkFailure) {
	err := e.all()
	e.request.Unsent = (err == nil || e.atStart.held) && (e.s == nil || !e.s.wire.sent)
	if err != nil && e.s != nil {
		e.drain()
	}
	if e.s != nil && (e.broken || e.unconfirmed || !e.s.wire.idle()) {
		e.link.giveUp()
		if err == nil && !e.free {
			err = errGivenUp
		}
	}
	if err != nil {
		f = e.failure(err)
		e.endLost(f)
	}
	e.request.Executed = e.request.Executed || f != nil && f.executed // in either attempt
	if f != nil && !f.rolledBack && e.request.Query {
		e.retract()
	}
	if e.s == nil {
		return f
	}
	e.s.alarm.off()
	if e.mayMakeZones {
		e.s.zoned += time.Since(e.attached)
	}
	if e.s.abandoned || e.free {
		e.link.release()
	}
	e.recordTime()
	return f
}

// recordTime reports how long the exchange took, and how much of it to write rows as JSON.
func (e *exchange) recordTime() {
	rec, took := e.link.pool.cfg.Recorder, e.elapsed()
	if e.json == nil || e.json.first.IsZero() {
		rec.Stage("upstream", took.Seconds())
		return
	}
	first := e.json.first.Sub(e.attached)
	rec.Stage("upstream", first.Seconds())
	rec.Stage("encode", (took - first).Seconds())
}

// elapsed is how long the exchange has had its connection.
func (e *exchange) elapsed() time.Duration {
	if e.s == nil {
		return 0
	}
	return time.Since(e.attached)
}

// errGivenUp is for a transaction that would go on, on a connection that can't be used any more,
// though all of its statements were done.
var errGivenUp = errors.New("the connection was given up within a transaction")

// all writes every step and reads every answer.
func (e *exchange) all() error {
	if err := e.checked(); err != nil {
		return err
	}
	e.settings()
	if e.request.Begin.Valid() || !e.link.failed && (e.request.Resettle || len(e.request.Steps) == 0 && e.json == nil) {
		if err := e.open(); err != nil {
			return err
		}
	}
	if e.json != nil {
		if err := e.writeJSON(); err != nil {
			return err
		}
	}
	for i := range e.request.Steps {
		e.writing = i
		if err := e.step(&e.request.Steps[i]); err != nil {
			return e.answerEarlier(err)
		}
		if e.pending { // then there is a connection
			if err := e.catchUpBefore(len(e.s.wire.out.Buf)); err != nil {
				return err
			}
		}
	}
	e.writing = len(e.request.Steps)
	if e.needsSync() && (!e.unread || e.link.explicit && !e.committing || !e.changes()) { // within a block a Sync commits nothing
		e.sync()
	}
	if err := e.catchUp(); err != nil || e.synced || !e.needsSync() {
		return err
	}
	e.sync()
	return e.catchUp()
}

// checked refuses what no front end may ask for: to open a transaction by something else than a BEGIN, or to set what
// the policy has not given.
func (e *exchange) checked() error {
	if b := e.request.Begin; b.Valid() && (b.Approved().Command().Verb != policy.Begin || b.Server() != e.link.server || !isCommand(b.SQL())) {
		return defect("what opens a transaction is no BEGIN of the server's")
	}
	if slices.Contains(e.request.Settings, policy.Setting{}) {
		return defect("a setting without approval reached upstream")
	}
	return nil
}

// needsSync tells whether there is something for a Sync to end.
func (e *exchange) needsSync() bool {
	return e.request.Commit && e.link.held && (e.link.unsynced || e.pending || e.s.wire.sent)
}

// answerEarlier gives the error of a step that was not written, when those before it are answered.
func (e *exchange) answerEarlier(err error) error {
	if e.reading != nil {
		return err // it is one of those
	}
	if earlier := e.catchUp(); earlier != nil {
		return earlier
	}
	return err
}

// sync writes the end of the exchange.
func (e *exchange) sync() {
	e.s.wire.sync()
	e.synced, e.pending, e.link.midway = true, true, false
	e.expect(answer{kind: readReady})
}

// catchUp sends what was written and gives the client all answers to it.
func (e *exchange) catchUp() error {
	if e.pending {
		if err := e.flush(); err != nil {
			return err
		}
	}
	for ; e.answered < len(e.answers); e.answered++ {
		e.reading = &e.answers[e.answered]
		if err := e.answer(e.reading); err != nil {
			return err
		}
	}
	clear(e.answers) // nothing of a server's stays in what is used again
	e.answers, e.answered, e.reading = e.answers[:0], 0, nil
	e.link.cursors.answered()
	return nil
}

// catchUpBefore catches up where so many bytes are too many to be sent before anything is read: Postgres must not wait for us
// to read while we wait for it to do so.
func (e *exchange) catchUpBefore(bytes int) error {
	if !e.pending || bytes <= maxBehind {
		return nil
	}
	return e.catchUp()
}

// flush sends what was written, unless nobody waits for it any more: a cancellation of what
// was not sent would meet an idle server.
func (e *exchange) flush() error {
	e.pending = false
	e.link.unsynced = !e.synced
	if err := e.ctx.Err(); err != nil {
		e.s.wire.out.Buf, e.synced = e.s.wire.out.Buf[:0], false
		return err
	}
	if !e.synced {
		e.s.wire.askNow()
	}
	if err := e.s.wire.flush(); err != nil {
		e.broken = true
		return fmt.Errorf("sending statements: %w", err)
	}
	e.s.statements.deallocated()
	return nil
}

// maxBehind bounds what is sent before anything is read, in bytes: a server that waits for us to
// read its rows takes no more than its socket does, and we would wait for it.
const maxBehind = 16 << 10

func (e *exchange) expect(a answer) { e.answers = append(e.answers, a) }
