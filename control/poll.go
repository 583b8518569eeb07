package control

import (
	"context"
)

const revisionQuery = `SELECT seq FROM tenantgate.revision`

// poll reads the store's revision several times a second until ctx ends. It is what the
// promise of one second rests on; notifications only make it faster and cheaper.
func (s *Store) poll(ctx context.Context) {
	wasUp := true
	for ctx.Err() == nil {
		err := s.pollOnce(ctx)
		if ctx.Err() == nil && (err == nil) != wasUp {
			wasUp = err == nil
			s.logReach(err)
		}
		sleep(ctx, pollInterval)
	}
}

func (s *Store) logReach(err error) {
	if err == nil {
		s.cfg.Log.Info("the control store answers again")
		return
	}
	s.cfg.Log.Warn("the control store does not answer; credentials are used from memory for a limited time",
		"error", err, "bound", s.cfg.Cache.StaleFor)
}

// pollOnce compares the store's revision with what was applied. Its connection is apart
// from the look-ups', which a flood of unknown credentials may keep busy; should it be
// lost and not to be had again, theirs decides whether the store is away.
func (s *Store) pollOnce(ctx context.Context) error {
	began := s.fresh.now()
	before, _ := s.revision.current()
	from := s.watcher
	read, err := readRevision(ctx, from)
	if err != nil {
		from, began = s.pool, s.fresh.now()
		read, err = readRevision(ctx, from)
	}
	if err != nil {
		if ctx.Err() == nil {
			s.fresh.fail(began)
		}
		return err
	}
	if seen, listening := s.revision.current(); listening && seen != 0 && seen < read {
		sleep(ctx, pollGrace) // the notification is on its way
	}
	s.revision.catchUp(read, before, s.forgetAll)
	s.fresh.confirm(began)
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	return s.readWallKey(ctx, from)
}

func readRevision(ctx context.Context, pool *pool) (seq int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	err = pool.QueryRow(ctx, revisionQuery).Scan(&seq)
	return seq, err
}
