package control

import "sync"

// revision follows the store's revision number for the listener and the poller, and says
// when something was missed. Its zero value knows nothing yet.
type revision struct {
	mu        sync.Mutex
	seen      int64 // every change up to this one was applied to the caches; 0: unknown
	listening bool  // notifications are being received
}

// announced applies a notified change. Each has a number of its own, in the order of the
// commits; a gap means that one was lost, and then everything is dropped.
func (r *revision) announced(c change, forget func(change), forgetAll func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.seen == 0: // what came before is unknown: the first reading will say where we are
		forgetAll()
	case c.seq > r.seen+1:
		forgetAll()
		r.seen = c.seq
	default:
		forget(c)
		r.seen = max(r.seen, c.seq)
	}
}

// setListening notes that notifications arrive, or no longer do. What was lost on the way
// when they stopped shows as a gap at the next reading.
func (r *revision) setListening(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listening = on
}

// current gives the number up to which the caches are right, and whether notifications
// may still bring them further.
func (r *revision) current() (seen int64, listening bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen, r.listening
}

// catchUp is for a reading of the store's number that the caches are not at: everything
// is dropped, and the number is taken. before is what was seen when the reading began; a
// reading below it is of a store that went back in time.
func (r *revision) catchUp(read, before int64, forgetAll func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if read >= before && read <= r.seen {
		return
	}
	forgetAll()
	r.seen = read
}
