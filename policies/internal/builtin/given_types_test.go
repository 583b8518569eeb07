package builtin_test

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
)

// TestEveryGivenType gives a placeholder every type that this machine's Postgres has, by its
// OID: it is admitted where the set has its name, or that of its elements.
func TestEveryGivenType(t *testing.T) {
	rows, err := connect(t).Query(t.Context(), `SELECT t.oid, t.typname::text, coalesce(e.typname::text, '')
		FROM pg_type t LEFT JOIN pg_type e ON e.typarray = t.oid WHERE t.typnamespace = 'pg_catalog'::regnamespace`)
	if err != nil {
		t.Fatal(err)
	}
	type given struct {
		oid           uint32
		name, element string
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (g given, err error) {
		return g, row.Scan(&g.oid, &g.name, &g.element)
	})
	if err != nil || len(all) < 200 {
		t.Fatal(len(all), err)
	}
	p, set, admitted := decider(t), policies.Types(), 0
	for _, g := range all {
		want := g.name == "unknown" || slices.Contains(set, g.name) || slices.Contains(set, g.element)
		d := p.Decide("SELECT $1", policy.Postgres, g.oid)
		if (d.Verdict == policy.Allow) != want || !want && d.Refusal.Code != policy.TypeNotAllowed {
			t.Errorf("%s (%d): %v %+v", g.name, g.oid, d.Verdict, d.Refusal)
		}
		if want {
			admitted++
		}
	}
	if admitted != 2*len(set)+1 {
		t.Errorf("%d of %d types are admitted, the set has %d", admitted, len(all), len(set))
	}
}
