package proxy

import (
	"sync"
	"time"
)

// Throttle bounds the processors' time that clients take for what costs nothing else: who is over has to pause.
// What is shared is a quarter of the processors. Each project that is active has an equal part of it, and
// each active server of the project an equal part of that; none has more than its share, alone or not (sharesOf).
// An account is active until what it took is paid off at that rate. A nil Throttle has nobody pause.
type Throttle struct {
	shares
	all int // thousandths of a processor, as the shares are
	now func() time.Time

	mu     sync.Mutex
	active map[string]map[string]time.Time // by project and server: when what it took is paid off
	swept  time.Time
}

const (
	throttled  = 250                   // thousandths of each processor that are shared
	burst      = 5 * time.Millisecond  // what one may owe without a pause
	maxPause   = 10 * time.Second      // and what it may owe at all
	maxTook    = 20 * time.Millisecond // that counts of one message: beyond, it waited for something
	sweepOwing = 100 * time.Millisecond
)

// NewThrottle makes one for so many processors. For the share of a project see NewTurns.
func NewThrottle(processors, projectShare int) *Throttle {
	all := throttled * processors
	return &Throttle{shares: sharesOf(all, projectShare), all: all, now: time.Now, active: map[string]map[string]time.Time{}}
}

// Spend counts time that was taken for an account, and tells how long it has to pause now.
func (t *Throttle) Spend(a Account, took time.Duration) time.Duration {
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	t.sweep(now)
	servers := t.active[a.Project]
	if servers == nil {
		servers = map[string]time.Time{}
		t.active[a.Project] = servers
	}
	owes := max(servers[a.Server].Sub(now), 0)
	servers[a.Server] = now // so that it counts as active
	owes = min(owes+time.Duration(float64(min(took, maxTook))/t.part(servers)), maxPause)
	servers[a.Server] = now.Add(owes)
	if owes <= burst {
		return 0
	}
	return owes
}

// part is how much of a processor each of a project's active servers has.
func (t *Throttle) part(servers map[string]time.Time) float64 {
	ofProject := min(float64(t.project.most), float64(t.all)/float64(len(t.active)))
	return min(float64(t.server.most), ofProject/float64(len(servers))) / 1000
}

// sweep forgets who owes nothing, unless it did so lately.
func (t *Throttle) sweep(now time.Time) {
	if now.Sub(t.swept) < sweepOwing {
		return
	}
	t.swept = now
	for project, servers := range t.active {
		for server, until := range servers {
			if !until.After(now) {
				delete(servers, server)
			}
		}
		if len(servers) == 0 {
			delete(t.active, project)
		}
	}
}
