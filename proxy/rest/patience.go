package rest

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// patience is a context that ends with its parent, which has no deadline, and at a time of
// its own. Most look-ups are answered from memory and wait for nothing: so the timer is
// made for the first who asks for Done.
type patience struct {
	parent   context.Context
	until    time.Time
	lookedUp *atomic.Bool // set once somebody waits
	watch    *watch       // looks whether the client is still there while somebody waits; nil: nobody does

	mu     sync.Mutex
	over   bool
	timed  context.Context // nil until somebody may wait
	cancel context.CancelFunc
}

// end ends it. It must be called, and may be more than once, by any goroutine.
func (p *patience) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	if p.timed != nil {
		p.cancel()
	}
}

// real gives the context that this one stands for.
func (p *patience) real() context.Context {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timed == nil {
		p.timed, p.cancel = context.WithDeadline(p.parent, p.until)
		p.lookedUp.Store(true)
		switch {
		case p.over:
			p.cancel()
		case p.watch != nil:
			p.watch.wakeUp()
		}
	}
	return p.timed
}

// awaited tells whether somebody may wait for it.
func (p *patience) awaited() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.timed != nil && !p.over
}

// stands tells whether nothing but the clock and the parent can have ended it.
func (p *patience) stands() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.timed == nil && !p.over
}

// Deadline implements context.Context, as all that follows.
func (p *patience) Deadline() (time.Time, bool) { return p.until, true }

func (p *patience) Done() <-chan struct{} { return p.real().Done() }

func (p *patience) Err() error {
	if p.stands() && p.parent.Err() == nil && time.Now().Before(p.until) {
		return nil
	}
	return p.real().Err()
}

// Value gives package context its own keys, too: a context made of this one, which asks
// for Done first, is cancelled by the real one without a goroutine.
func (p *patience) Value(key any) any {
	if p.stands() {
		return p.parent.Value(key)
	}
	return p.real().Value(key)
}
