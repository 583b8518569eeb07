package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// wireClient is one connection to the listener. All that comes from it is noted.
type wireClient struct {
	conn  net.Conn
	front *pgproto3.Frontend
	seen  bytes.Buffer

	simply bool // what was sent last is a Query message
}

// tapped is a connection whose bytes are noted as they come.
type tapped struct {
	net.Conn
	seen io.Writer
}

func (c *tapped) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	_, _ = c.seen.Write(p[:n])
	return n, err
}

// pgClient logs in as this attacker's server.
func (a *attacker) pgClient(t *testing.T) *wireClient {
	t.Helper()
	at, err := url.Parse(a.PgURL)
	if err != nil {
		t.Fatal(err)
	}
	config, err := pgconn.ParseConfig(pgURL(at.Host, a.id, a.key))
	if err != nil {
		t.Fatal(err)
	}
	c := &wireClient{}
	config.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		return &tapped{conn, &c.seen}, err
	}
	conn, err := pgconn.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := conn.Hijack()
	if err != nil {
		t.Fatal(err)
	}
	c.conn, c.front = raw.Conn, raw.Frontend
	return c
}

// extended runs a text by Parse, Bind, Describe, Execute and Sync in one go. Where a value
// depends on its parameter's type, the types are asked for first.
func (c *wireClient) extended(text string, args []wireArg, types []uint32) (fronted, error) {
	if typed(args) {
		asked, err := c.ask(&pgproto3.Parse{Query: text, ParameterOIDs: types}, &pgproto3.Describe{ObjectType: 'S'}, &pgproto3.Sync{})
		if err != nil || asked.code != "" {
			return asked, err
		}
		types = asked.parameters
	}
	values := make([][]byte, len(args))
	for i, a := range args {
		values[i] = a.text(types, i)
	}
	return c.ask(&pgproto3.Parse{Query: text, ParameterOIDs: types}, &pgproto3.Bind{Parameters: values},
		&pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{}, &pgproto3.Sync{})
}

// simple runs a text as a Query message.
func (c *wireClient) simple(text string) (fronted, error) {
	return c.ask(&pgproto3.Query{String: text})
}

// ask sends messages and reads up to ReadyForQuery.
func (c *wireClient) ask(messages ...pgproto3.FrontendMessage) (fronted, error) {
	_ = c.conn.SetDeadline(time.Now().Add(bypassPatience))
	_, c.simply = messages[0].(*pgproto3.Query)
	for _, m := range messages {
		c.front.Send(m)
	}
	var answer fronted
	err := c.front.Flush()
	for err == nil {
		var m pgproto3.BackendMessage
		if m, err = c.front.Receive(); err == nil && answer.take(m, c) {
			return answer, nil
		}
	}
	return answer, err
}

// take notes a message, and tells whether it is the last.
func (f *fronted) take(m pgproto3.BackendMessage, c *wireClient) (last bool) {
	switch m := m.(type) {
	case *pgproto3.ParameterDescription:
		f.parameters = append([]uint32(nil), m.ParameterOIDs...)
	case *pgproto3.RowDescription:
		f.types = nil
		for _, column := range m.Fields {
			f.types = append(f.types, column.DataTypeOID)
		}
	case *pgproto3.DataRow:
		f.rows = append(f.rows, wireRow(f.types, m.Values))
	case *pgproto3.CommandComplete:
		f.complete(string(m.CommandTag))
	case *pgproto3.ErrorResponse:
		f.code, f.state = m.Detail, m.Code
	case *pgproto3.CopyInResponse:
		c.front.Send(&pgproto3.CopyDone{})
		if !c.simply { // the one that was sent is not read while rows are awaited
			c.front.Send(&pgproto3.Sync{})
		}
		_ = c.front.Flush()
	case *pgproto3.ReadyForQuery:
		f.status = m.TxStatus
		return true
	}
	return false
}

// settle ends what a case left open in the session.
func (c *wireClient) settle(status byte) error {
	if status != 'I' {
		if _, err := c.simple("ROLLBACK"); err != nil {
			return err
		}
	}
	_, err := c.simple("DISCARD ALL")
	return err
}
