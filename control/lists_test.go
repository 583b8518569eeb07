package control

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Ensure the order of a server's rows does not show how often its neighbour has a value. Once a page of an index is
// full, Postgres keeps the places of rows of one value in lists, which a backward scan reads forwards: where the first
// one ends depends on all that is on the page. The test sees that where the indexes keep lists.
func TestOrderOfNeighbours(t *testing.T) {
	const lists = `ALTER INDEX conversations_created SET (deduplicate_items = on); REINDEX INDEX conversations_created`
	for _, c := range []struct {
		sql  string
		told bool
	}{{"", false}, {lists, true}} {
		var seen [2]string
		for side := range seen {
			url, _ := bundledDB(t)
			seen[side] = amongNeighbours(t, url, c.sql, side == 0)
		}
		if told := seen[0] != seen[1]; told != c.told {
			t.Errorf("%q: the order tells of others: %t", c.sql, told)
		}
	}
}

// amongNeighbours gives the order of a server's rows where the next server has many rows of one time, or none.
func amongNeighbours(t *testing.T, url, sql string, alike bool) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	const fill = `INSERT INTO conversations (server_id, id, created_at)
		SELECT 's' || to_char(s, 'FM000'), g::text, CASE WHEN s = %d AND g <= 60 THEN '2020-01-01'::timestamptz ELSE '2020-01-01'::timestamptz + g * interval '1 s' END
		FROM generate_series(1, 100) AS s, generate_series(1, 200) AS g;
		SET enable_sort = off; SET enable_seqscan = off; SET enable_bitmapscan = off; `
	other := 51
	if !alike {
		other = 77
	}
	if _, err := conn.Exec(t.Context(), fmt.Sprintf(fill, other)+sql); err != nil {
		t.Fatal(err)
	}
	var seen string
	for n := 20; n <= 200; n += 10 {
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), `INSERT INTO conversations (server_id, id, created_at) SELECT 's050', 'p' || g, '2030-01-01' FROM generate_series(1, $1) g`, n); err != nil {
			t.Fatal(err)
		}
		var order string
		if err := tx.QueryRow(t.Context(), `SELECT string_agg(id, ' ') FROM (SELECT id FROM conversations WHERE server_id = 's050' ORDER BY created_at DESC LIMIT 60) s`).Scan(&order); err != nil {
			t.Fatal(err)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		seen += order + "\n"
	}
	return seen
}
