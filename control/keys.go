package control

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/proxy"
)

// RotateKey gives a server a new key and shows it this once. The former keys stay valid
// for the overlap, or for what is left of an earlier one; with an overlap of 0 they end
// now, and every process follows within a second. NotFound when there is no such server.
func (s *Store) RotateKey(ctx context.Context, serverID string, overlap time.Duration) (string, error) {
	if overlap < 0 {
		return "", proxy.Refuse(proxy.InvalidRequest, "overlap: it can't be negative")
	}
	if !validID(serverID) {
		return "", noServer()
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	key, err := s.mintKey(serverID)
	if err != nil {
		return "", err
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return rotate(ctx, tx, serverID, key.kept, overlap) })
	if err != nil {
		return "", s.writeFailed("rotating a key", err)
	}
	return key.text, nil
}

// rotate locks the server's row, so that two rotations at once come one after the other.
func rotate(ctx context.Context, tx pgx.Tx, serverID string, key proxy.VerifierKey, overlap time.Duration) error {
	tag, err := tx.Exec(ctx, `SELECT 1 FROM tenantgate.servers WHERE id = $1 FOR NO KEY UPDATE`, serverID)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return noServer()
	}
	_, err = tx.Exec(ctx, `UPDATE tenantgate.server_keys SET expires_at = tenantgate.now_ms() + $2 * interval '1 microsecond'
		WHERE server_id = $1 AND (expires_at IS NULL OR expires_at > tenantgate.now_ms() + $2 * interval '1 microsecond')`,
		serverID, overlap.Microseconds())
	if err != nil {
		return err
	}
	if _, err = tx.Exec(ctx, `DELETE FROM tenantgate.server_keys WHERE server_id = $1 AND expires_at <= tenantgate.now_ms()`, serverID); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO tenantgate.server_keys (hash, server_id, stored_key, server_key) VALUES ($1, $2, $3, $4)`,
		key.ID[:], serverID, key.Stored[:], key.Server[:])
	return err
}
