package proof

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// patience is how long an answer of the listener's may take.
const patience = 20 * time.Second

// client is one connection to a listener. Every byte that comes from it is kept until the
// next statement.
type client struct {
	conn  net.Conn
	front *pgproto3.Frontend
	seen  bytes.Buffer
}

// tapped is a connection whose bytes are noted as they come.
type tapped struct {
	net.Conn
	seen io.Writer
}

func (t *tapped) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	_, _ = t.seen.Write(p[:n])
	return n, err //nolint:wrapcheck // it is a connection's
}

func logIn(ctx context.Context, addr, id string) (*client, error) {
	cfg, err := pgconn.ParseConfig("postgres://" + url.QueryEscape(id) + ":" + password + "@" + addr + "/" + url.QueryEscape(id) + "?sslmode=disable")
	if err != nil {
		return nil, fmt.Errorf("the listener's URL: %w", err)
	}
	c := &client{}
	cfg.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		return &tapped{conn, &c.seen}, err
	}
	conn, err := pgconn.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("logging in to the listener: %w", err)
	}
	hijacked, err := conn.Hijack()
	if err != nil {
		return nil, fmt.Errorf("taking over the connection: %w", err)
	}
	c.conn, c.front = hijacked.Conn, hijacked.Frontend
	return c, nil
}

// run sends a statement: as a Query message where it is simple, else by Parse, Bind,
// Describe, Execute and Sync.
func (c *client) run(text string, params [][]byte, simple bool) (a answer, err error) {
	c.seen.Reset()
	_ = c.conn.SetDeadline(time.Now().Add(patience))
	if simple {
		c.front.Send(&pgproto3.Query{String: text})
	} else {
		c.front.Send(&pgproto3.Parse{Query: text})
		c.front.Send(&pgproto3.Bind{Parameters: params})
		c.front.Send(&pgproto3.Describe{ObjectType: 'P'})
		c.front.Send(&pgproto3.Execute{})
		c.front.Send(&pgproto3.Sync{})
	}
	if err := c.front.Flush(); err != nil {
		return a, fmt.Errorf("sending to the listener: %w", err)
	}
	for {
		m, err := c.front.Receive()
		if err != nil {
			return a, fmt.Errorf("reading of the listener: %w", err)
		}
		switch m := m.(type) {
		case *pgproto3.RowDescription:
			for _, f := range m.Fields {
				a.columns = append(a.columns, string(f.Name))
			}
		case *pgproto3.DataRow:
			a.rows = append(a.rows, row(m.Values))
		case *pgproto3.CommandComplete:
			a.tag = string(m.CommandTag)
		case *pgproto3.ErrorResponse:
			a.state, a.code = m.Code, refusal(m.Detail)
			a.message = strings.Join([]string{m.Message, m.Detail, m.Hint, m.Where, m.ConstraintName}, "\n")
		case *pgproto3.ReadyForQuery:
			if m.TxStatus != 'I' {
				return a, fmt.Errorf("a transaction is open after %q", text)
			}
			return a, nil
		}
	}
}
