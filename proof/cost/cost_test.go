// Package cost measures what the second and the third wall add to a statement, side by side
// in one run on one Postgres: make bench-walls.
//
// Each round runs every statement in every variant, in a random order. Printed
// are medians over the rounds, also of the ratios: a busy machine slows a whole round
// down, and a ratio within a round stays the same. A part of the time is the client's and the
// socket's; on Linux the CPU time of Postgres' process is printed beside it.
package cost

import (
	"context"
	"flag"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
)

var rounds = flag.Int("rounds", 2, "turns of each statement in each way")

const (
	each    = 20 // statements run in one way before the next way has its turn
	session = 20 // rounds run on the same connections: a process can have a bad place
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// taken is what one statement took, on average over a turn.
type taken struct{ elapsed, cpu time.Duration }

// TestCost also holds that a statement has the same number of rows in every way.
func TestCost(t *testing.T) {
	b := open(t)
	results := make([][][]taken, len(queries)) // by query, way and round
	for left := *rounds; left > 0; left -= session {
		if !t.Run("session", func(t *testing.T) { b.run(t, min(left, session), results) }) {
			return
		}
	}
	for q, byWay := range results {
		report(t, queries[q], byWay)
	}
}

// run adds what each query took in each way, in some rounds on connections of their own.
func (b *bench) run(t *testing.T, rounds int, results [][][]taken) {
	ways := b.ways(t)
	for round := range rounds + 1 {
		for q := range queries {
			if results[q] == nil {
				results[q] = make([][]taken, len(ways))
			}
			samples := b.samples(t, queries[q])
			for _, w := range rand.Perm(len(ways)) {
				took := turn(t, ways[w], queries[q], samples)
				if round > 0 { // the first prepares and warms up
					results[q][w] = append(results[q][w], took)
				}
			}
		}
	}
}

func turn(t *testing.T, w way, q query, samples []sample) taken {
	t.Helper()
	ctx := context.Background()
	cpu, start := w.cpu(t), time.Now()
	for _, s := range samples {
		rows, err := w.run(ctx, s)
		if err != nil || rows != q.rows {
			t.Fatalf("%s, %s: %d rows, want %d: %v", q.name, w.name, rows, q.rows, err)
		}
	}
	elapsed := time.Since(start)
	return taken{elapsed / each, (w.cpu(t) - cpu) / each}
}

// report prints a statement's figures; the first way is what the others are compared with.
func report(t *testing.T, q query, byWay [][]taken) {
	elapsed := func(x taken) time.Duration { return x.elapsed }
	cpu := func(x taken) time.Duration { return x.cpu }
	t.Logf("%-12s %s", q.name, q.text)
	for w := range byWay {
		t.Logf("    %-36s %6.0f us %5.2f x    Postgres' CPU %6.1f us %5.2f x", names[w],
			micro(byWay[w], elapsed), ratio(byWay[w], byWay[0], elapsed), micro(byWay[w], cpu), ratio(byWay[w], byWay[0], cpu))
	}
}

func micro(list []taken, of func(taken) time.Duration) float64 {
	var us []float64
	for _, x := range list {
		us = append(us, float64(of(x).Nanoseconds())/1e3)
	}
	return median(us)
}

// ratio is the median of what list took, in terms of what base took in the same round.
func ratio(list, base []taken, of func(taken) time.Duration) float64 {
	var ratios []float64
	for i := range list {
		if of(base[i]) > 0 {
			ratios = append(ratios, float64(of(list[i]))/float64(of(base[i])))
		}
	}
	return median(ratios)
}

func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)/2]
}
