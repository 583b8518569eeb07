package control

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/wall"
)

// signing is the key of the wall that this process signs with. It follows the store as the
// caches do, and outlives the store's absence: a key is no permission, and the database
// decides whether it is still good.
type signing struct {
	key   atomic.Pointer[wall.Key] // nil: there is none
	stale atomic.Bool              // the store may have another one
}

// WallKey gives the key to sign server ids with, false where the store has none. A change
// is followed within a second while Run is running.
func (s *Store) WallKey() (wall.Key, bool) {
	if key := s.signing.key.Load(); key != nil {
		return *key, true
	}
	return wall.Key{}, false
}

// readWallKey reads the newest key if the one in memory may be another. The poller calls it.
func (s *Store) readWallKey(ctx context.Context, from *pool) error {
	if !s.signing.stale.Swap(false) {
		return nil
	}
	var key wall.Key
	err := from.QueryRow(ctx, `SELECT id, secret FROM tenantgate.wall_keys ORDER BY id DESC LIMIT 1`).Scan(&key.ID, &key.Secret)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		s.signing.key.Store(nil)
	case err != nil:
		s.signing.stale.Store(true)
		return err
	default:
		s.signing.key.Store(&key)
	}
	return nil
}
