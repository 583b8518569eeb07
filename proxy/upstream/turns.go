package upstream

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// turns are the rights to use a connection: one for each. While all are taken, whoever comes
// waits in the line of its server, and a turn that is given back goes to the server that
// holds the fewest, of those that have waited longest: one with a thousand statements waiting
// keeps another's waiting for the end of one statement. Where there are four connections or
// more, no server holds more than three quarters of them, so that statements which take long
// don't leave the others none at all.
type turns struct {
	most int // turns that a server may hold

	mu      sync.Mutex
	free    int
	servers map[string]*share // those that hold a turn or wait for one
	lines   []list.List       // of *share that wait, by the number of turns that they hold
	waiting int
	spare   []*share // not in use, at most as many as most
}

// share is what one server has of the turns.
type share struct {
	server  string
	held    int
	waiting list.List     // of chan struct{}, closed when its turn comes
	at      *list.Element // in lines[level]; nil: nobody waits
	level   int
}

func newTurns(n int) *turns {
	most := proxy.Share(n)
	return &turns{most: most, free: n, servers: map[string]*share{}, lines: make([]list.List, most+1)}
}

// take waits for a turn: where none comes within patience errFull, or errShare where the server
// holds as many as it may; else the context's error.
func (t *turns) take(ctx context.Context, server string, patience time.Duration) error {
	turn := t.join(server)
	if turn == nil {
		return nil
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	why := errFull
	select {
	case <-turn.Value.(chan struct{}):
		return nil
	case <-timer.C:
	case <-ctx.Done():
		why = ctx.Err()
	}
	came, share := t.leave(server, turn)
	switch {
	case came:
		return nil // in the same moment
	case share && why == errFull: //nolint:errorlint // it is set above
		return errShare
	}
	return why
}

// join takes a turn, if there is one, and gives nil; else it gives a place in the line.
func (t *turns) join(server string) *list.Element {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.of(server)
	if t.free > 0 && s.held < t.most {
		t.free--
		s.held++
		return nil
	}
	t.waiting++
	turn := s.waiting.PushBack(make(chan struct{}))
	t.line(s)
	return turn
}

// of gives the server's share, a new one where it had none.
func (t *turns) of(server string) *share {
	if s := t.servers[server]; s != nil {
		return s
	}
	var s *share
	if last := len(t.spare) - 1; last >= 0 {
		s, t.spare = t.spare[last], t.spare[:last]
	} else {
		s = new(share)
	}
	s.server = server
	t.servers[server] = s
	return s
}

// leave gives up a place in the line, and tells whether the turn had come, and whether it can't
// come before the server gives one back.
func (t *turns) leave(server string, turn *list.Element) (came, share bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-turn.Value.(chan struct{}):
		return true, false
	default:
	}
	s := t.servers[server]
	s.waiting.Remove(turn)
	t.waiting--
	t.line(s)
	return false, s.held >= t.most
}

// give gives a turn back, to whoever is next.
func (t *turns) give(server string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free++
	s := t.servers[server]
	s.held--
	t.line(s)
	for held := range t.most {
		if first := t.lines[held].Front(); first != nil {
			t.call(first.Value.(*share))
			return
		}
	}
}

// call gives a turn to the first in a server's line.
func (t *turns) call(s *share) {
	t.free--
	t.waiting--
	s.held++
	close(s.waiting.Remove(s.waiting.Front()).(chan struct{}))
	t.line(s)
}

// line puts a server, of which something has changed, where it belongs now: in the line of
// those that hold as much, at its end where it was not in it, or nowhere.
func (t *turns) line(s *share) {
	waits := s.waiting.Len() > 0
	if s.at != nil && (!waits || s.level != s.held) {
		t.lines[s.level].Remove(s.at)
		s.at = nil
	}
	switch {
	case waits && s.at == nil:
		s.level, s.at = s.held, t.lines[s.held].PushBack(s)
	case !waits && s.held == 0:
		t.forget(s)
	}
}

// forget keeps a share for another server.
func (t *turns) forget(s *share) {
	delete(t.servers, s.server)
	s.server = ""
	if len(t.spare) < t.most {
		t.spare = append(t.spare, s)
	}
}

// inLine counts those that wait.
func (t *turns) inLine() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.waiting
}
