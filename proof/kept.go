package proof

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Kept is a database whose tables and indexes keep the sizes that they had, which plans go by.
type Kept struct {
	conn  *pgx.Conn
	sizes string
}

// Keep connects to a database that Emptied copied. The URL is the superuser's.
func Keep(ctx context.Context, url string) (*Kept, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	k := &Kept{conn: conn}
	if k.sizes, err = k.Sizes(ctx); err != nil {
		k.Close(ctx)
		return nil, err
	}
	return k, nil
}

// Restore takes away what rows that were rolled back made the database grow by.
func (k *Kept) Restore(ctx context.Context) error {
	if now, err := k.Sizes(ctx); err != nil || now == k.sizes {
		return err
	}
	for _, sql := range tidied {
		if _, err := k.conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	now, err := k.Sizes(ctx)
	if err == nil && now != k.sizes {
		err = fmt.Errorf("the sizes were %s and became %s", k.sizes, now)
	}
	return err
}

// tidied makes the sizes of a database depend on the rows that it shows alone. Every page is read: otherwise VACUUM
// estimates how many rows a table has.
var tidied = []string{"VACUUM (DISABLE_PAGE_SKIPPING)", "REINDEX SCHEMA public", "REINDEX SCHEMA shop"}

// Sizes gives what the planner reads of tables and indexes: pages now, and pages, rows and visible pages at the last VACUUM.
func (k *Kept) Sizes(ctx context.Context) (sizes string, err error) {
	err = k.conn.QueryRow(ctx, `
		SELECT string_agg(concat_ws(' ', oid::regclass, pg_relation_size(oid) / current_setting('block_size')::int, relpages, reltuples, relallvisible), ', ' ORDER BY oid)
		FROM pg_class WHERE relkind IN ('r', 'i') AND relnamespace IN ('public'::regnamespace, 'shop'::regnamespace)`).Scan(&sizes)
	return sizes, err
}

// Close ends the connection.
func (k *Kept) Close(ctx context.Context) { _ = k.conn.Close(ctx) }
