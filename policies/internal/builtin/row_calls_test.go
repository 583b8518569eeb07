package builtin_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/policy/sql/tree"
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

// Ensure a function in FROM has one column, named after its alias, unless the lists of package tree say otherwise.
func TestFunctionColumns(t *testing.T) {
	db := connect(t)
	composite := list(t, db, `SELECT DISTINCT p.pronamespace::regnamespace::text, p.proname::text FROM pg_proc p JOIN pg_type r ON r.oid = p.prorettype
		WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f' AND (p.proargmodes && '{o,b,t}' OR r.typtype = 'c' OR r.typname IN ('record', 'anyelement', 'anycompatible', 'anynonarray'))`)
	byArgument := []string{"unnest", "lower", "upper"} // of an array, a range; and unnest of a tsvector
	safe, found := policies.Sets()["@builtin-safe"], 0
	for _, f := range composite {
		if !slices.Contains(safe, f.bare) || slices.Contains(byArgument, f.bare) {
			continue
		}
		found++
		if tree.FunctionColumns[f.bare] == nil && !slices.Contains(tree.RowCalls, f.bare) {
			t.Errorf("%s may have other columns", f.bare)
		}
	}
	arrays := list(t, db, `SELECT 'pg_catalog', p.proname::text FROM pg_proc p JOIN pg_type r ON r.oid = p.prorettype WHERE p.pronamespace = 'pg_catalog'::regnamespace
		GROUP BY p.proname HAVING bool_and(NOT p.proretset AND (r.typcategory = 'A' OR r.typname IN ('anyarray', 'anycompatiblearray')))`)
	for _, name := range tree.ArrayCalls {
		if !slices.ContainsFunc(arrays, func(f named) bool { return f.bare == name }) {
			t.Errorf("%s may give no array", name)
		}
	}
	if found < 15 {
		t.Errorf("only %d functions found", found)
	}
}

// Ensure the lists of package tree name every function that gives rows: a call of another is taken for one value.
func TestSetCalls(t *testing.T) {
	sets := list(t, connect(t), "SELECT DISTINCT pronamespace::regnamespace::text, proname::text FROM pg_proc WHERE proretset AND pronamespace = 'pg_catalog'::regnamespace")
	safe, found := policies.Sets()["@builtin-safe"], 0
	for _, f := range sets {
		if slices.Contains(safe, f.bare) {
			found++
			if !tree.GivesRows(f.bare) && !slices.Contains(tree.RowCalls, f.bare) {
				t.Errorf("%s gives rows", f.bare)
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d functions found", found)
	}
}
