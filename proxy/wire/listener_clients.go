package wire

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"sync"

	"github.com/tenantgate/tenantgate/proxy"
)

// clients are those that are connected, within their limits.
type clients struct {
	places *proxy.Connections[*client]

	mu   sync.Mutex
	open map[int32]*client // by process id
}

func newClients(limits proxy.ConnectionLimits, recorder Recorder) *clients {
	return &clients{open: map[int32]*client{},
		places: proxy.NewConnections[*client](limits, func(authenticated bool) { recorder.Evicted(Frontend, authenticated) })}
}

// add takes a place for a client, and gives it the numbers that it is cancelled by. Without
// a place it says why not.
func (o *clients) add(c *client) *fatal {
	switch o.places.Add(c, c.network) {
	case proxy.FullForAll:
		return errTooMany
	case proxy.FullForNetwork:
		return errTooManyThere
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for c.process == 0 || o.open[c.process] != nil {
		c.process = random() & 0x7fffffff
	}
	c.secret = random()
	o.open[c.process] = c
	return nil
}

// Spare implements proxy.Connection. It is asked about clients alone that have not authenticated.
func (*client) Spare() (since int64, spare bool) { return 0, true }

// Evict implements proxy.Connection.
func (c *client) Evict() bool {
	c.cancelRunning()
	return c.socket.Close() == nil
}

// enter counts a client that has authenticated as its server's, or says why it can't stay: no
// server and no project has more than its share of the places.
func (o *clients) enter(c *client) *fatal {
	there, err := o.places.Authenticated(c, c.account())
	switch {
	case !there: // nobody hears it: its connection was closed
		return errTooMany
	case errors.Is(err, proxy.ErrServerShare):
		return errTooManyOfServer.because(err)
	case errors.Is(err, proxy.ErrProjectShare):
		return errTooManyOfProject.because(err)
	case err != nil:
		return errTooMany.because(err)
	}
	return nil
}

// remove gives the place back, of a client that has one.
func (o *clients) remove(c *client) {
	o.places.Remove(c)
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.open, c.process)
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
