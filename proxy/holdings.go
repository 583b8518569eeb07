package proxy

import "sync"

// Holdings count what accounts hold of something that all share, such as bytes. They are not safe for concurrent
// use: their owner has a lock.
type Holdings struct {
	shares
	total, taken int
	projects     map[string]int
	servers      map[Account]int
}

// NewHoldings count up to n. A project holds at most projectShare percent of that; where that
// is not from 1 to 100 it is DefaultProjectShare. The last ones are kept for projects and servers that hold none, as with
// Turns; each of those gets half of them at most.
func NewHoldings(n, projectShare int) *Holdings {
	return &Holdings{shares: sharesOf(n, projectShare), total: n, projects: map[string]int{}, servers: map[Account]int{}}
}

// Take counts n more for an account, or tells why it can't: as Turns.Take.
func (h *Holdings) Take(a Account, n int) error {
	switch {
	case n == 0:
		return nil
	case h.servers[a]+n > h.server.most:
		return ErrServerShare
	case h.projects[a.Project]+n > h.project.most:
		return ErrProjectShare
	case !h.server.spares(h.servers[a], n, h.project.most-h.projects[a.Project]):
		return ErrProjectShare
	case !h.project.spares(h.projects[a.Project], n, h.total-h.taken):
		return ErrNoTurn
	}
	h.count(a, n)
	return nil
}

// Give gives n back.
func (h *Holdings) Give(a Account, n int) { h.count(a, -n) }

// Taken is how much all hold together.
func (h *Holdings) Taken() int { return h.taken }

// count notes n more.
func (h *Holdings) count(a Account, n int) {
	h.taken += n
	if h.servers[a] += n; h.servers[a] == 0 {
		delete(h.servers, a)
	}
	if h.projects[a.Project] += n; h.projects[a.Project] == 0 {
		delete(h.projects, a.Project)
	}
}

// Tally is Holdings that many may use at a time.
type Tally struct {
	mu   sync.Mutex
	held *Holdings
}

// NewTally counts up to n, as NewHoldings.
func NewTally(n, projectShare int) *Tally { return &Tally{held: NewHoldings(n, projectShare)} }

// Take counts n more for an account, or tells why it can't, as Holdings.Take.
func (t *Tally) Take(a Account, n int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.held.Take(a, n)
}

// Give gives n back.
func (t *Tally) Give(a Account, n int) {
	if n == 0 {
		return // as mostly
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held.Give(a, n)
}

// Taken is how much all hold together.
func (t *Tally) Taken() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.held.Taken()
}
