package upstream

import (
	"context"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// statementTime bounds a statement whose approval says nothing, such as a COMMIT.
const statementTime = 5 * time.Second

func (e *exchange) begin(ctx context.Context, l *Link, x *proxy.Exchange, out *frame.Writer) {
	answers, making := e.answers[:0], e.preparing[:0]
	*e = exchange{talk: talk{ctx: ctx}, link: l, request: x, out: out, json: l.json, answers: answers, preparing: making}
	e.timeLimit = e.limit()
	e.end.sent, x.Inserted = -1, 0
	l.cursors.answered()
	e.atStart.held, e.atStart.opened, e.atStart.explicit = l.held, l.opened, l.explicit
	if l.held {
		e.attach()
	}
}

// attach takes the link's connection into use.
func (e *exchange) attach() {
	e.s = e.link.lease.session
	if e.attached = time.Now(); !e.atStart.held {
		e.attached = e.link.lease.given
	}
	e.s.wire.begin()
	e.s.wire.in.Most = maxAnswer
	for range e.s.statements.deallocate(&e.s.wire) {
		e.expect(answer{kind: skipCloseComplete})
		e.pending = true
	}
	e.s.alarm.set(e.ctx, e.attached.Add(e.timeLimit+grace))
}

// maxAnswer bounds what is no row, in bytes.
const maxAnswer = 1 << 20

// keptAnswers is how many answers an exchange keeps memory for.
const keptAnswers = 256

// forget drops everything that is somebody's.
func (e *exchange) forget() {
	clear(e.answers)
	clear(e.preparing)
	answers, making := e.answers[:0], e.preparing[:0]
	if cap(answers) > keptAnswers {
		answers, making = nil, nil
	}
	*e = exchange{answers: answers, preparing: making}
}

// limit is the time that a statement has.
func (e *exchange) limit() time.Duration {
	if e.json != nil {
		return e.json.st.limits.StatementTimeout
	}
	limit := statementTime
	if a := e.approved(); a != nil && a.Limits().StatementTimeout > 0 {
		limit = a.Limits().StatementTimeout
	}
	if t := e.request.Timeout; t > 0 && t < limit {
		limit = t
	}
	return limit
}

// approved is what the exchange's limits come from: that of its first statement.
func (e *exchange) approved() *policy.Approved {
	if e.request.Begin.Valid() {
		return e.request.Begin.Approved()
	}
	for i := range e.request.Steps {
		if a := approvedOf(&e.request.Steps[i]); a != nil {
			return a
		}
	}
	return nil
}
