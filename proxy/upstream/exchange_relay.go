package upstream

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy/frame"
)

// passResult passes on what a statement answers: rows as they come, in whole buffers, without a
// look at what is in them.
func (e *exchange) passResult(a *answer) error {
	e.s.alarm.set(e.ctx, time.Now().Add(e.timeLimit+grace))
	had := e.link.portions.of(resultOf(a.step))
	e.bytes = had.bytes
	for count := had.rows; ; {
		kind, size, err := e.head()
		switch {
		case err != nil:
			return err
		case kind == frame.DataRow || kind == frame.CopyData:
			if count, err = e.passRows(a, kind, count); err != nil {
				return err
			}
			continue
		case size > maxAnswer && kind != frame.ErrorResponse:
			return e.unexpected(kind)
		}
		kind, body, err := e.next()
		switch {
		case err != nil:
			return err
		case kind == frame.CommandComplete || kind == frame.PortalSuspended || kind == frame.EmptyQueryResponse:
			e.endStatement(a, kind, body)
			if a.kind == skipRows {
				e.countInserted(body)
			}
			return e.countPortion(a.step, kind, count)
		case kind == frame.CopyOutResponse || kind == frame.CopyDone:
			e.passMessage(a, kind, body)
		default:
			return e.unexpected(kind)
		}
	}
}

// countInserted counts the rows of an INSERT that the client knows nothing of; Postgres tells the number last.
//
// https://www.postgresql.org/docs/18/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-COMMANDCOMPLETE
func (e *exchange) countInserted(body []byte) {
	tag := bytes.TrimSuffix(body, []byte{0})
	if rest, isInsert := bytes.CutPrefix(tag, []byte("INSERT 0 ")); isInsert {
		n, _ := strconv.ParseInt(string(rest), 10, 64)
		e.request.Inserted += n
	}
}

// endStatement ends the rows of a statement.
func (e *exchange) endStatement(a *answer, kind byte, body []byte) {
	e.reached = completed
	e.link.completed(approvedOf(a.step))
	switch verbOf(a.step) {
	case policy.Commit, policy.Rollback:
		e.ended, e.link.failed = true, false
		e.link.explicit = e.link.explicit && approvedOf(a.step).Command().Chain
	case policy.RollbackTo:
		e.link.failed = false
	}
	e.markEnd()
	e.passMessage(a, kind, body)
}

// markEnd notes where the end of a statement is told.
func (e *exchange) markEnd() { e.end.at, e.end.sent = len(e.out.Buf), e.out.Sent }

// retract takes back the last statement's end, where the commit behind it has failed.
func (e *exchange) retract() {
	a := e.reading
	commits := a != nil && (a.kind == readReady || a.kind == skipRows && verbOf(a.step) == policy.Commit)
	if commits && e.end.sent == e.out.Sent && e.end.at < len(e.out.Buf) {
		e.out.Buf = e.out.Buf[:e.end.at]
	}
}

func (e *exchange) passMessage(a *answer, kind byte, body []byte) {
	if a.kind == skipRows {
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
		if !isAside(kind) && kind != frame.NotificationResponse {
			return kind, length + headSize, nil
		}
		kind, body, err := e.s.wire.in.Next()
		if err != nil {
			e.broken = true
			return 0, 0, err
		}
		e.s.wire.noteAside(kind, body)
	}
}

// headSize is the length of a message's type and length, in bytes.
const headSize = 5

// wait makes sure that n bytes are there unread. At its deadline it has the statement cancelled, and
// waits on.
func (r *talk) wait(n int) error {
	for {
		err := r.s.wire.in.Need(n)
		if err == nil {
			return nil
		}
		if errors.Is(err, os.ErrDeadlineExceeded) && r.onDeadline() {
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
		return count, e.passWithin(a, in.Buf[from:in.At], count)
	}
	size := 1 + int(binary.BigEndian.Uint32(in.Buf[in.At+1:]))
	if size <= len(in.Buf) {
		return count, e.wait(size)
	}
	return count + 1, e.passLong(a, size, count+1)
}

// passWithin hands rows on, if the limits allow them.
func (e *exchange) passWithin(a *answer, b []byte, count int) error {
	if err := e.checkLimits(a, len(b), count); err != nil || a.kind == skipRows {
		return err
	}
	return e.pass(b)
}

// checkLimits holds a result to the policy's limits.
func (e *exchange) checkLimits(a *answer, size, count int) error {
	limits := approvedOf(a.step).Limits()
	e.bytes += int64(size)
	switch {
	case limits.MaxRows >= 0 && count > limits.MaxRows:
		return e.tooLarge(strconv.Itoa(limits.MaxRows) + " rows")
	case limits.MaxResultBytes >= 0 && e.bytes > int64(limits.MaxResultBytes):
		return e.tooLarge(strconv.Itoa(limits.MaxResultBytes) + " bytes")
	}
	return nil
}

// passLong passes on a row that will never be whole in the buffer, in pieces, so that its size
// costs no memory. Of one that breaks off the client has a part, and nothing more can be
// said to it; and what follows on the connection is the rest of a row, whose bytes can look
// like any message.
func (e *exchange) passLong(a *answer, size, count int) error {
	in, rest := &e.s.wire.in, size
	defer func() { e.broken = e.broken || 0 < rest && rest < size }()
	if err := e.checkLimits(a, size, count); err != nil {
		return err
	}
	for rest > 0 {
		if in.Unread() == 0 {
			if err := e.wait(1); err != nil {
				return e.cut(a, err)
			}
		}
		b := in.Buf[in.At:min(in.At+rest, in.End)]
		in.At += len(b)
		rest -= len(b)
		if a.kind == skipRows {
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
	if a.kind != skipRows {
		e.clientErr = fmt.Errorf("a row broke off: %w", err)
	}
	return err
}
