package wire

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"net/netip"
	"sync"

	"github.com/tenantgate/tenantgate/proxy"
)

// clients are those that are connected, within their limits.
type clients struct {
	limit, perNetwork int // 0: no limit per network

	mu       sync.Mutex
	open     map[int32]*client // by process id
	networks map[netip.Prefix]int
	servers  map[string]int // those that have authenticated, by whose they are
}

func newClients(limit, perNetwork int) *clients {
	return &clients{limit: limit, perNetwork: perNetwork, open: map[int32]*client{}, networks: map[netip.Prefix]int{}, servers: map[string]int{}}
}

// add takes a place for a client, and gives it the numbers that it is cancelled by. Without
// a place it says why not.
func (o *clients) add(c *client) *fatal {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case len(o.open) >= o.limit:
		return errTooMany
	case o.perNetwork > 0 && c.network.IsValid() && o.networks[c.network] >= o.perNetwork:
		return errTooManyThere
	}
	for c.process == 0 || o.open[c.process] != nil {
		c.process = random() & 0x7fffffff
	}
	c.secret = random()
	o.open[c.process] = c
	o.networks[c.network]++
	return nil
}

// enter counts a client that has authenticated as its server's, or says why it can't stay: no
// server has more than its share of the places.
func (o *clients) enter(c *client) *fatal {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.servers[c.serverID] >= proxy.Share(o.limit) {
		return errTooManyOfServer
	}
	o.servers[c.serverID]++
	c.entered = true
	return nil
}

// remove gives the place back, of a client that has one.
func (o *clients) remove(c *client) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.open, c.process)
	if o.networks[c.network]--; o.networks[c.network] <= 0 {
		delete(o.networks, c.network)
	}
	if !c.entered {
		return
	}
	if o.servers[c.serverID]--; o.servers[c.serverID] <= 0 {
		delete(o.servers, c.serverID)
	}
}

// find gives the client that was told these numbers, nil when there is none. guessed tells
// that there is one of the process, which was told another secret.
func (o *clients) find(process, secret int32) (c *client, guessed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var told int32
	if c = o.open[process]; c != nil {
		told = c.secret
	}
	same := subtle.ConstantTimeEq(told, secret) == 1
	if !same {
		return nil, c != nil
	}
	return c, false
}

// wake has those that wait for their client's next word look up where they are to be ended,
// and tells how many are left in all.
func (o *clients) wake(ended func(phase) bool) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range o.open {
		if ended(phase(c.phase.Load())) {
			c.wake()
		}
	}
	return len(o.open)
}

// cut ends the connections of all.
func (o *clients) cut() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range o.open {
		_ = c.socket.Close()
	}
}

func (o *clients) count() map[string]int {
	counts := make(map[string]int, len(phases))
	for _, name := range phases {
		counts[name] = 0
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range o.open {
		counts[phases[c.phase.Load()]]++
	}
	return counts
}

// random gives a number that nobody can guess.
func random() int32 {
	var b [4]byte
	_, _ = rand.Read(b[:])                      // it never fails
	return int32(binary.BigEndian.Uint32(b[:])) //nolint:gosec // any 32 bits will do
}
