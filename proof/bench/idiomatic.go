package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// idiomatic is what somebody would write by hand for these five statements, without a
// firewall: net/http, encoding/json and pgxpool, each used as its page shows.
type idiomatic struct {
	server string
	pool   *pgxpool.Pool
}

func newIdiomatic(ctx context.Context, f *frontCommand) (*idiomatic, error) {
	config, err := pgxpool.ParseConfig(f.URL)
	if err != nil {
		return nil, errors.New("the database's URL is not one (not shown, it may hold a password)")
	}
	config.MaxConns = int32(f.Pool) //nolint:gosec // a few
	pool, err := pgxpool.NewWithConfig(ctx, config)
	return &idiomatic{server: f.Server, pool: pool}, err
}

// serve answers until the listener is closed.
func (d *idiomatic) serve(l net.Listener) error {
	mux := http.NewServeMux()
	for _, s := range statements {
		mux.HandleFunc("POST /"+s.name, func(w http.ResponseWriter, r *http.Request) { d.answer(w, r, s) })
	}
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	return srv.Serve(l)
}

type question struct {
	Query string `json:"query"`
	Args  []any  `json:"args"`
}

type reply struct {
	Columns      []string `json:"columns"`
	Rows         [][]any  `json:"rows"`
	RowsAffected int64    `json:"rowsAffected"`
	Success      bool     `json:"success"`
}

func (d *idiomatic) answer(w http.ResponseWriter, r *http.Request, s statement) {
	var q question
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if s.name != "insert" {
		q.Args = append([]any{d.server}, q.Args...)
	}
	rows, err := d.pool.Query(r.Context(), s.hand, q.Args...)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer rows.Close()
	out := reply{Columns: []string{}, Rows: [][]any{}, Success: true}
	for _, f := range rows.FieldDescriptions() {
		out.Columns = append(out.Columns, f.Name)
	}
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		out.Rows = append(out.Rows, values)
	}
	if err := rows.Err(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	rows.Close()
	out.RowsAffected = rows.CommandTag().RowsAffected()
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(out); err != nil {
		return // the client went away
	}
}
