package upstream

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantgate/tenantgate/proxy"
)

// sessionKey is where a connection carries its session.
const sessionKey = "tenantgate.session"

// The names of the session's own prepared statements.
const (
	preludeName = "tg_prelude"
	shapesName  = "tg_shapes"
)

// session is one connection and what is prepared on it. It belongs to whoever acquired
// the connection.
type session struct {
	conn       *pgconn.PgConn
	wire       wire
	alarm      alarm
	wall       Wall
	prelude    prelude
	signed     signed
	seeds      seeds
	path       string        // its search_path
	statements *statements   // nil where nothing may be named
	ownPortal  string        // of statements that a client knows nothing of; nobody can guess it
	abandoned  bool          // given up while the server may still be at work
	zoned      time.Duration // that statements took which may have made time zones
	growth     growth
}

// messagesSQL asks for messages in English where the role may set that; the caller's
// messages are better for it. Where it may not, failure_messages.go withholds what it can't read.
const messagesSQL = `SELECT CASE WHEN pg_catalog.has_parameter_privilege('lc_messages', 'SET')
THEN pg_catalog.set_config('lc_messages', 'C', false) END`

// newSession makes conn ready for statements.
func newSession(ctx context.Context, conn *pgconn.PgConn, cfg Config) error {
	s := &session{conn: conn, wall: cfg.Wall, prelude: newPrelude(cfg, socketOf(conn).ticket.path), path: socketOf(conn).ticket.path, ownPortal: rand.Text()}
	s.wire.conn, s.wire.in.From, s.wire.state = conn.Conn(), socketOf(conn).ticket.in, proxy.Idle
	s.alarm.conn = conn.Conn()
	socketOf(conn).ticket.alarm.Store(&s.alarm)
	conn.CustomData()[sessionKey] = s
	if cfg.NoPrepared {
		return nil
	}
	s.statements = newStatements(cfg.PreparedStatements, cfg.PreparedStatements*planMean)
	if _, err := conn.Prepare(ctx, preludeName, s.prelude.sql, nil); err != nil {
		return fmt.Errorf("preparing a session: %w", err)
	}
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

// strays tells whether a parameter is not what it was when the connection was made: a function
// of the operator's, such as a trigger's, has set it for longer than its transaction. Behind a
// pooler each transaction may have another backend, and makes all settings.
func (s *session) strays() bool {
	for name, value := range s.wire.reported {
		if was := s.conn.ParameterStatus(name); was != "" && was != value { // what a library has brought is nobody's setting
			return true
		}
	}
	clear(s.wire.reported)
	return false
}

// pooled tells whether a pooler is in front of the database: nothing may be named, and a
// connection is not the same backend for two transactions.
func (s *session) pooled() bool { return s.statements == nil }

// writeLimits writes the prelude. Where there is no key it names no server, so that none
// that was left on the connection stays.
func (s *session) writeLimits(portal string, limit time.Duration, server string) {
	name := preludeName
	key, signs := s.wall.key(server)
	if !signs {
		server = ""
	}
	if s.pooled() {
		name = ""
		s.wire.parse(name, s.prelude.sql)
	}
	s.prelude.bind(&s.wire, portal, name, &s.seeds, limit, server, s.signed.by(key, server))
}

// usable tells whether the next statement may have the connection, as pgxpool asks it, too.
func (s *session) usable() bool {
	return !s.conn.IsClosed() && !s.conn.IsBusy() && s.conn.TxStatus() == 'I'
}

// giveUp closes the connection: what is still on it can't be told apart. The pool has the
// server call the statement off before the place is free (closeAndWait).
func (s *session) giveUp() {
	s.abandoned = true
	s.close()
}

func (s *session) close() {
	s.alarm.bound(closePatience)
	_ = s.conn.Close(context.Background()) // closed in any case; the alarm bounds the farewell
}
