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
	now := w.now()
	heavy, wait := w.holdsBack(a, first, now)
	if wait {
		return Job{}, false
	}
	return w.job(a, heavy, now), true
}

// HoldsBack tells whether Begin would make the account wait now.
func (w *Work) HoldsBack(a Account) bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, wait := w.holdsBack(a, false, w.now())
	return wait
}

// holdsBack is judge, and has a server that had more than its share wait behind others of its project that wait; unless it is the
// first of them. The lock is held.
func (w *Work) holdsBack(a Account, first bool, now time.Time) (heavy, wait bool) {
	heavy, wait = w.judge(a, now)
	return heavy, wait || heavy && !first && w.lines[a.Project] != nil
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
	for _, l := range w.counted(one) {
		l.pass(now)
	}
	lasting := one.lasting(now)
	share, average, running := w.share(one, lasting), one.average-lasting, one.running
	if lasting > 0 {
		running--
	}
	if average > share {
		return true, one.takesLong(average) || running >= w.few || w.heavy[a.Project] >= w.few
	}
	most := w.burst
	if w.lines[a.Project] != nil {
		most = w.few
	}
	return false, running >= most && float64(running) > share
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
// active had the same, or what the others can bear, whichever is more. Where its project has more than that among the
// projects, it may have no more than what the others can bear: else each of a few busy servers of one project would have its
// share beside one of another, and all together nearly everything. Who asks for little is never held back for its project,
// nor is who does three quarters of what the project does: it is judged by itself. What lasts is left out.
func (w *Work) share(one *load, lasting float64) float64 {
	equal := (max(w.all.average, float64(w.all.working())) - lasting) / float64(len(w.of))
	share := max(1.5*equal, w.bearable(one))
	if one.average < Share(one.project.average) && w.exceeds(one.project) {
		return min(share, w.bearable(one.project))
	}
	return share
}

// exceeds tells whether a project had more than its share over the last second. What all have at work just now does not
// count: that is mostly what its own servers began before their averages went up.
func (w *Work) exceeds(of *load) bool {
	return of.average > max(1.5*w.all.average/float64(len(w.projects)), w.bearable(of))
}

// bearable is how much of somebody the others can bear. Those who have a quarter of a statement at work or more bear a
// quarter of a few, at least half a statement; who has a tenth of that bears ten times as much.
func (w *Work) bearable(of *load) float64 {
	others := max(w.all.average-of.average, 0.001)
	return max(float64(w.few)/4, 0.5) * max(protected/others, 1)
}
