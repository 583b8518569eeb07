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
	wall       Wall
	plain      prelude
	signing    prelude
	statements *statements                  // nil where nothing may be named
	opening    *pgconn.StatementDescription // the prelude that is in use; nil likewise
	signs      bool                         // opening is the signing one
	shapes     *pgconn.StatementDescription // shapesSQL; nil likewise
}

// messagesSQL asks for messages in English where the role may set that; the caller's
// messages are better for it. Where it may not, messages.go withholds what it can't read.
const messagesSQL = `SELECT CASE WHEN pg_catalog.has_parameter_privilege('lc_messages', 'SET')
THEN pg_catalog.set_config('lc_messages', 'C', false) END`

// newSession makes conn ready for statements.
func newSession(ctx context.Context, conn *pgconn.PgConn, cfg Config) error {
	s := &session{conn: conn, wall: cfg.Wall, plain: newPrelude(cfg, false), signing: newPrelude(cfg, true)}
	conn.CustomData()[sessionKey] = s
	if cfg.NoPrepared {
		return nil
	}
	s.statements = newStatements(cfg.StatementCacheSize)
	opening := s.plain
	if _, s.signs = cfg.Wall.sign("any"); s.signs {
		opening = s.signing
	}
	var err error
	if s.opening, err = conn.Prepare(ctx, "tg_prelude", opening.sql, nil); err != nil {
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

// sendPrelude queues the prelude. One that was not in use when the connection was made,
// because a key came or went, is sent unnamed.
func (s *session) sendPrelude(pl *pgconn.Pipeline, st *statement) {
	signed, signs := s.wall.sign(st.server)
	p, desc := s.plain, s.opening
	if signs {
		p = s.signing
	}
	if signs != s.signs {
		desc = nil
	}
	s.send(pl, desc, p.sql, p.values(st.limits.StatementTimeout, signed))
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
