package proxy

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Why there is no turn. Both of the others are ErrNoTurn, too.
var (
	ErrNoTurn       = errors.New("all are in use")
	ErrServerShare  = fmt.Errorf("the server's share is in use: %w", ErrNoTurn)
	ErrProjectShare = fmt.Errorf("the project's share is in use: %w", ErrNoTurn)
)

// Whose tells whose share was in use: that of a "server", a "project", or "all".
func Whose(err error) string {
	switch {
	case errors.Is(err, ErrServerShare):
		return "server"
	case errors.Is(err, ErrProjectShare):
		return "project"
	}
	return "all"
}

// Turns are the rights to use one of something that all servers share. While none is to be had,
// whoever comes waits in the line of its server, and a turn that is given back goes to the
// project that holds the fewest, of those that have waited longest, and there to such a server:
// one with a thousand statements waiting keeps another's waiting for the end of one statement.
// No project and no server holds all (share.go), so that what takes long doesn't leave the
// others none, and some turns are kept for those that hold none.
type Turns struct {
	shares

	mu       sync.Mutex
	free     int
	projects map[string]*share // those that hold a turn or wait for one
	lines    lines             // of projects, one of whose servers may have a turn
	waiting  int
	spare    []*share  // not in use, at most spareShares
	idle     sync.Pool // of *queued that do not wait
}

// spareShares is how many shares are kept that nobody has.
const spareShares = 64

// share is what a project has of the turns, or a server.
type share struct {
	name string
	held int

	at    *list.Element // in the line of those that hold as many; nil: in none
	level int           // whose line that is

	servers map[string]*share // of a project: those that hold a turn or wait for one
	lines   lines             // of a project: its servers that wait
	waiting list.List         // of a server: of *queued
}

// queued is one that waits for a turn.
type queued struct {
	turn  chan struct{} // gets something when the turn comes
	timer *time.Timer   // of its patience
	in    *list.Element // its place in the line of its server
}

// NewTurns makes n turns. A project holds at most projectShare percent of them; where that
// is not from 1 to 100 it is DefaultProjectShare.
func NewTurns(n, projectShare int) *Turns {
	return &Turns{shares: sharesOf(n, projectShare), free: n, projects: map[string]*share{}}
}

// MostOfServer and MostOfProject are how many turns one of them holds at most.
func (t *Turns) MostOfServer() int  { return t.server.most }
func (t *Turns) MostOfProject() int { return t.project.most } //nolint:revive // the comment above is of both

// Take waits for a turn. Where none comes within patience the error says why: ErrServerShare,
// ErrProjectShare or ErrNoTurn; it is the context's where that ends first.
func (t *Turns) Take(ctx context.Context, a Account, patience time.Duration) error {
	w := t.join(a, patience)
	if w == nil {
		return nil
	}
	defer t.putBack(w)
	select {
	case <-w.turn:
		return nil
	case <-w.timer.C:
		return t.dequeue(a, w)
	case <-ctx.Done():
		if t.dequeue(a, w) == nil {
			return nil // it came in the same moment
		}
		return ctx.Err() //nolint:wrapcheck // it is the caller's
	}
}

// join takes a turn, if there is one, and gives nil; else it gives a place in the line.
func (t *Turns) join(a Account, patience time.Duration) *queued {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, s := t.of(a)
	if p.held < t.project.below(t.free) && s.held < t.ofServer(p) {
		t.hold(p, s, 1)
		return nil
	}
	t.waiting++
	w := t.newQueued(patience)
	w.in = s.waiting.PushBack(w)
	t.line(p, s)
	return w
}

// newQueued gives one that is in no line, its timer started.
func (t *Turns) newQueued(patience time.Duration) *queued {
	w, ok := t.idle.Get().(*queued)
	if !ok {
		return &queued{turn: make(chan struct{}, 1), timer: time.NewTimer(patience)}
	}
	w.timer.Reset(patience)
	return w
}

// putBack keeps one, whose turn was received or will never come, for somebody else.
func (t *Turns) putBack(w *queued) {
	w.timer.Stop()
	w.in = nil
	t.idle.Put(w)
}

// ofServer is how few turns a server of the project must hold to have one more.
func (t *Turns) ofServer(p *share) int { return t.server.below(t.project.most - p.held) }

// hold notes that a server holds so many turns more.
func (t *Turns) hold(p, s *share, n int) {
	t.free -= n
	p.held += n
	s.held += n
	t.line(p, s)
}

// of gives the shares of a project and a server, new ones where they had none.
func (t *Turns) of(a Account) (p, s *share) {
	p = t.projects[a.Project]
	if p == nil {
		p = t.fresh(a.Project)
		t.projects[a.Project] = p
	}
	s = p.servers[a.Server]
	if s == nil {
		s = t.fresh(a.Server)
		p.servers[a.Server] = s
	}
	return p, s
}

func (t *Turns) fresh(name string) (s *share) {
	if last := len(t.spare) - 1; last >= 0 {
		s, t.spare = t.spare[last], t.spare[:last]
	} else {
		s = &share{servers: map[string]*share{}}
	}
	s.name = name
	return s
}

// dequeue gives up a place in the line, and tells why no turn came; nil: it has come.
func (t *Turns) dequeue(a Account, w *queued) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-w.turn:
		return nil
	default:
	}
	p, s := t.of(a)
	s.waiting.Remove(w.in)
	t.waiting--
	why := t.why(p, s)
	t.line(p, s)
	return why
}

// why tells what keeps a server from a turn. Where the last ones are kept for those that hold none, these are
// the last of the project's share, or of all.
func (t *Turns) why(p, s *share) error {
	switch {
	case s.held >= t.server.most:
		return ErrServerShare
	case p.held >= t.project.most, s.held >= t.ofServer(p):
		return ErrProjectShare
	}
	return ErrNoTurn
}

// Give gives a turn back, to whoever is next.
func (t *Turns) Give(a Account) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, s := t.of(a)
	t.hold(p, s, -1)
	for p := t.lines.first(t.project.below(t.free)); p != nil; p = t.lines.first(t.project.below(t.free)) {
		s := p.lines.first(t.ofServer(p))
		s.waiting.Remove(s.waiting.Front()).(*queued).turn <- struct{}{}
		t.waiting--
		t.hold(p, s, 1)
	}
}

// Hold has an account hold n turns more than it does, or fewer where n is negative, whether or not
// they are free: what holds them is there already.
func (t *Turns) Hold(a Account, n int) {
	for ; n < 0; n++ {
		t.Give(a)
	}
	if n > 0 {
		t.mu.Lock()
		defer t.mu.Unlock()
		p, s := t.of(a)
		t.hold(p, s, n)
	}
}

// line puts a server, of which something has changed, and its project where they belong now.
func (t *Turns) line(p, s *share) {
	p.lines.put(s, s.waiting.Len() > 0)
	t.lines.put(p, p.lines.first(t.ofServer(p)) != nil)
	if s.held == 0 && s.waiting.Len() == 0 {
		t.dropShare(p.servers, s)
	}
	if p.held == 0 && len(p.servers) == 0 {
		t.dropShare(t.projects, p)
	}
}

// dropShare keeps a share for another server or project.
func (t *Turns) dropShare(from map[string]*share, s *share) {
	delete(from, s.name)
	s.name = ""
	if len(t.spare) < spareShares {
		t.spare = append(t.spare, s)
	}
}

// Contended tells how many turns more an account, or its project, holds than somebody who waits: one of another
// project, or another server of the same. It is 0 where who waits would hold more with one of its turns.
func (t *Turns) Contended(a Account) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.projects[a.Project]
	if p == nil {
		return 0
	}
	excess := t.lines.excess(p.held)
	if s := p.servers[a.Server]; s != nil {
		excess = max(excess, p.lines.excess(s.held))
	}
	return excess
}

// Waits tells whether somebody waits in the account's line.
func (t *Turns) Waits(a Account) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting == 0 {
		return false
	}
	p := t.projects[a.Project]
	return p != nil && p.servers[a.Server] != nil && p.servers[a.Server].waiting.Len() > 0
}

// Waiting counts those that wait.
func (t *Turns) Waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.waiting
}

// lines are shares that wait, by the number of turns that they hold.
type lines []*list.List

// put has a share wait in the line of those that hold as many, at its end where it was not in
// it, or in none.
func (l *lines) put(s *share, waits bool) {
	if s.at != nil && (!waits || s.level != s.held) {
		(*l)[s.level].Remove(s.at)
		s.at = nil
	}
	if !waits || s.at != nil {
		return
	}
	for len(*l) <= s.held {
		*l = append(*l, list.New())
	}
	s.level, s.at = s.held, (*l)[s.held].PushBack(s)
}

// first gives who is next of those that hold fewer turns; nil: nobody is.
func (l lines) first(below int) *share {
	for _, line := range l[:max(min(below, len(l)), 0)] {
		if first := line.Front(); first != nil {
			return first.Value.(*share)
		}
	}
	return nil
}

// excess tells how many turns more one that holds so many has than somebody who waits; 0 where that is not two, or
// one where who waits holds none.
func (l lines) excess(held int) int {
	if first := l.first(max(held-1, min(held, 1))); first != nil {
		return held - first.held
	}
	return 0
}
