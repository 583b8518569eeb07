package main

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tenantgate/tenantgate/wall"
)

// The front "walled" is bare with row-level security upon it: it makes the settings that this
// rests on in the same round trip. What it costs more than bare is the third wall's price,
// which Postgres takes from every front; so it writes the messages itself, which is
// cheaper than pgconn's batch.

// prelude makes the settings of the third wall.
const prelude = "SELECT pg_catalog.set_config('" + wall.Setting + "', $1, true), pg_catalog.set_config('" + wall.Signature + "', $2, true)"

// walled runs the prelude and the statement in one round trip and one transaction.
func (b *bare) walled(conn *pgconn.PgConn, name string, params [][]byte, body []byte) ([]byte, error) {
	wire := conn.Frontend()
	wire.SendBind(&pgproto3.Bind{PreparedStatement: "prelude", Parameters: [][]byte{b.server, b.signature}})
	wire.SendExecute(&pgproto3.Execute{})
	wire.SendBind(&pgproto3.Bind{PreparedStatement: name, Parameters: params})
	wire.SendExecute(&pgproto3.Execute{})
	wire.SendSync(&pgproto3.Sync{})
	if err := wire.Flush(); err != nil {
		return body, err
	}
	return appendSecond(body, wire)
}

// appendSecond reads the answers to two statements, and copies the second one's rows.
func appendSecond(body []byte, wire *pgproto3.Frontend) ([]byte, error) {
	var failed error
	bound, rows := 0, 0
	for {
		message, err := wire.Receive()
		if err != nil {
			return body, err
		}
		switch m := message.(type) {
		case *pgproto3.BindComplete:
			bound++
		case *pgproto3.DataRow:
			if bound == 2 {
				body = appendRow(body, rows, m.Values)
				rows++
			}
		case *pgproto3.ErrorResponse:
			failed = errors.New(m.Message)
		case *pgproto3.ReadyForQuery:
			return body, failed
		}
	}
}
