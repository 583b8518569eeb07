package control

import (
	"context"
	"encoding/hex"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenantgate/tenantgate/proxy"
)

const (
	// maxLogins bounds the cache of verifiers, which only new connections ask: strangers
	// take as much room in it as servers do.
	maxLogins = 16_384
	// maxLoginKeys bounds the keys of one server that its password may be, and with it the
	// work for one guess. There are more only during the overlap of as many rotations; those
	// that end first are left out.
	maxLoginKeys = 8
)

// loginKey is what is kept in memory of a key that may come as a password.
type loginKey struct {
	proxy.VerifierKey
	expires time.Time // zero: valid until rotated
}

// Verifier gives what a password for the server is checked against: its salt, and those of
// its keys that are valid now and were made with a verifier. For an id that is no server's,
// or can't be one's, it does the same and finds no key; that answer is kept as long as any.
func (s *Store) Verifier(ctx context.Context, asker proxy.Account, serverID string) (proxy.Verifier, error) {
	keys, _, err := s.logins.get(ctx, asker, lookedFor(serverID))
	if err != nil {
		return proxy.Verifier{}, err
	}
	v := proxy.Verifier{Salt: s.salts.salt(serverID), Iterations: loginIterations}
	for _, k := range keys {
		if !expired(k.expires) {
			v.Keys = append(v.Keys, k.VerifierKey)
		}
	}
	return v, nil
}

// lookedFor is what the store is asked for: the id, or in place of one that can't be a
// server's a text of bounded length that can't be either, but which Postgres takes.
func lookedFor(serverID string) string {
	if validID(serverID) {
		return strings.Clone(serverID) // the cache keeps it
	}
	d := digestOf(serverID)
	return "/" + hex.EncodeToString(d[:])
}

// readLogins is the look-up of the cache of verifiers. It finds always: no keys are an
// answer like another.
func readLogins(ctx context.Context, conn *pgxpool.Conn, serverID string) ([]loginKey, bool, error) {
	rows, err := conn.Query(ctx, `
		SELECT hash, stored_key, server_key, expires_at FROM tenantgate.server_keys
		WHERE server_id = $1 AND stored_key IS NOT NULL ORDER BY expires_at DESC NULLS FIRST, hash LIMIT $2`, serverID, maxLoginKeys)
	if err != nil {
		return nil, false, readError("looking up a verifier", err)
	}
	keys, err := pgx.CollectRows(rows, scanLogin)
	if err != nil {
		return nil, false, readError("looking up a verifier", err)
	}
	return keys, true, nil
}

func scanLogin(row pgx.CollectableRow) (k loginKey, err error) {
	var id, stored, server []byte
	var expires *time.Time
	err = row.Scan(&id, &stored, &server, &expires)
	copy(k.ID[:], id)
	copy(k.Stored[:], stored)
	copy(k.Server[:], server)
	k.expires = millisOrZero(expires)
	return k, err
}

// Recheck gives the server as it is now, active or not, to who has proved to hold this key;
// Unauthorized when it is not, or no longer, a key of this server. It answers from the same
// memory as Application, whose look-up it is. The answer stands for holdingFor at most: until
// anything of the store is seen to change, and while it is known that nothing did.
func (s *Store) Recheck(ctx context.Context, serverID string, id proxy.KeyID) (proxy.Session, error) {
	epoch, asked := s.fresh.epoch.Load(), s.fresh.now()
	server, expires, err := s.holder(ctx, proxy.Account{}, serverID, digest(id))
	return proxy.Session{Server: server, StillValid: func() bool {
		return err == nil && s.fresh.epoch.Load() == epoch && s.fresh.now()-asked < holdingFor &&
			s.fresh.confirmedWithin(confirmWindow) && !expired(expires)
	}}, err
}

// holdingFor is how long an answer of Recheck is valid: an entry may be that much older than
// CacheConfig.MaxAge.
const holdingFor = time.Second

// WithoutLogin gives the ids of a project's servers none of whose keys can log in over
// Postgres' protocol: all were made before that was possible. RotateKey makes one that can.
func (s *Store) WithoutLogin(ctx context.Context, projectID string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	rows, err := s.pool.Query(ctx, `
		SELECT s.id FROM tenantgate.servers s WHERE s.project_id = $1 AND NOT EXISTS (
			SELECT FROM tenantgate.server_keys k WHERE k.server_id = s.id AND k.stored_key IS NOT NULL
				AND (k.expires_at IS NULL OR k.expires_at > tenantgate.now_ms()))`, projectID)
	if err != nil {
		return nil, readError("listing servers without a login", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, readError("listing servers without a login", err)
	}
	return ids, nil
}
