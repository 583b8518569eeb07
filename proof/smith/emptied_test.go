package smith_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/proof/statement"
)

// Ensure what excuses an error has the server's rows and those of nobody else, and still the plans of all rows.
func TestEmptied(t *testing.T) {
	build(t)
	for _, table := range statement.Tables() {
		rows := fmt.Sprintf("SELECT count(*) FROM %s.%q", table.Schema, table.Name)
		if here, own := ask[int](t, world.alone, rows), ask[int](t, world.own, rows); here != own {
			t.Errorf("%s: %d rows, and %d in the server's own database", table.Name, here, own)
		}
		plan := fmt.Sprintf("EXPLAIN (FORMAT json) SELECT * FROM %s.%q ORDER BY 1", table.Schema, table.Name)
		if here, all := ask[string](t, world.alone, plan), ask[string](t, world.shared, plan); here != all {
			t.Errorf("%s: the plan is %s, and %s before all rows", table.Name, here, all)
		}
	}
}

// ask gives the one value that a query answers.
func ask[T any](t *testing.T, url, query string) (value T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if err := conn.QueryRow(t.Context(), query).Scan(&value); err != nil {
		t.Fatal(query, ": ", err)
	}
	return value
}
