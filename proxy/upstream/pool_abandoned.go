package upstream

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// Some of Postgres' functions never look for interrupts, such as normalize and strpos of long
// texts: neither a cancellation nor pg_terminate_backend ends them. Their connection is given up, and
// the backend goes on by itself, for hours if it was made to. It is abandoned then. Until it is gone it
// holds the turn of the server whose statement it runs, and is at work for it: so it counts within that one's share.

// abandonedMost is how many abandoned backends there may be before a server that has one gets no
// further connection.
func abandonedMost(maxConns int32) int { return max(1, int(maxConns)/4) }

// abandonedAfter is how long a backend may take to end after its connection was given up: one that
// looks for interrupts ends at once, and one that was killed is gone already.
const abandonedAfter = time.Second

// errAbandoned is why a server gets no turn, and in the chain of the refusal: its abandoned backends hold its share.
var errAbandoned = errors.New("statements of the server go on in the database after their time")

// abandoned are the backends that go on after their connection was given up.
type abandoned struct {
	most int

	mu  sync.Mutex
	all int
	of  map[proxy.Account]int
}

func newAbandoned(maxConns int32) *abandoned {
	return &abandoned{most: abandonedMost(maxConns), of: map[proxy.Account]int{}}
}

// count notes that an account has n more.
func (a *abandoned) count(of proxy.Account, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all += n
	if a.of[of] += n; a.of[of] == 0 {
		delete(a.of, of)
	}
}

// await counts a backend that is not gone soon; gone must be called once it is.
func (a *abandoned) await(of proxy.Account) (gone func()) {
	counting := time.AfterFunc(abandonedAfter, func() { a.count(of, 1) })
	return func() {
		if !counting.Stop() {
			a.count(of, -1)
		}
	}
}

// bars tells whether the account gets no connection for those that it has.
func (a *abandoned) bars(of proxy.Account) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.all >= a.most && a.of[of] > 0 && of != ownTurn
}

func (a *abandoned) total() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.all
}

// giveTurnLater gives an account's turn back when the backend is gone whose connection was given up.
func (p *Pool) giveTurnLater(of proxy.Account, s *session) {
	gone := p.abandoned.await(of)
	job := p.cfg.Work.Abandoned(of)
	p.places.whenGone(socketOf(s.conn), func() {
		gone()
		p.cfg.Work.End(job)
		p.turns.Give(of)
	})
}

// barred tells who has abandoned backends to wait.
func (p *Pool) barred() *proxy.Error {
	p.cfg.Recorder.UpstreamError(classAbandoned)
	return overloaded(fmt.Sprintf("statements of this server go on in the database although their time is up, and %d of them are the most for all servers", p.abandoned.most),
		"they can't be cancelled: wait for their end, and don't give functions such as normalize, strpos, replace or btrim, nor LIKE, texts of many thousand characters, nor @> and && as many elements", errAbandoned)
}
