package clients_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

func run(ctx context.Context, url string, texts ...string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	for _, text := range texts {
		if _, err := conn.PgConn().Exec(ctx, text).ReadAll(); err != nil {
			return err
		}
	}
	return nil
}

// digest tells of the rows of the server that no client is.
func digest(ctx context.Context, url string) (string, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(ctx) }()
	var all strings.Builder
	for _, table := range []string{"samples", "branches", "tellers", "accounts", "history", "conversations", "messages"} {
		var rows, sum string
		query := "SELECT count(*)::text, coalesce(sum(hashtextextended(x::text, 0)), 0)::text FROM " + table + " AS x WHERE server_id = 'CANARY'"
		if err := conn.QueryRow(ctx, query).Scan(&rows, &sum); err != nil {
			return "", err
		}
		fmt.Fprintln(&all, table, rows, sum)
	}
	return all.String(), nil
}
