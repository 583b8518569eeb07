package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// sample is what one turn of a front gave.
type sample struct {
	turn
	cpu            time.Duration // per 10,000 requests
	bytes, objects float64       // allocated per request
	resident       int           // bytes, at the end of the turn
}

// cell is where samples belong: a statement, so many clients, a front.
type cell struct {
	statement string
	clients   int
	front     string
}

// results are the samples of each cell, one for each round.
type results map[cell][]sample

// Run measures and prints.
func (c *compareCommand) Run(ctx context.Context) error {
	d, err := makeDatabase(ctx, c.PGBin)
	if err != nil {
		return err
	}
	defer d.stop(ctx)
	fronts, err := startFronts(ctx, c, d)
	defer func() {
		for _, f := range fronts {
			f.stop()
		}
	}()
	if err != nil {
		return err
	}
	all := results{}
	for _, s := range statements {
		if len(c.Statement) > 0 && !slices.Contains(c.Statement, s.name) {
			continue
		}
		for _, clients := range c.Connections {
			if err := c.rounds(ctx, d, fronts, s, clients, all); err != nil {
				return fmt.Errorf("%s, %d clients: %w", s.name, clients, err)
			}
			fmt.Print(all.table(s.name, clients))
		}
	}
	return store("make bench", all.document(ctx, c, d), c.Out)
}

// rounds gives each front its turns, in another order each round; the first warms up.
func (c *compareCommand) rounds(ctx context.Context, d *database, fronts []*front, s statement, clients int, all results) error {
	loads := make([]load, len(fronts))
	for i, f := range fronts {
		loads[i] = load{addr: f.addr, clients: clients, request: inTurns(f.requests(server, s), clients)}
	}
	return c.takeTurns(len(fronts)+1, func(i int, counts bool) (err error) {
		name, measured := "pgbench", sample{}
		if i == len(fronts) {
			measured.turn, err = c.direct(ctx, d, s, clients, c.Turn)
		} else {
			name = fronts[i].name
			measured, err = fronts[i].measure(ctx, loads[i], c.Turn)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if at := (cell{s.name, clients, name}); counts {
			all[at] = append(all[at], measured)
		}
		return nil
	})
}

// takeTurns gives each of n its turn, in another order each round; those of the first round
// warm up and do not count.
func (o options) takeTurns(n int, turn func(i int, counts bool) error) error {
	for round := range o.Rounds + 1 {
		for _, i := range rand.Perm(n) { //nolint:gosec // an order
			if err := turn(i, round > 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// measure is a front's turn.
func (f *front) measure(ctx context.Context, l load, length time.Duration) (sample, error) {
	before, err := f.used(ctx)
	if err != nil {
		return sample{}, err
	}
	var s sample
	if s.turn, err = l.send(ctx, length); err != nil {
		return s, err
	}
	after, err := f.used(ctx)
	if err != nil {
		return s, err
	}
	n := float64(s.requests)
	s.cpu = time.Duration(float64(after.cpu-before.cpu) / n * 10_000)
	s.bytes, s.objects = (after.bytes-before.bytes)/n, (after.objects-before.objects)/n
	s.resident, err = residentOf(f.cmd.Process.Pid)
	return s, err
}

func (f *front) used(ctx context.Context) (u usage, err error) {
	if u.bytes, u.objects, err = allocated(ctx, f.counts); err != nil {
		return u, err
	}
	u.cpu, err = cpuOf(f.cmd.Process.Pid)
	return u, err
}
