package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/valyala/fasthttp"
)

// bare is the cheapest program that answers the same requests: it knows the five statements
// by their path, takes the args as they stand in the body, and copies what Postgres sends
// between quotes. No policy, no authentication, no limits, no row-level security; what it
// does with a text that needs an escape, a NULL or a wrong body is nobody's concern.
//
// With a signature it is the front "walled" (walled.go).
type bare struct {
	server, signature []byte // no signature: row-level security does not bind it
	conns             chan *pgconn.PgConn
}

// newBare connects, and prepares every statement on each connection.
func newBare(ctx context.Context, f *frontCommand) (*bare, error) {
	b := &bare{server: []byte(f.Server), signature: []byte(f.Signature), conns: make(chan *pgconn.PgConn, f.Pool)}
	for range f.Pool {
		conn, err := pgconn.Connect(ctx, f.URL)
		if err != nil {
			return nil, errors.New("connecting to Postgres failed (the reason may hold a password)")
		}
		if _, err := conn.Prepare(ctx, "prelude", prelude, nil); err != nil {
			return nil, err
		}
		for _, s := range statements {
			if _, err := conn.Prepare(ctx, s.name, s.hand, nil); err != nil {
				return nil, err
			}
		}
		b.conns <- conn
	}
	return b, nil
}

// serve answers until the listener is closed.
func (b *bare) serve(l net.Listener) error {
	heads := map[string]string{}
	for _, s := range statements {
		heads["/"+s.name] = `{"columns":["` + strings.Join(s.columns, `","`) + `"],"rows":[`
		if s.columns == nil {
			heads["/"+s.name] = `{"columns":[],"rows":[`
		}
	}
	srv := &fasthttp.Server{Handler: func(r *fasthttp.RequestCtx) {
		head, known := heads[string(r.Path())]
		if !known {
			r.Error("no such statement", fasthttp.StatusNotFound)
			return
		}
		r.SetContentType("application/json")
		if err := b.answer(r, string(r.Path()[1:]), head); err != nil {
			r.Error(err.Error(), fasthttp.StatusInternalServerError)
		}
	}}
	return srv.Serve(l)
}

func (b *bare) answer(r *fasthttp.RequestCtx, name, head string) (err error) {
	conn := <-b.conns
	defer func() { b.conns <- conn }()
	body, params := append(r.Response.Body(), head...), b.params(name, r.PostBody())
	if len(b.signature) == 0 {
		body, err = appendRows(body, conn.ExecPrepared(context.Background(), name, params, nil, nil))
	} else {
		body, err = b.walled(conn, name, params, body)
	}
	if err != nil {
		return err
	}
	r.Response.SetBodyRaw(append(body, `],"success":true}`...))
	return nil
}

// appendRows copies all rows.
func appendRows(body []byte, result *pgconn.ResultReader) ([]byte, error) {
	for n := 0; result.NextRow(); n++ {
		body = appendRow(body, n, result.Values())
	}
	_, err := result.Close()
	return body, err
}

// appendRow copies the n-th row's cells between quotes.
func appendRow(body []byte, n int, cells [][]byte) []byte {
	if n > 0 {
		body = append(body, ',')
	}
	body = append(body, '[')
	for i, cell := range cells {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(append(append(body, '"'), cell...), '"')
	}
	return append(body, ']')
}

// params are the texts in quotes of "args":[…], the server's id before them. An INSERT's
// first is that already.
func (b *bare) params(name string, body []byte) [][]byte {
	params := [][]byte{b.server}
	_, list, _ := bytes.Cut(body, []byte(`"args":[`))
	for len(list) > 0 && list[0] == '"' {
		end := bytes.IndexByte(list[1:], '"')
		params = append(params, list[1:1+end])
		list = bytes.TrimPrefix(list[end+2:], []byte(","))
	}
	if name == "insert" {
		return params[1:]
	}
	return params
}
