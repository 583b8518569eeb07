package proxy

import "time"

// long is from which mean time on what is done for a server takes long: a statement that looks a row up by its key
// takes less, also where processors are short.
const long = 3 * time.Millisecond

// protected is how many statements the others must have at work, on average and together, to be protected
// in full. Where they have less, a server beside them may have so much more: who asks for little loses little of
// its rate while each answer takes longer.
const protected = 0.25

// enter begins something, and tells whether it has: not while others of the project wait, unless it is
// the first of its server's or has no more than its share.
func (w *Work) enter(a Account, first bool) (Job, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	heavy, wait := w.judge(a, w.now())
	if wait || heavy && !first && w.lines[a.Project] != nil {
		return Job{}, false
	}
	w.add(a, 1)
	if heavy {
		w.heavy[a.Project]++
	}
	return Job{of: a, heavy: heavy}, true
}

// judge tells whether a server had more than its fair share over the last second, and whether it has to wait.
func (w *Work) judge(a Account, now time.Time) (heavy, wait bool) {
	one := w.of[a]
	if one == nil || a == (Account{}) { // which is this program
		return false, false
	}
	if w.sweep(now, lately/2); w.alone() {
		return false, false
	}
	w.all.pass(now)
	one.pass(now)
	share := w.share(one)
	if one.average > share {
		return true, one.takesLong() || one.running >= w.few || w.heavy[a.Project] >= w.few
	}
	most := w.burst
	if w.lines[a.Project] != nil {
		most = w.few
	}
	return false, one.running >= most && float64(one.running) > share
}

// alone tells whether no more than one server is active, whatever this program does for itself.
func (w *Work) alone() bool {
	servers := len(w.of)
	if w.of[Account{}] != nil {
		servers--
	}
	return servers <= 1
}

// share is how much a server may have at work on average: half as much again as each would have if all that are
// active had the same, or what the others can bear, whichever is more. Those who have a quarter of a statement at work
// or more bear a quarter of a few, at least half a statement; who has a tenth of that bears ten times as much.
func (w *Work) share(one *load) float64 {
	equal := max(w.all.average, float64(w.all.working())) / float64(len(w.of))
	others := max(w.all.average-one.average, 0.001)
	return max(1.5*equal, max(float64(w.few)/4, 0.5)*max(protected/others, 1))
}
