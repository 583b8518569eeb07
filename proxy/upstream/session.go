package upstream

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// sessionKey is where a connection carries its session.
const sessionKey = "tenantgate.session"

// shapesName is the name of a session's own prepared statement, beside those of preludeNames.
const shapesName = "tg_shapes"

// session is one connection and what is prepared on it. It belongs to whoever acquired
// the connection.
type session struct {
	conn       *pgconn.PgConn
	wire       wire
	alarm      alarm
	cfg        Config
	preludes   map[preludeKind]*prelude // those that were needed
	parsing    *prelude                 // the one whose preparation is on its way; nil: none
	statements *statements              // nil where nothing may be named
	run        run                      // the one that has the connection now
	left       bool                     // given up while the server may still be at work
}

// messagesSQL asks for messages in English where the role may set that; the caller's
// messages are better for it. Where it may not, messages.go withholds what it can't read.
const messagesSQL = `SELECT CASE WHEN pg_catalog.has_parameter_privilege('lc_messages', 'SET')
THEN pg_catalog.set_config('lc_messages', 'C', false) END`

// newSession makes conn ready for statements.
func newSession(ctx context.Context, conn *pgconn.PgConn, cfg Config) error {
	s := &session{conn: conn, cfg: cfg, preludes: map[preludeKind]*prelude{}}
	s.wire.conn, s.wire.in = conn.Conn(), socketOf(conn).ticket.in
	s.alarm.conn = conn.Conn()
	socketOf(conn).ticket.alarm.Store(&s.alarm)
	conn.CustomData()[sessionKey] = s
	if cfg.NoPrepared {
		return nil
	}
	s.statements = newStatements(cfg.StatementCacheSize)
	_, signs := cfg.Wall.key("any")
	likely := s.prelude(preludeKind{signs: signs})
	if _, err := conn.Prepare(ctx, likely.name, likely.sql, nil); err != nil {
		return fmt.Errorf("preparing a session: %w", err)
	}
	likely.prepared = true
	if _, err := conn.Prepare(ctx, shapesName, shapesSQL, nil); err != nil {
		return fmt.Errorf("preparing a session: %w", err)
	}
	// An older server lacks the function; only a broken connection matters here.
	if err := conn.ExecParams(ctx, messagesSQL, nil, nil, nil, nil).Read().Err; err != nil && conn.IsClosed() {
		return fmt.Errorf("preparing a session: %w", err)
	}
	return nil
}

// sessionOf gives the connection's session; nil where none could be made.
func sessionOf(conn *pgconn.PgConn) *session {
	s, _ := conn.CustomData()[sessionKey].(*session)
	return s
}

// pooled tells whether a pooler is in front of the database: nothing may be named, and a
// connection is not the same backend for two transactions.
func (s *session) pooled() bool { return s.statements == nil }

// prelude gives the one of a kind.
func (s *session) prelude(kind preludeKind) *prelude {
	p := s.preludes[kind]
	if p == nil {
		p = newPrelude(s.cfg, kind)
		s.preludes[kind] = p
	}
	return p
}

// writePrelude writes the prelude, and its preparation where none of its kind was needed
// before, as when a key came or went.
func (s *session) writePrelude(st *statement) {
	key, signs := s.cfg.Wall.key(st.server)
	p := s.prelude(preludeKind{limits: s.pooled() || st.limits.StatementTimeout != startLimit, signs: signs})
	name := p.name
	s.parsing = nil
	switch {
	case s.pooled():
		name = ""
		s.wire.parse(name, p.sql)
	case !p.prepared:
		s.wire.deallocate(name) // an attempt that failed may have left it
		s.wire.parse(name, p.sql)
		s.parsing = p
	}
	p.bind(&s.wire, name, st, key)
}

// preludeRan notes that the prelude was prepared, if that was on its way.
func (s *session) preludeRan() {
	if s.parsing != nil {
		s.parsing.prepared, s.parsing = true, nil
	}
}

// writeShapes writes the check of the tables' shapes, if the statement relies on some.
func (s *session) writeShapes(st *statement) {
	if len(st.shapes) == 0 {
		return
	}
	name := shapesName
	if s.pooled() {
		name = ""
		s.wire.parse(name, shapesSQL)
	}
	bindShapes(&s.wire, name, st.shapes)
}

// usable tells whether the next statement may have the connection, as pgxpool asks it, too.
func (s *session) usable() bool {
	return !s.conn.IsClosed() && !s.conn.IsBusy() && s.conn.TxStatus() == 'I'
}

// giveUp closes the connection: what is still on it can't be told apart. The pool has the
// server call the statement off before the place is free (takeLeave).
func (s *session) giveUp() {
	s.left = true
	s.alarm.bound(closePatience)
	_ = s.conn.Close(context.Background()) // closed in any case; the alarm bounds the farewell
}
