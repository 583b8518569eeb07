package upstream

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// rows passes on what a statement answers: rows as they come, in whole buffers, without a
// look at what is in them.
func (e *exchange) rows(a *answer) error {
	e.s.alarm.set(e.ctx, time.Now().Add(e.time+grace))
	e.bytes = 0
	for count := 0; ; {
		kind, size, err := e.head()
		switch {
		case err != nil:
			return err
		case kind == frame.DataRow || kind == frame.CopyData:
			if count, err = e.passRows(a, kind, count); err != nil {
				return err
			}
			continue
		case size > maxAnswer:
			return e.unexpected(kind)
		}
		kind, body, err := e.next()
		switch {
		case err != nil:
			return err
		case kind == frame.CommandComplete || kind == frame.PortalSuspended || kind == frame.EmptyQueryResponse:
			e.tellEnd(a, kind, body)
			return nil
		case kind == frame.CopyOutResponse || kind == frame.CopyDone:
			e.tellOne(a, kind, body)
		default:
			return e.unexpected(kind)
		}
	}
}

// tellEnd ends the rows of a statement.
func (e *exchange) tellEnd(a *answer, kind byte, body []byte) {
	e.reached = completed
	switch verbOf(a.step) {
	case policy.Commit, policy.Rollback:
		e.ended, e.link.failed, e.link.readOnly = true, false, false
		e.link.explicit = e.link.explicit && approvedOf(a.step).Command().Chain
	case policy.RollbackTo:
		e.link.failed = false
	}
	e.tellOne(a, kind, body)
}

func (e *exchange) tellOne(a *answer, kind byte, body []byte) {
	if a.kind == ownRows {
		return
	}
	at := e.out.Open(kind)
	e.out.Raw(body)
	e.out.Shut(at)
}

// head waits for the head of the next message that is about the statement, and gives its type
// and its size in all.
func (e *exchange) head() (kind byte, size int, err error) {
	for {
		if err := e.wait(headSize); err != nil {
			return 0, 0, err
		}
		kind, length, err := e.s.wire.in.Head()
		if err != nil {
			e.broken = true
			return 0, 0, err
		}
		if !aside(kind) && kind != frame.NotificationResponse {
			return kind, length + headSize, nil
		}
		if _, _, err := e.s.wire.in.Next(); err != nil {
			e.broken = true
			return 0, 0, err
		}
	}
}

// headSize is the length of a message's type and length, in bytes.
const headSize = 5

// wait makes sure that n bytes are there unread. Who is woken calls the statement off and
// waits on.
func (r *talk) wait(n int) error {
	for {
		err := r.s.wire.in.Need(n)
		if err == nil {
			return nil
		}
		if errors.Is(err, os.ErrDeadlineExceeded) && r.woken() {
			continue
		}
		r.broken = true
		return fmt.Errorf("waiting for the database's answer: %w", err)
	}
}

// passRows passes on the rows that are there, all of one type, and gives their count, with
// those before.
func (e *exchange) passRows(a *answer, kind byte, count int) (int, error) {
	in := &e.s.wire.in
	from := in.At
	for in.Unread() >= headSize && in.Buf[in.At] == kind {
		size := 1 + int(binary.BigEndian.Uint32(in.Buf[in.At+1:]))
		if size < headSize {
			e.broken = true
			return count, frame.ErrMalformed
		}
		if size > in.Unread() {
			break
		}
		in.At += size
		count++
	}
	if in.At > from {
		return count, e.passed(a, in.Buf[from:in.At], count)
	}
	size := 1 + int(binary.BigEndian.Uint32(in.Buf[in.At+1:]))
	if size <= len(in.Buf) {
		return count, e.wait(size)
	}
	return count + 1, e.passLong(a, size, count+1)
}

// passed hands rows on, if the limits allow them.
func (e *exchange) passed(a *answer, b []byte, count int) error {
	if err := e.within(a, len(b), count); err != nil || a.kind == ownRows {
		return err
	}
	return e.pass(b)
}

// within holds a result to the policy's limits.
func (e *exchange) within(a *answer, size, count int) error {
	limits := approvedOf(a.step).Limits()
	e.bytes += int64(size)
	switch {
	case limits.MaxRows >= 0 && count > limits.MaxRows:
		e.stop()
		return tooLarge(strconv.Itoa(limits.MaxRows) + " rows")
	case limits.MaxResultBytes >= 0 && e.bytes > int64(limits.MaxResultBytes):
		e.stop()
		return tooLarge(strconv.Itoa(limits.MaxResultBytes) + " bytes")
	}
	return nil
}

// passLong passes on a row that will never be whole in the buffer, in pieces, so that its size
// costs no memory. Of one that breaks off the client has a part, and nothing more can be
// said to it.
func (e *exchange) passLong(a *answer, size, count int) error {
	in := &e.s.wire.in
	if err := e.within(a, size, count); err != nil {
		return err
	}
	for rest := size; rest > 0; {
		if in.Unread() == 0 {
			if err := e.wait(1); err != nil {
				return e.cut(a, err)
			}
		}
		b := in.Buf[in.At:min(in.At+rest, in.End)]
		in.At += len(b)
		rest -= len(b)
		if a.kind == ownRows {
			continue
		}
		if err := e.pass(b); err != nil {
			return err
		}
	}
	return nil
}

// cut is for a row of which the client has a part.
func (e *exchange) cut(a *answer, err error) error {
	if a.kind != ownRows {
		e.client = fmt.Errorf("a row broke off: %w", err)
	}
	return err
}

// settle brings an exchange that failed to its end: what was left out is passed over, and the
// transaction's state is known.
func (e *exchange) settle() {
	w, l := &e.s.wire, e.link
	switch {
	case e.broken:
		return
	case !w.sent:
		w.out.Buf = w.out.Buf[:0]
		l.opened, l.explicit, e.free = e.was.opened, e.was.explicit, !e.was.held
		return
	case !e.synced:
		w.out.Buf = w.out.Buf[:0]
		if !l.explicit { // it may have succeeded so far, and Sync would commit that
			w.parse("", "ROLLBACK")
			w.execute(w.bind("", 0))
		}
		w.sync()
		if w.flush() != nil {
			e.broken = true
			return
		}
	}
	if state := e.untilReady(); state != 0 {
		e.became(state)
	}
}

// failure tells what is known about the end of an exchange.
func (e *exchange) failure(err error) *linkFailure {
	s, place := e.failing()
	f := &linkFailure{st: e.statement(s), step: place, client: e.client, ended: e.ended}
	f.st.writes = f.st.writes || e.link.wrote // what was written before may be committed with it
	f.failure = failure{
		err: err, reached: e.reached, unsent: e.s == nil || !e.s.wire.sent, synced: e.synced && !e.link.explicit || e.ended || e.committing, at: e.at,
		outlived: e.late && !e.deaf && e.s != nil && (!e.s.pooled() || e.reached >= begun), elapsed: time.Since(e.start), readOnly: e.link.readOnly,
	}
	if e.committing && !f.unsent {
		f.reached = completed // Postgres answers a COMMIT after it has committed
	}
	errors.As(err, &f.refused)
	if f.stale() && e.reading != nil && e.reading.step != nil {
		e.dropStale(e.reading.step, sqlState(err) == undefinedStatement)
	}
	return f
}

// dropStale forgets what was known of a statement that does not fit the schema any more.
func (e *exchange) dropStale(s *proxy.Step, gone bool) {
	w := e.wantedFor(s)
	e.s.statements.drop(e.planKey(w))
	e.link.pool.descriptions.drop(w.key())
	if gone {
		e.s.statements.renew(math.MaxUint64) // somebody dropped the connection's statements: all of them
	}
}

// failing is the step that an error is about, and its place: that whose answer was being
// read, or that which could not be written.
func (e *exchange) failing() (s *proxy.Step, place int) {
	if e.reading != nil && e.reading.step != nil {
		s = e.reading.step
	} else if e.writing < len(e.of.Steps) {
		s = &e.of.Steps[e.writing]
	}
	for i := range e.of.Steps {
		if s == &e.of.Steps[i] {
			return s, i
		}
	}
	return nil, len(e.of.Steps)
}

// statement is what a step runs, for the errors.
func (e *exchange) statement(s *proxy.Step) *statement {
	st := newStatement()
	switch {
	case s == nil:
	case s.Bound.Valid():
		st.take(s.Bound)
	case approvedOf(s) != nil:
		st.takeApproved(approvedOf(s))
	}
	st.native, st.limits.StatementTimeout = true, e.time
	return st
}
