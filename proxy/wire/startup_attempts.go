package wire

import (
	"net/netip"
	"sync"
	"time"
)

// attempts bounds how often something fails that comes from one address: each network has
// a number of failures, and gets one back after each pause. While it has none, everything
// that comes from there is refused before it is looked at, whoever it is for: so a server's
// own application behind the same address is shut out with who is guessing there, for as
// long as that goes on, and no longer than a pause after. Success gives nothing back.
type attempts struct {
	burst int
	pause time.Duration
	now   func() time.Time

	trying sync.Mutex // held while something is tried

	mu    sync.Mutex
	since map[netip.Prefix]time.Time // when the network would have had none, at one each pause
}

// maxNetworks is how many networks are remembered. Beyond, some are forgotten that have
// failed least among a few: who has that many addresses is not stopped by this.
const maxNetworks = 16 << 10

func newAttempts(burst int, pause time.Duration) *attempts {
	return &attempts{burst: burst, pause: pause, now: time.Now, since: map[netip.Prefix]time.Time{}}
}

// try has something tried that comes from the network, unless it has failed too often there, and
// counts a failure. One is tried at a time, so that many at once are no more than in a row; it
// must not wait for anything.
func (a *attempts) try(network netip.Prefix, tried func() error) error {
	a.trying.Lock()
	defer a.trying.Unlock()
	if !a.may(network) {
		return errTooManyFailures
	}
	err := tried()
	if err != nil {
		a.failed(network)
	}
	return err
}

// may tells whether something from the network may be tried.
func (a *attempts) may(network netip.Prefix) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	since, failed := a.since[network]
	return !failed || a.now().Sub(since) >= a.pause
}

// failed counts a failure.
func (a *attempts) failed(network netip.Prefix) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	full := now.Add(-time.Duration(a.burst) * a.pause) // who has all of them
	since, known := a.since[network]
	if !known {
		a.makeRoom(full)
	}
	if !known || since.Before(full) {
		since = full
	}
	if since = since.Add(a.pause); since.After(now) {
		since = now
	}
	a.since[network] = since
}

// makeRoom forgets a network that has all its failures again, or else the one of a few that
// has the most.
func (a *attempts) makeRoom(full time.Time) {
	if len(a.since) < maxNetworks {
		return
	}
	var victim netip.Prefix
	var oldest time.Time
	looked := 0
	for network, since := range a.since {
		if looked == 0 || since.Before(oldest) {
			victim, oldest = network, since
		}
		if looked++; oldest.Before(full) || looked == 16 {
			break
		}
	}
	delete(a.since, victim)
}
