package upstream

import (
	"context"
	"fmt"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// exchange is one proxy.Exchange under way on a link. Its steps are written in order, and for
// each of them it is noted what answers are to come (replies.go). They are read when all is
// written; before that where much is: a server that waits for us to read takes no more than
// its socket does.
type exchange struct {
	talk
	link *Link // nil: there is none under way
	of   *proxy.Exchange
	out  *frame.Writer

	answers []answer // to come, and what is to be said between them
	due     int      // those of answers that were given
	writing int      // the step that is being written
	pending bool     // something was written for the database since the last flush
	making  []*plan  // statements whose preparation was written and not confirmed
	review  bool     // a change's result can still be refused: it is read before the commit

	at         phase // of the answer being read
	reached    reach
	synced     bool // the Sync was sent
	ended      bool // a step ended a transaction
	committing bool // a COMMIT was written
	reading    *answer
	time       time.Duration // that a statement has
	start      time.Time
	client     error // what became of the client's connection
	free       bool  // the transaction has ended
	bytes      int64 // of rows
	unnamed    *plan // what was prepared last, where nothing may be named
	was        struct{ held, opened, explicit bool }
}

// statementTime bounds a statement whose approval says nothing, such as a COMMIT.
const statementTime = 5 * time.Second

func (e *exchange) begin(ctx context.Context, l *Link, x *proxy.Exchange, out *frame.Writer) {
	answers, making := e.answers[:0], e.making[:0]
	*e = exchange{talk: talk{ctx: ctx}, link: l, of: x, out: out, answers: answers, making: making, start: time.Now()}
	e.time = e.limit()
	e.was.held, e.was.opened, e.was.explicit = l.held, l.opened, l.explicit
	if l.held {
		e.attach()
	}
}

// attach takes the link's connection into use.
func (e *exchange) attach() {
	e.s = e.link.lease.session
	e.s.wire.begin()
	e.s.wire.in.Most = maxAnswer
	for range e.s.statements.deallocate(&e.s.wire) {
		e.expect(answer{kind: ownClosed})
		e.pending = true
	}
	e.s.alarm.set(e.ctx, time.Now().Add(e.time+grace))
}

// maxAnswer bounds what is no row, in bytes.
const maxAnswer = 1 << 20

// keptAnswers is how many answers an exchange keeps memory for.
const keptAnswers = 256

// forget drops everything that is somebody's.
func (e *exchange) forget() {
	clear(e.answers)
	clear(e.making)
	answers, making := e.answers[:0], e.making[:0]
	if cap(answers) > keptAnswers {
		answers, making = nil, nil
	}
	*e = exchange{answers: answers, making: making}
}

// limit is the time that a statement has.
func (e *exchange) limit() time.Duration {
	limit := statementTime
	if a := e.approved(); a != nil && a.Limits().StatementTimeout > 0 {
		limit = a.Limits().StatementTimeout
	}
	if t := e.of.Timeout; t > 0 && t < limit {
		limit = t
	}
	return limit
}

// approved is what the exchange's limits come from: that of its first statement.
func (e *exchange) approved() *policy.Approved {
	if e.of.Begin != nil {
		return e.of.Begin
	}
	for i := range e.of.Steps {
		if a := approvedOf(&e.of.Steps[i]); a != nil {
			return a
		}
	}
	return nil
}

// run does the exchange, and leaves the connection between two of them, or closed.
func (e *exchange) run() error {
	err := e.all()
	if e.s == nil {
		return err
	}
	if err != nil {
		e.settle()
	}
	if e.broken || e.deaf || !e.s.wire.idle() {
		e.link.giveUp()
	}
	e.s.alarm.off()
	if e.s.left || e.free {
		e.link.release()
	}
	e.link.pool.cfg.Recorder.Stage("upstream", time.Since(e.start).Seconds())
	return err
}

// all writes every step and reads every answer.
func (e *exchange) all() error {
	if e.of.Begin != nil || e.of.Resettle || len(e.of.Steps) == 0 {
		if err := e.open(); err != nil {
			return err
		}
	}
	for i := range e.of.Steps {
		e.writing = i
		if err := e.step(&e.of.Steps[i]); err != nil {
			return e.after(err)
		}
		if e.pending && len(e.s.wire.out.Buf) > maxBehind {
			if err := e.catchUp(); err != nil {
				return err
			}
		}
	}
	e.writing = len(e.of.Steps)
	if e.ends() && !e.review {
		e.sync()
	}
	if err := e.catchUp(); err != nil || e.synced || !e.ends() {
		return err
	}
	e.sync()
	return e.catchUp()
}

// ends tells whether there is something for a Sync to end.
func (e *exchange) ends() bool {
	return e.of.Commit && e.link.held && (e.link.unsynced || e.pending || e.s.wire.sent)
}

// after gives the error of a step that was not written, when those before it are answered.
func (e *exchange) after(err error) error {
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
	e.synced, e.pending = true, true
	e.expect(answer{kind: readied})
}

// catchUp sends what was written and gives the client all answers to it.
func (e *exchange) catchUp() error {
	if e.pending {
		if err := e.flush(); err != nil {
			return err
		}
	}
	for ; e.due < len(e.answers); e.due++ {
		e.reading = &e.answers[e.due]
		if err := e.answer(e.reading); err != nil {
			return err
		}
	}
	e.answers, e.due, e.reading = e.answers[:0], 0, nil
	return nil
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

func (e *exchange) expect(a answer) { e.answers = append(e.answers, a) }
