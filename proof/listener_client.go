package proof

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"regexp"
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

// run sends a statement on a path: Simple, Extended, Cursor or Copy.
func (c *client) run(text string, params [][]byte, path Path) (a answer, err error) {
	a.path = path
	c.seen.Reset()
	_ = c.conn.SetDeadline(time.Now().Add(patience))
	into := c.send(text, params, path, &a)
	if err := c.front.Flush(); err != nil {
		return a, fmt.Errorf("sending to the listener: %w", err)
	}
	open := false
	for _, part := range into {
		if open, err = c.receive(part); err != nil {
			return a, err
		}
	}
	if open {
		return a, fmt.Errorf("a transaction is open after %q", text)
	}
	if path.reads() {
		a.tag = rowsTag.ReplaceAllString(a.tag, "SELECT $1")
	}
	if path == Copy && a.state == "" {
		a.columns, a.rows = copied(strings.Join(a.rows, ""))
	}
	return a, nil
}

// rowsTag is the tag of a command that gave a query's rows.
var rowsTag = regexp.MustCompile(`^(?:FETCH|COPY) (\d+)$`)

// copied reads what COPY gives as text, with a HEADER.
//
// https://www.postgresql.org/docs/18/sql-copy.html
func copied(text string) (columns, rows []string) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		var values [][]byte
		for _, field := range strings.Split(line, "\t") {
			switch {
			case lines[0] == "": // no column
			case field == `\N`:
				values = append(values, nil)
			case i == 0:
				columns = append(columns, unescape.Replace(field))
			default:
				values = append(values, []byte(unescape.Replace(field)))
			}
		}
		if i > 0 {
			rows = append(rows, row(values))
		}
	}
	return columns, rows
}

var unescape = strings.NewReplacer(`\\`, `\`, `\b`, "\b", `\f`, "\f", `\n`, "\n", `\r`, "\r", `\t`, "\t", `\v`, "\v")

// send sends a statement, and gives where each answer belongs: that to a COMMIT is none of the statement's.
func (c *client) send(text string, params [][]byte, path Path, a *answer) (into []*answer) {
	switch path {
	case Simple:
		c.front.Send(&pgproto3.Query{String: text})
	case Copy:
		c.front.Send(&pgproto3.Query{String: "COPY (" + text + "\n) TO STDOUT (HEADER)"})
	case Cursor:
		c.front.Send(&pgproto3.Query{String: "BEGIN"})
		c.extended("DECLARE c CURSOR FOR "+text, params)
		c.front.Send(&pgproto3.Query{String: "FETCH ALL FROM c"})
		c.front.Send(&pgproto3.Query{String: "COMMIT"})
		return []*answer{a, a, a, {}}
	default:
		c.extended(text, params)
	}
	return []*answer{a}
}

// extended sends Parse, Bind, Describe, Execute and Sync.
func (c *client) extended(text string, params [][]byte) {
	c.front.Send(&pgproto3.Parse{Query: text})
	c.front.Send(&pgproto3.Bind{Parameters: params})
	c.front.Send(&pgproto3.Describe{ObjectType: 'P'})
	c.front.Send(&pgproto3.Execute{})
	c.front.Send(&pgproto3.Sync{})
}

// receive adds what comes until the listener is ready again, and tells whether a transaction is open. What follows an error is no news.
func (c *client) receive(a *answer) (open bool, err error) {
	for {
		m, err := c.front.Receive()
		if err != nil {
			return false, fmt.Errorf("reading of the listener: %w", err)
		}
		switch m := m.(type) {
		case *pgproto3.RowDescription:
			for _, f := range m.Fields {
				a.columns = append(a.columns, string(f.Name))
			}
		case *pgproto3.DataRow:
			a.rows = append(a.rows, row(m.Values))
		case *pgproto3.CopyData:
			a.rows = append(a.rows, string(m.Data))
		case *pgproto3.CommandComplete:
			a.tag = string(m.CommandTag)
		case *pgproto3.ErrorResponse:
			if a.state != "" {
				continue
			}
			a.state, a.code = m.Code, refusal(m.Detail)
			a.message = strings.Join([]string{m.Message, m.Detail, m.Hint, m.Where, m.ConstraintName}, "\n")
		case *pgproto3.ReadyForQuery:
			return m.TxStatus != 'I', nil
		}
	}
}
