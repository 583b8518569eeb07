package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	listenIdle  = 10 * time.Second // without a notification the connection is tried
	listenRetry = 250 * time.Millisecond
	channel     = "tenantgate"
)

// listen receives notifications until ctx ends, over a connection of its own that it makes
// again whenever it is lost. Polling carries on meanwhile.
func (s *Store) listen(ctx context.Context) {
	wasUp := true
	for ctx.Err() == nil {
		began := time.Now()
		err := s.listenOnce(ctx)
		up := time.Since(began) > connectTimeout // it had been working
		if ctx.Err() == nil && (wasUp || up) {
			s.cfg.Log.Warn("notifications of the control store are interrupted; polling instead", "error", err)
		}
		wasUp = up
		sleep(ctx, listenRetry)
	}
}

func (s *Store) listenOnce(ctx context.Context) error {
	conn, err := s.connectListener(ctx)
	if err != nil {
		return err
	}
	defer closeConn(conn)
	s.revision.setListening(true)
	defer s.revision.setListening(false)
	for {
		if err := s.receive(ctx, conn); err != nil {
			return fmt.Errorf("waiting for a notification: %w", err)
		}
	}
}

func (s *Store) connectListener(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, s.listener.Copy())
	if err != nil {
		return nil, fmt.Errorf("connecting to listen: %w", err)
	}
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		closeConn(conn)
		return nil, fmt.Errorf("listening: %w", err)
	}
	return conn, nil
}

// receive waits for one notification and applies it. When none comes for a while it makes
// sure that the connection still stands.
func (s *Store) receive(ctx context.Context, conn *pgx.Conn) error {
	wait, cancel := context.WithTimeout(ctx, listenIdle)
	defer cancel()
	n, err := conn.WaitForNotification(wait)
	if err == nil {
		s.apply(n)
		return nil
	}
	if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	ping, cancelPing := context.WithTimeout(ctx, connectTimeout)
	defer cancelPing()
	return conn.Ping(ping)
}

func (s *Store) apply(n *pgconn.Notification) {
	if c, ok := parseChange(n.Payload); ok {
		s.revision.announced(c, s.forget, s.forgetAll)
		return
	}
	s.forgetAll()
}

// closeConn says goodbye and waits until the connection is gone.
func closeConn(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	_ = conn.Close(ctx)
	select {
	case <-conn.PgConn().CleanupDone():
	case <-ctx.Done():
	}
}

// sleep waits, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
