package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/policy"
)

// connectTime bounds the making of a connection, goodbyeTime its end.
const (
	connectTime = 15 * time.Second
	goodbyeTime = 2 * time.Second
)

// session is a connection with a transaction that can change nothing.
type session struct {
	config         *pgx.ConnConfig
	conn           *pgx.Conn
	tx             pgx.Tx
	user, database string
	place          string // tells databases apart, on whatever hosts
	release        int    // such as 150018
}

// open connects. The transaction sees one state of the database, and prints every name
// with its schema.
func open(ctx context.Context, url string) (*session, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errors.New("the URL can't be read") // the library's error quotes it
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // behind a pooler nothing can be prepared
	config.RuntimeParams["application_name"] = "tenantgate doctor"
	connecting, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	conn, err := pgx.ConnectConfig(connecting, config)
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	s := &session{config: config, conn: conn}
	if err := s.begin(ctx); err != nil {
		s.close(ctx)
		return nil, err
	}
	return s, nil
}

func (s *session) begin(ctx context.Context) (err error) {
	s.tx, err = s.conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return fmt.Errorf("beginning to look: %w", err)
	}
	if _, err = s.tx.Exec(ctx, "SET LOCAL search_path = pg_catalog, pg_temp; SET LOCAL jit = off"); err != nil {
		return fmt.Errorf("beginning to look: %w", err)
	}
	err = s.tx.QueryRow(ctx, `SELECT current_user::text, current_database()::text, (SELECT oid FROM pg_database WHERE datname = current_database()) || ' ' || extract(epoch FROM pg_postmaster_start_time()),
		current_setting('server_version_num')::int`).Scan(&s.user, &s.database, &s.place, &s.release)
	if err != nil {
		return fmt.Errorf("asking where this is: %w", err)
	}
	return nil
}

// close ends the transaction with the connection.
func (s *session) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbyeTime)
	defer cancel()
	_ = s.conn.Close(ctx) // nothing is left to lose
}

// scopeTypes reads the types of the scope columns, and how SQL writes the tables' names.
func (s *session) scopeTypes(ctx context.Context, n *named) (map[policy.TableName]policy.Type, error) {
	policies, err := n.text()
	if err != nil {
		return nil, err
	}
	var text []byte
	const query = `SELECT coalesce(json_agg(json_build_object('table', named.schema, 'name', named.name, 'ident', named.ident, 'oid', named.oid::int8, 'schema', n.nspname, 'type', t.typname)), '[]')::text
		FROM named LEFT JOIN scoped ON scoped.oid = named.oid LEFT JOIN pg_type t ON t.oid = scoped.atttypid LEFT JOIN pg_namespace n ON n.oid = t.typnamespace`
	err = s.tx.QueryRow(ctx, with(query)+query, s.user, policies).Scan(&text)
	if err != nil {
		return nil, fmt.Errorf("reading the scope columns: %w", err)
	}
	var rows []struct {
		Table, Name, Ident, Schema, Type string
		OID                              uint32
	}
	if err := json.Unmarshal(text, &rows); err != nil {
		return nil, fmt.Errorf("reading the scope columns: %w", err)
	}
	types := map[policy.TableName]policy.Type{}
	for _, r := range rows {
		if r.Type != "" {
			types[policy.TableName{Schema: r.Table, Name: r.Name}] = policy.Type{Schema: r.Schema, Name: r.Type}
		}
		for _, t := range n.Tables {
			if t.Schema == r.Table && t.Name == r.Name && (r.Type != "" || !t.Scoped) {
				t.ident, t.oid = r.Ident, r.OID
			}
		}
	}
	return types, nil
}
