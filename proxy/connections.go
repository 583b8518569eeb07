package proxy

import (
	"container/list"
	"net/netip"
	"sync"
)

// Connections are the open connections of a front end, within their limits. When places run
// short, connections go that nobody is served on: first those that have not authenticated, the
// oldest first; then those that have, from the one whose last request is longest ago. Its methods are safe for concurrent use.
type Connections[C Connection] struct {
	limits  ConnectionLimits
	evicted func(authenticated bool) // nil: nobody is told

	mu       sync.Mutex
	open     map[C]*place
	waiting  list.List // of C: those that have not authenticated, the oldest first
	networks map[netip.Prefix]*network
}

// ConnectionLimits are how many connections there may be at a time.
type ConnectionLimits struct {
	Total                     int
	PerNetwork                int  // 0: no limit; see NetworkOf
	UnauthenticatedPerNetwork int  // 0: no limit
	KeepAuthenticated         bool // nobody who has authenticated goes for another's sake
}

// Connection is a connection as its front end knows it.
type Connection interface {
	comparable
	// Spare tells whether nobody is served on the connection, and since when, by any clock
	// that all share. It must not block.
	Spare() (since int64, spare bool)
	// Evict ends the connection at once and tells true, unless it is needed by now. It is
	// called from any goroutine, must not block and must not call Connections.
	Evict() bool
}

// place is what is known of an open connection.
type place struct {
	from   netip.Prefix
	queued *list.Element // in waiting; nil once it has authenticated
}

// network counts the connections from one network.
type network struct{ open, unauthenticated int }

// Admission says whether there is a place for a connection. Its zero value means that there is none.
type Admission uint8

// The answers of Add.
const (
	FullForAll Admission = iota
	FullForNetwork
	Admitted
)

// NewConnections makes places for connections. evicted is called for each that has to go,
// and must not block; nil: nobody is told.
func NewConnections[C Connection](limits ConnectionLimits, evicted func(authenticated bool)) *Connections[C] {
	return &Connections[C]{limits: limits, evicted: evicted, open: map[C]*place{}, networks: map[netip.Prefix]*network{}}
}

// Add takes a place for a connection that has not authenticated yet. from is its NetworkOf.
func (o *Connections[C]) Add(c C, from netip.Prefix) Admission {
	o.mu.Lock()
	defer o.mu.Unlock()
	there := o.networks[from]
	if there == nil {
		there = &network{}
	}
	if from.IsValid() && o.limits.fullFor(there) && !o.evictWaiting(from) {
		return FullForNetwork
	}
	if len(o.open) >= o.limits.Total && !o.evictWaiting(netip.Prefix{}) && (o.limits.KeepAuthenticated || !o.evictSpare()) {
		return FullForAll
	}
	o.open[c] = &place{from: from, queued: o.waiting.PushBack(c)}
	o.networks[from] = there
	there.open++
	there.unauthenticated++
	return Admitted
}

// fullFor tells whether a network has as many connections as it may have.
func (l ConnectionLimits) fullFor(there *network) bool {
	return l.PerNetwork > 0 && there.open >= l.PerNetwork ||
		l.UnauthenticatedPerNetwork > 0 && there.unauthenticated >= l.UnauthenticatedPerNetwork
}

// evictWaiting ends the oldest connection that has not authenticated, of one network or, where
// from is zero, of all. It tells whether there was one to be spared.
func (o *Connections[C]) evictWaiting(from netip.Prefix) bool {
	for e := o.waiting.Front(); e != nil; e = e.Next() {
		c := e.Value.(C)
		if from.IsValid() && o.open[c].from != from {
			continue
		}
		if _, spare := c.Spare(); spare && o.evict(c) {
			return true
		}
	}
	return false
}

// evictSpare ends the connection that could be spared for longest.
func (o *Connections[C]) evictSpare() bool {
	var best C
	var bestSince int64
	found := false
	for c := range o.open {
		if since, spare := c.Spare(); spare && (!found || since < bestSince) {
			best, bestSince, found = c, since, true
		}
	}
	return found && o.evict(best)
}

func (o *Connections[C]) evict(c C) bool {
	if !c.Evict() {
		return false
	}
	if o.evicted != nil {
		o.evicted(o.open[c].queued == nil)
	}
	o.remove(c)
	return true
}

// Authenticated notes that the client of a connection has shown who it is. It tells false
// where the connection was evicted before.
func (o *Connections[C]) Authenticated(c C) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := o.open[c]
	if p == nil {
		return false
	}
	o.dequeue(p)
	return true
}

// dequeue counts a connection no more among those that have not authenticated.
func (o *Connections[C]) dequeue(p *place) {
	if p.queued == nil {
		return
	}
	o.waiting.Remove(p.queued)
	p.queued = nil
	o.networks[p.from].unauthenticated--
}

// Remove gives the place of a connection back; it does nothing for one that has none.
func (o *Connections[C]) Remove(c C) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.remove(c)
}

func (o *Connections[C]) remove(c C) {
	p := o.open[c]
	if p == nil {
		return
	}
	o.dequeue(p)
	delete(o.open, c)
	there := o.networks[p.from]
	if there.open--; there.open == 0 {
		delete(o.networks, p.from)
	}
}

// Each calls visit for every open connection and tells how many there are. visit must not
// block and must not call Connections.
func (o *Connections[C]) Each(visit func(c C)) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	for c := range o.open {
		visit(c)
	}
	return len(o.open)
}
