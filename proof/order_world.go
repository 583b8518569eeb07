package proof

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/proof/statement"
)

// The databases of mode order: D, and D' in which the others' values are replaced. Templates, as
// the other databases of a World.
const (
	kestrel database = "kestrel"
	martlet database = "martlet"
)

// twins makes the templates of D and D' for a server, where they are not made yet, and
// demands that they are physically alike.
func (w *World) twins(ctx context.Context, server int) error {
	for _, name := range w.made {
		if name == w.name+"_"+kestrel.of(server) {
			return nil
		}
	}
	var sizes [2]string
	for side, kind := range []database{kestrel, martlet} {
		url, err := w.create(ctx, kind.of(server), w.name+"_base")
		if err != nil {
			return err
		}
		if err := w.wall(ctx, url); err != nil {
			return err
		}
		for _, sql := range []string{skewed(Servers[server], statement.Side(side)), "REINDEX SCHEMA public", "REINDEX SCHEMA shop", "VACUUM (FREEZE, ANALYZE)", unplaced} {
			if err := w.exec(ctx, url, sql); err != nil {
				return fmt.Errorf("filling %s: %w", kind.of(server), err)
			}
		}
		if sizes[side], err = w.sizes(ctx, url); err != nil {
			return err
		}
	}
	if sizes[0] != sizes[1] {
		return errors.New("D and D' differ in more than values: " + firstDifference(sizes[0], sizes[1]))
	}
	return nil
}

// sizes tells what may differ between two databases only if more than values does: sizes, and
// of each column how many values it has, NULLs, and its width.
func (w *World) sizes(ctx context.Context, url string) (string, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(ctx) }()
	var told string
	err = conn.QueryRow(ctx, `SELECT string_agg(line, E'\n' ORDER BY line) FROM (
		SELECT format('%s: %s pages, %s rows', oid::regclass, relpages, reltuples) FROM pg_class WHERE relnamespace IN ('public'::regnamespace, 'shop'::regnamespace)
		UNION ALL SELECT format('%s.%s: %s NULL, %s wide, %s values', tablename, attname, null_frac, avg_width, n_distinct) FROM pg_stats WHERE schemaname IN ('public', 'shop')
	) AS s(line)`).Scan(&told)
	return told, err //nolint:wrapcheck // its caller says of what
}

func firstDifference(a, b string) string {
	other := strings.Split(b, "\n")
	for i, line := range strings.Split(a, "\n") {
		if i >= len(other) || line != other[i] {
			return line + "; " + other[min(i, len(other)-1)]
		}
	}
	return ""
}

// indexes are what an application has beside the schema's: some lead with the scope column. The btree indexes
// are not deduplicated, as doctor asks for it (planner-duplicates).
const indexes = `
	CREATE INDEX ON conversations (title); CREATE INDEX ON conversations (server_id, title);
	CREATE INDEX ON messages (created_at); CREATE INDEX ON messages (conversation_id); CREATE INDEX ON messages (server_id, role);
	CREATE INDEX ON end_users (name); CREATE INDEX ON files (size_bytes); CREATE INDEX ON files (server_id, name);
	CREATE INDEX ON profiles (mark); CREATE INDEX ON profiles (lower(doc)); CREATE INDEX ON profiles (server_id, active); CREATE INDEX ON "Tag List" (val);
	CREATE INDEX ON shop.orders (placed); CREATE INDEX ON notes (token); CREATE INDEX ON notes (owner, done);
	DROP INDEX shop.orders_sku; -- a hash index has as many pages as its values have it
	` + withoutAutovacuum + setDeduplicate + `('off');` + sighted

// deduplicated has btree indexes keep the places of the rows of one value together, as they do by default. A backward
// scan reads such a list forwards, so the order of a server's rows shows where one list ends, which others' rows with
// the value fill.
const deduplicated = setDeduplicate + `('on');`

const setDeduplicate = `CREATE PROCEDURE pg_temp.set_deduplicate(value text) LANGUAGE plpgsql AS $$ DECLARE i regclass; BEGIN
		FOR i IN SELECT c.oid FROM pg_class AS c JOIN pg_am AS am ON am.oid = c.relam WHERE relkind = 'i' AND amname = 'btree' AND relnamespace IN ('public'::regnamespace, 'shop'::regnamespace) LOOP
			EXECUTE format('ALTER INDEX %s SET (deduplicate_items = %s)', i, value);
			EXECUTE format('REINDEX INDEX %s', i);
		END LOOP; END $$;
	CALL pg_temp.set_deduplicate`

// sighted undoes what the bundled schema does: Postgres gathers statistics of all columns.
const sighted = `
	DO $$ DECLARE c record; BEGIN
		FOR c IN SELECT a.attrelid::regclass AS relation, a.attnum, a.attname, r.relkind = 'i' AS index FROM pg_attribute AS a JOIN pg_class AS r ON r.oid = a.attrelid
			WHERE a.attstattarget = 0 AND a.attnum > 0 AND NOT a.attisdropped AND r.relnamespace IN ('public'::regnamespace, 'shop'::regnamespace) LOOP
			IF c.index THEN
				EXECUTE format('ALTER INDEX %s ALTER COLUMN %s SET STATISTICS -1', c.relation, c.attnum);
			ELSE
				EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS -1', c.relation, c.attname);
			END IF;
		END LOOP; END $$;`

// more is how many rows more than the other servers the one with most of them has.
const more = 30

// skewed gives the SQL that fills D or D' for a server. Its own rows lie among the others'.
func skewed(server string, side statement.Side) string {
	var sql strings.Builder
	sql.WriteString(indexes)
	for _, t := range statement.Tables() {
		own, others := 0, 0
		if t.Fits(server) {
			own = t.Own()
		}
		if t.ScopeType != "" {
			others = t.Others()
		}
		all := skewedRows(t, 0, others/2, func(k, i int) (string, bool) { return othersCell(t, k, i, side) })
		all = append(all, skewedRows(t, 0, own, func(k, i int) (string, bool) {
			if t.Columns[k].Kind == statement.Scope {
				return server, false
			}
			return statement.OwnValue(t, k, i)
		})...)
		all = append(all, skewedRows(t, others/2, others, func(k, i int) (string, bool) { return othersCell(t, k, i, side) })...)
		if t.ScopeType != "" { // in D one of the other servers has most rows, in D' another one
			all = append(all, skewedRows(t, others/3, others/3+more, func(k, i int) (string, bool) { return othersCell(t, k, 3*i+int(side), side) })...)
		}
		fmt.Fprintf(&sql, "INSERT INTO %s (%s) VALUES %s;\n", qualified(t), strings.Join(columnNames(t), ", "), strings.Join(all, ", "))
	}
	return sql.String()
}

// othersCell is a value of the others' i-th row.
func othersCell(t *statement.Table, k, i int, side statement.Side) (string, bool) {
	if t.Columns[k].Kind != statement.Scope {
		return statement.OthersValue(t, k, i, side)
	}
	n := 30 + i%3
	if t.ScopeType == statement.UUID {
		return fmt.Sprintf("00000000-0000-4000-8000-%012d", n), false
	}
	return fmt.Sprint(n), false
}

func skewedRows(t *statement.Table, from, to int, value func(k, i int) (string, bool)) []string {
	var all []string
	for i := from; i < to; i++ {
		var cells []string
		for k := range t.Columns {
			if t.Columns[k].Kind == statement.Twice {
				continue
			}
			if v, null := value(k, i); null {
				cells = append(cells, "NULL")
			} else {
				cells = append(cells, literal(v))
			}
		}
		all = append(all, "("+strings.Join(cells, ", ")+")")
	}
	return all
}
