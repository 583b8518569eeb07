package upstream

import (
	"context"
	"fmt"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// A backend that goes on by itself outlives the process, too. The next one's backends would come
// on top, so what a former process left holds turns: at most as many as abandonedMost, since it may be
// another running process of the same role that has abandoned them.
const (
	formerEvery = 5 * time.Second  // between two looks
	formerFor   = time.Minute      // how long there are looks after the last one that found some
	formerAge   = 15 * time.Second // of a statement that outlives what it may take; a policy may allow more
)

// formerSQL counts statements of this role's that run for longer than they may, in
// backends that are older than the process.
const formerSQL = `SELECT pg_catalog.count(*)::int4 FROM pg_catalog.pg_stat_activity
WHERE usename = CURRENT_USER AND datname = pg_catalog.current_database() AND application_name = 'tenantgate' AND state = 'active'
AND backend_start < pg_catalog.clock_timestamp() - $1::interval AND query_start < pg_catalog.clock_timestamp() - $2::interval`

// formerTurn is under which they hold their turns; no project has it.
var formerTurn = proxy.Account{Project: "\x00former"}

// lookForFormer has what a former process left hold turns, until nothing of it was there for a while, or ctx
// ends. It looks while there are connections, and makes none.
func (p *Pool) lookForFormer(ctx context.Context, every, age time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	started, last, held := time.Now(), time.Time{}, 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if p.pool.Stat().TotalConns() == 0 {
			continue
		}
		found, err := p.former(ctx, started, age)
		if err != nil {
			continue // whoever asks for a connection learns why
		}
		if last.IsZero() || found > 0 {
			last = time.Now()
		}
		found = min(found, p.abandoned.most)
		p.turns.Hold(formerTurn, found-held)
		p.abandoned.count(formerTurn, found-held)
		if held = found; time.Since(last) > formerFor {
			return
		}
	}
}

// former counts the backends that were there when this process started, and whose statement is
// older than age.
func (p *Pool) former(ctx context.Context, started time.Time, age time.Duration) (n int, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.cfg.ConnectTimeout)
	defer cancel()
	l, err := p.acquireOwn(ctx)
	if err != nil {
		return 0, err
	}
	defer p.release(l, ownTurn)
	if err := l.conn.QueryRow(ctx, formerSQL, time.Since(started), age).Scan(&n); err != nil {
		return 0, fmt.Errorf("looking for what a former process left: %w", err)
	}
	return n, nil
}
