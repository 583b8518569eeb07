package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/tenantgate/tenantgate/wall"
)

// part is one of those that a migration makes.
type part struct {
	name, schema string
	holds        string   // what the tables' names stand behind
	tables       []string // of the schema, where others may lie there too; else all
	mark         string   // a query for a number that is another after each change
	marked       string   // the table that it reads
	hidesMarked  bool     // that table is not worth a word
}

var (
	controlPart = part{name: "the control store", schema: "tenantgate", holds: "tables ", mark: "max(version_id)", marked: "tenantgate.migrations", hidesMarked: true}
	wallPart    = part{name: "row-level security's view and keys", schema: wall.Schema, holds: "view server, tables ", mark: wallMark, marked: wall.Keys}
	bundledPart = part{name: "the bundled tables", schema: "public", holds: "tables ", tables: []string{"conversations", "end_users", "files", "messages"},
		mark: "max(version_id)", marked: "public.tenantgate_migrations", hidesMarked: true}
)

// wallMark is made of the keys and of the view's text, and of what it is; and of the function
// that earlier versions had, which goes when nothing depends on it.
const wallMark = `coalesce(sum(hashtext(encode("inner", 'hex'))::int8), 0)::int8 + (SELECT coalesce(sum(hashtext(pg_catalog.pg_get_viewdef(c.oid) || c.reloptions::text)::int8), 0)::int8
	FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'v' AND n.nspname = '` + wall.Schema + `')
	+ (SELECT coalesce(sum(hashtext(p.prosrc)::int8), 0)::int8 FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = '` + wall.Schema + `')`

// stand is what there is of a part at one time. The zero value is nothing.
type stand struct {
	tables []string
	mark   int64
}

// stand looks at what there is of the part in the database of url.
func (p part) stand(ctx context.Context, url string) (s stand, err error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return s, errors.New("the URL can't be read") // the library's error quotes it
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.ConnectTimeout = 10 * time.Second
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return s, fmt.Errorf("connecting: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to lose
	err = conn.QueryRow(ctx, `SELECT coalesce(array_agg(c.relname::text ORDER BY c.relname), '{}') FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = $1 AND c.relkind = 'r' AND pg_catalog.to_regclass($2) IS NOT NULL`, p.schema, p.marked).Scan(&s.tables)
	if err == nil && len(s.tables) > 0 {
		err = conn.QueryRow(ctx, "SELECT "+p.mark+" FROM "+p.marked).Scan(&s.mark)
	}
	if err != nil {
		return stand{}, fmt.Errorf("looking at what there is in schema %s: %w", p.schema, err)
	}
	s.tables = slices.DeleteFunc(s.tables, func(name string) bool {
		return p.hidesMarked && p.schema+"."+name == p.marked || p.tables != nil && !slices.Contains(p.tables, name)
	})
	return s, nil
}

// migrated makes or updates the part in the database of url, and says what became of it, and
// where.
func (p part) migrated(ctx context.Context, url string, migrate func() error) (said string, err error) {
	before, err := p.stand(ctx, url)
	if err != nil {
		return "", err
	}
	if err := migrate(); err != nil {
		return "", err
	}
	after, err := p.stand(ctx, url)
	if err != nil {
		return "", err
	}
	what := fmt.Sprintf("%s (%s%s)", p.name, p.holds, strings.Join(after.tables, ", "))
	switch {
	case len(before.tables) == 0:
		said = "made " + what
	case before.mark != after.mark || !slices.Equal(before.tables, after.tables):
		said = "updated " + what
	default:
		said = p.name + ": up to date"
	}
	return fmt.Sprintf("%s: schema %s in %s", said, p.schema, whereAndWho(url)), nil
}
