package builtin_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
)

// rowCalls are calls of @ with a row that has a column @.
var rowCalls = []string{
	`SELECT "@"(x)::text FROM (SELECT 'column' AS "@") AS x`,
	`SELECT "@"(x.*)::text FROM (SELECT 'column' AS "@", 1 AS n) AS x GROUP BY x."@", x.n`,
	`SELECT "@"((SELECT x))::text FROM (SELECT 'column' AS "@") AS x`,
	`SELECT "@"(CASE WHEN true THEN x END)::text FROM (SELECT 'column' AS "@") AS x`,
}

// Ensure Postgres calls a function in every admitted call with a row: where it has none that takes a row, it takes the name
// for the row's column.
func TestRowCalls(t *testing.T) {
	db, p := connect(t), decider(t)
	columns, calls := 0, 0
	for _, f := range slices.Sorted(slices.Values(policies.Sets()["@builtin-safe"])) {
		for _, text := range rowCalls {
			text = strings.ReplaceAll(text, "@", f)
			var got *string
			isColumn := db.QueryRow(t.Context(), text).Scan(&got) == nil && got != nil && *got == "column"
			if isColumn {
				columns++
			}
			if p.Decide(text, policy.Postgres).Verdict != policy.Allow {
				continue
			}
			calls++
			if isColumn {
				t.Errorf("admitted as a call, and Postgres reads a column: %s", text)
			}
		}
	}
	t.Logf("a column in %d texts; %d texts admitted", columns, calls)
	if columns < 2_000 || calls < 30 {
		t.Error("too few were tried")
	}
}
