package wire

import "github.com/tenantgate/tenantgate/proxy"

// savepointsOfAll is how many savepoints all clients together have open. Each that has written holds an entry in
// Postgres' table of locks, which has 64 for each connection by default (max_locks_per_transaction): a few transactions
// that fill it keep everybody from writing (Postgres 15, seen 2026-11-27 with 15 of them).
const savepointsOfAll = 2000

// openSavepoint counts one more, or tells why there can't be one.
func (s *session) openSavepoint() error {
	full := s.c.server.savepoints.Take(s.c.account(), 1)
	if full == nil {
		s.pointsCounted++
		return nil
	}
	s.recorder().Short("savepoints", proxy.Whose(full))
	return &proxy.Error{Code: proxy.Overloaded, SQLState: "54000", Message: "too many savepoints are open in the transactions of this server, its project or all",
		Hint: "Release each when it is no longer needed; JDBC does so with cleanupSavepoints=true."}
}

// countSavepoints gives back those that the transaction has no more.
func (s *session) countSavepoints() {
	gone := s.pointsCounted - len(s.tx.points)
	s.c.server.savepoints.Give(s.c.account(), gone)
	s.pointsCounted -= gone
}
