package upstream

import (
	"fmt"

	"github.com/tenantgate/tenantgate/proxy/frame"
)

// finish checks the shapes, where that was not done yet, and commits.
func (r *run) finish() error {
	if !r.synced {
		r.s.writeShapes(r.st)
		if err := r.sync(); err != nil {
			return err
		}
	}
	if len(r.st.shapes) > 0 {
		r.at = checking
		if err := r.skip(frame.CommandComplete); err != nil {
			return err
		}
		r.at = running
	}
	// A deferred constraint fails here, in place of the commit.
	return r.ready()
}

// ready reads the end of the transaction.
func (r *run) ready() error {
	for {
		kind, body, err := r.next()
		if err != nil {
			return err
		}
		switch {
		case kind == frame.ReadyForQuery && string(body) == "I":
			return nil
		case kind == frame.ReadyForQuery:
			r.broken = true
			return fmt.Errorf("the transaction has not ended: %w", frame.ErrMalformed)
		}
	}
}

// drain makes sure that nothing of a failed run remains, and that the answers end. Where
// the Sync was not sent, the transaction is open or has failed; ROLLBACK ends the one and
// is skipped in the other, and in no case is the Sync after it a commit.
func (r *run) drain() {
	w := &r.s.wire
	if r.broken || !w.sent {
		return
	}
	if !r.synced {
		w.undo()
		w.sync()
		if w.flush() != nil { // and the transaction fails with the connection
			r.broken = true
			return
		}
	}
	for r.ready() != nil && !r.broken {
		// the errors of what was skipped, and of a ROLLBACK in a failed transaction
	}
}
