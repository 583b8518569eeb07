package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// attack is what somebody does who wants others to go without.
type attack struct {
	name    string
	what    string        // for the table
	lead    time.Duration // from its begin until the quiet servers are measured
	most    int           // servers of a project that it is measured from; 0: two
	nobody  bool          // it needs no server
	proceed func(ctx context.Context, a *attacker)
}

// attacks are all, in the order of the table. Each was worth it once; see docs/benchmarks.md.
func attacks() []attack {
	return []attack{
		{name: "uncancellable", what: "24 statements that Postgres can't cancel, their clients gone", lead: 5 * time.Second, proceed: func(ctx context.Context, a *attacker) {
			a.send(ctx, 24, 200*time.Millisecond, uncancellable)
		}},
		{name: "plans", what: "texts of 700 bytes whose plans are large, each another one", lead: 2 * time.Second, most: 3, proceed: func(ctx context.Context, a *attacker) {
			a.send(ctx, 8, patient, largePlan)
		}},
		{name: "records", what: "rows of 1,600 columns, each of another type", lead: 2 * time.Second, proceed: func(ctx context.Context, a *attacker) {
			a.send(ctx, 8, patient, newRecord)
		}},
		{name: "transactions", what: "15 + 8 transactions that stay open, with a statement a second", lead: 3 * time.Second, proceed: func(ctx context.Context, a *attacker) {
			a.holdTransactions(ctx, 15, 8)
		}},
		{name: "texts", what: "64 clients with texts of 9 KB, each another one", lead: time.Second, proceed: func(ctx context.Context, a *attacker) {
			a.send(ctx, 64, patient, longText)
		}},
		{name: "half-sent", what: "4,300 half-sent requests from one address", lead: 3 * time.Second, nobody: true, proceed: func(ctx context.Context, a *attacker) {
			a.halfSend(ctx, 4300)
		}},
		{name: together, what: "all of them", lead: 6 * time.Second, proceed: func(ctx context.Context, a *attacker) {
			a.all(ctx)
		}},
	}
}

const (
	together = "together"
	patient  = 5 * time.Second
)

// chosen gives the attacks of these names.
func chosen(names []string) ([]attack, error) {
	var all []attack
	for _, a := range attacks() {
		if slices.Contains(names, "all") || slices.Contains(names, a.name) {
			all = append(all, a)
		}
	}
	for _, name := range names {
		if name != "all" && !slices.ContainsFunc(attacks(), func(a attack) bool { return a.name == name }) {
			return nil, fmt.Errorf("there is no attack %q", name)
		}
	}
	return all, nil
}

// uncancellable are statements that look at no signal for a long time: quadratic functions.
func uncancellable(n int) string {
	if n%2 == 0 {
		return "SELECT length(normalize(repeat(chr(769), 32000) || repeat(chr(790), 32000)))"
	}
	return "SELECT strpos(repeat('a', 560000), 'b' || repeat('a', 280000))"
}

// largePlan doubles with each level what Postgres puts in the place of a row.
func largePlan(n int) string {
	text := fmt.Sprintf("SELECT 1 AS r%d, 2 AS s", n) // a name, since a value is hidden
	text = fmt.Sprintf("SELECT t AS r, t AS s FROM (%s) AS t", text)
	for range 9 {
		text = "SELECT t AS r, t AS s FROM (" + text + ") AS t"
	}
	return "SELECT count(t) FROM (" + text + ") AS t"
}

// newRecord is a row whose columns have types of their own.
func newRecord(n int) string {
	types := []string{"1", "''", ".1"}
	from := rand.New(rand.NewPCG(uint64(n), 1)) //nolint:gosec // no secret
	columns := make([]string, 1600)
	for i := range columns {
		columns[i] = types[from.IntN(len(types))]
	}
	return "SELECT length(CAST(ROW(" + strings.Join(columns, ",") + ") AS text))"
}

// longText takes long to decide on, and is new each time.
func longText(n int) string {
	ids := make([]string, 700)
	for i := range ids {
		ids[i] = fmt.Sprintf("'m%08d'", (n*len(ids)+i)%100_000_000)
	}
	return "SELECT id FROM messages WHERE server_id = ? AND id IN (" + strings.Join(ids, ",") + ")"
}
