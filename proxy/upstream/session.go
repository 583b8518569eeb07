package upstream

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// The keys under which a connection carries what belongs to it.
const (
	sessionKey   = "tenantgate.session"
	cancellerKey = "tenantgate.canceller"
)

// session is one connection and what is prepared on it. It belongs to whoever acquired
// the connection.
type session struct {
	conn       *pgconn.PgConn
	prelude    prelude
	statements *statements                  // nil where nothing may be named
	opening    *pgconn.StatementDescription // the prelude; nil likewise
	shapes     *pgconn.StatementDescription // shapesSQL; nil likewise
}

// messagesSQL asks for messages in English where the role may set that; the caller's
// messages are better for it. Where it may not, messages.go withholds what it can't read.
const messagesSQL = `SELECT CASE WHEN pg_catalog.has_parameter_privilege('lc_messages', 'SET')
THEN pg_catalog.set_config('lc_messages', 'C', false) END`

// newSession makes conn ready for statements.
func newSession(ctx context.Context, conn *pgconn.PgConn, cfg Config) error {
	s := &session{conn: conn, prelude: newPrelude(cfg)}
	conn.CustomData()[sessionKey] = s
	if cfg.NoPrepared {
		return nil
	}
	s.statements = newStatements(cfg.StatementCacheSize)
	var err error
	if s.opening, err = conn.Prepare(ctx, "tg_prelude", s.prelude.sql, nil); err != nil {
		return fmt.Errorf("preparing a session: %w", err)
	}
	if s.shapes, err = conn.Prepare(ctx, "tg_shapes", shapesSQL, nil); err != nil {
		return fmt.Errorf("preparing a session: %w", err)
	}
	// An older server lacks the function; only a broken connection matters here.
	if err = conn.ExecParams(ctx, messagesSQL, nil, nil, nil, nil).Read().Err; err != nil && conn.IsClosed() {
		return fmt.Errorf("preparing a session: %w", err)
	}
	return nil
}

func sessionOf(conn *pgconn.PgConn) *session {
	return conn.CustomData()[sessionKey].(*session)
}

// sendPrelude queues the prelude.
func (s *session) sendPrelude(pl *pgconn.Pipeline, st *statement) {
	s.send(pl, s.opening, s.prelude.sql, s.prelude.values(st.limits.StatementTimeout))
}

// sendShapes queues the check of the tables' shapes.
func (s *session) sendShapes(pl *pgconn.Pipeline, st *statement) {
	s.send(pl, s.shapes, shapesSQL, shapeValues(st.shapes))
}

func (s *session) send(pl *pgconn.Pipeline, desc *pgconn.StatementDescription, sql string, values [][]byte) {
	if desc != nil {
		pl.SendQueryStatement(desc, values, nil, nil)
		return
	}
	pl.SendQueryParams(sql, values, nil, nil, nil)
}
