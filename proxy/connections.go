package proxy

import (
	"container/list"
	"net/netip"
	"sync"
)

// Connections are the open connections of a front end, within their limits. When places run
// short, connections go that nobody is served on: first those that have not authenticated, of the
// network that has most of them the oldest, so that nobody has to be faster than an attacker who keeps
// connecting; then those beyond their server's or project's share, likewise; then all others, from the
// one whose last request is longest ago. Its methods are safe for concurrent use.
type Connections[C Connection] struct {
	limits  ConnectionLimits
	evicted func(authenticated bool) // nil: nobody is told

	mu       sync.Mutex
	open     map[C]*place
	unknown  *crowds              // those that have not authenticated
	beyond   *crowds              // those that have, beyond a share; who authenticated last is last
	held     *Holdings            // of those within their shares
	networks map[netip.Prefix]int // how many each network has
}

// ConnectionLimits are how many connections there may be at a time.
type ConnectionLimits struct {
	Total                     int
	PerNetwork                int  // 0: no limit; see NetworkOf
	UnauthenticatedPerNetwork int  // 0: no limit
	KeepAuthenticated         bool // nobody within a share goes for another's sake
	ProjectShare              int  // how many of Total one project's are, in percent; see NewHoldings
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
	from    netip.Prefix
	line    *crowds       // unknown or beyond; nil: it is within a share
	queued  *list.Element // in line
	account Account       // whose share it is within
}

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
	return &Connections[C]{limits: limits, evicted: evicted, open: map[C]*place{}, unknown: newCrowds(), beyond: newCrowds(),
		held: NewHoldings(limits.Total, limits.ProjectShare), networks: map[netip.Prefix]int{}}
}

// Add takes a place for a connection that has not authenticated yet. from is its NetworkOf.
func (o *Connections[C]) Add(c C, from netip.Prefix) Admission {
	o.mu.Lock()
	defer o.mu.Unlock()
	if from.IsValid() && !o.makeRoomIn(from) {
		return FullForNetwork
	}
	if len(o.open) >= o.limits.Total && !o.makeRoom() {
		return FullForAll
	}
	o.open[c] = &place{from: from, line: o.unknown, queued: o.unknown.add(from, c)}
	o.networks[from]++
	return Admitted
}

// makeRoomIn tells whether a network may have one more, perhaps in place of another.
func (o *Connections[C]) makeRoomIn(from netip.Prefix) bool {
	switch l := o.limits; {
	case l.PerNetwork > 0 && o.networks[from] >= l.PerNetwork:
		return o.unknown.first(from, o.spared) || o.beyond.first(from, o.spared)
	case l.UnauthenticatedPerNetwork > 0 && o.unknown.of(from) >= l.UnauthenticatedPerNetwork:
		return o.unknown.first(from, o.spared)
	}
	return true
}

// makeRoom ends a connection of any network, and tells whether there was one to be spared.
func (o *Connections[C]) makeRoom() bool {
	return o.unknown.ranks.first(o.spared) || o.beyond.ranks.first(o.spared) ||
		!o.limits.KeepAuthenticated && o.evictSpare()
}

// spared ends a connection if it can be spared, and tells whether it could.
func (o *Connections[C]) spared(connection any) bool {
	c := connection.(C)
	_, spare := c.Spare()
	return spare && o.evict(c)
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
		o.evicted(o.open[c].line != o.unknown)
	}
	o.remove(c)
	return true
}

// Authenticated notes whose a connection is, once its client has shown that. It tells false
// where the connection was evicted before: nothing must be done for it. Where the account has its
// share of the places already the error says so, as Holdings.Take: then the connection is of those
// that go first, and may be noted again.
func (o *Connections[C]) Authenticated(c C, a Account) (there bool, beyond error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := o.open[c]
	if p == nil {
		return false, nil
	}
	if p.line == nil {
		return true, nil
	}
	o.dequeue(p)
	if err := o.held.Take(a, 1); err != nil {
		p.line, p.queued = o.beyond, o.beyond.add(p.from, c)
		return true, err
	}
	p.account = a
	return true, nil
}

// dequeue takes a connection out of its line.
func (o *Connections[C]) dequeue(p *place) {
	p.line.remove(p.from, p.queued)
	p.line, p.queued = nil, nil
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
	if p.line != nil {
		o.dequeue(p)
	} else {
		o.held.Give(p.account, 1)
	}
	delete(o.open, c)
	if o.networks[p.from]--; o.networks[p.from] == 0 {
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
