package upstream

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// cancelPatience bounds how long a cancelled statement may take to end, the sending
	// of the cancellation included. After it the connection is given up.
	cancelPatience = 2 * time.Second
	// closePatience bounds the farewell to a connection that is given up.
	closePatience = time.Second
)

// canceller cancels a statement on the server when its context ends, and keeps the
// connection. It implements ctxwatch.Handler.
//
// Postgres cancels a connection's current statement, whichever that is when the signal
// arrives. The server closes the cancel connection after it sent the signal, and a
// process sees a signal before anything that is sent to it later; so once that close is
// seen, the connection is safe to use again. One whose cancellation stays unconfirmed is
// not handed out again: the next statement on it would be somebody else's.
type canceller struct {
	conn        *pgconn.PgConn
	unconfirmed bool // written under a watch, read after it ended
}

func newCanceller(conn *pgconn.PgConn) *canceller {
	c := &canceller{conn: conn}
	conn.CustomData()[cancellerKey] = c
	return c
}

// cancellerOf gives the connection's canceller; nil where it has none.
func cancellerOf(conn *pgconn.PgConn) *canceller {
	c, _ := conn.CustomData()[cancellerKey].(*canceller)
	return c
}

// HandleCancel bounds what is left of the statement and asks the server to cancel it.
func (c *canceller) HandleCancel(context.Context) {
	c.unconfirmed = true
	deadline := time.Now().Add(cancelPatience)
	_ = c.conn.Conn().SetDeadline(deadline) // fails on a closed connection only
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	// CancelRequest waits for the server's close, and does not tell whether the wait
	// ended by itself; the context does.
	err := c.conn.CancelRequest(ctx)
	c.unconfirmed = err != nil || ctx.Err() != nil
}

// HandleUnwatchAfterCancel lifts the bound; a connection that was given up has another.
func (c *canceller) HandleUnwatchAfterCancel() {
	if c.conn.IsClosed() {
		return
	}
	_ = c.conn.Conn().SetDeadline(time.Time{})
}
