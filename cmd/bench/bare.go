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
type bare struct {
	server []byte
	conns  chan *pgconn.PgConn
}

// newBare connects, and prepares every statement on each connection.
func newBare(ctx context.Context, f *frontCommand) (*bare, error) {
	b := &bare{server: []byte(f.Server), conns: make(chan *pgconn.PgConn, f.Pool)}
	for range f.Pool {
		conn, err := pgconn.Connect(ctx, f.URL)
		if err != nil {
			return nil, errors.New("connecting to Postgres failed (the reason may hold a password)")
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

func (b *bare) answer(r *fasthttp.RequestCtx, name, head string) error {
	conn := <-b.conns
	defer func() { b.conns <- conn }()
	result := conn.ExecPrepared(context.Background(), name, b.params(name, r.PostBody()), nil, nil)
	body := append(r.Response.Body(), head...)
	for n := 0; result.NextRow(); n++ {
		if n > 0 {
			body = append(body, ',')
		}
		body = append(body, '[')
		for i, cell := range result.Values() {
			if i > 0 {
				body = append(body, ',')
			}
			body = append(append(append(body, '"'), cell...), '"')
		}
		body = append(body, ']')
	}
	if _, err := result.Close(); err != nil {
		return err
	}
	r.Response.SetBodyRaw(append(body, `],"success":true}`...))
	return nil
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
