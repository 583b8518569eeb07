package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// scene is what the quiet servers have beside them, and what came of it.
type scene struct {
	name          string
	other         func(ctx context.Context, length time.Duration) (turn, error) // nil: nothing
	quiet, others []sample                                                      // of each round
}

// lead is how long the other one has been at it when the quiet ones begin.
const lead = time.Second / 2

// database makes one with the quiet servers and another one.
func (c *crowdCommand) database(ctx context.Context) (*database, error) {
	d, err := makeDatabase(ctx, c.PGBin)
	if err != nil {
		return nil, err
	}
	if err := d.addServers(ctx, "s", c.Quiet+1); err != nil {
		d.stop(ctx)
		return nil, err
	}
	return d, nil
}

// Run measures and prints.
func (c *crowdCommand) Run(ctx context.Context) error {
	if len(c.Attack) > 0 {
		return c.underAttack(ctx)
	}
	d, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer d.stop(ctx)
	f, err := startTenantgate(ctx, c.options, d)
	if err != nil {
		return err
	}
	defer f.stop()
	alone, err := load{addr: f.addr, clients: 1, request: inTurns(f.requests(server, heavy), 1)}.send(ctx, c.Turn)
	if err != nil {
		return fmt.Errorf("%s: %w", heavy.name, err)
	}
	scenes := c.scenes(f, d, alone.p50)
	if err := c.rounds(ctx, c.quiet(f), scenes); err != nil {
		return err
	}
	text := c.made(ctx, d) + c.document(scenes)
	fmt.Print(text)
	return store("make bench-crowd", text, c.Out)
}

// scenes are all; took is what the heavy statement takes.
func (c *crowdCommand) scenes(f *front, d *database, took time.Duration) []*scene {
	all := []*scene{{name: "alone"}}
	for _, s := range []statement{statements[0], heavy} {
		name := "beside point selects"
		if s.name == heavy.name {
			name = fmt.Sprintf("beside statements of %d ms", took.Milliseconds())
		}
		l := load{addr: f.addr, clients: c.Clients, request: inTurns(f.requests(server, s), c.Clients), refusals: true}
		all = append(all, &scene{name: name, other: l.send}, &scene{name: name + ", by pgbench", other: func(ctx context.Context, length time.Duration) (turn, error) {
			return c.direct(ctx, d, s, c.most(), (length + time.Second - 1).Truncate(time.Second))
		}})
	}
	return all
}

// most is how many of the connections tenantgate leaves to one server.
func (c *crowdCommand) most() int { return c.Pool - c.Pool/4 }

// quiet is the load of the quiet servers: each client is another's.
func (c *crowdCommand) quiet(f *front) load {
	requests := make([][][]byte, c.Quiet)
	for i := range requests {
		requests[i] = f.requests("s"+strconv.Itoa(i+2), statements[0])
	}
	return load{addr: f.addr, clients: c.Quiet, pause: c.Pause, refusals: true, request: func(client, n int) []byte {
		return requests[client][n%messages]
	}}
}

// rounds plays the scenes, in another order each round; the first warms up.
func (c *crowdCommand) rounds(ctx context.Context, quiet load, scenes []*scene) error {
	return c.takeTurns(len(scenes), func(i int, counts bool) error {
		s := scenes[i]
		got, other, err := s.play(ctx, quiet, c.Turn)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if counts {
			s.quiet, s.others = append(s.quiet, sample{turn: got}), append(s.others, sample{turn: other})
		}
		return nil
	})
}

// play gives what the quiet servers saw in a turn, and the other one.
func (s *scene) play(ctx context.Context, quiet load, length time.Duration) (got, other turn, err error) {
	if s.other == nil {
		got, err = quiet.send(ctx, length)
		return got, other, err
	}
	var failed error
	var wg sync.WaitGroup
	wg.Go(func() { other, failed = s.other(ctx, lead+length) })
	time.Sleep(lead)
	got, err = quiet.send(ctx, length)
	wg.Wait()
	return got, other, errors.Join(err, failed)
}

const crowdHeading = `
%d servers with one client each, which waits %s between an answer and its next point select, beside one server whose %d clients
send without pause; tenantgate as it is shipped, with all walls, but without limits of a server's rate and, up to 1,000, of its
statements at once. Clients, tenantgate and Postgres share the CPUs. What this alone costs the quiet ones is beside pgbench, which sends
the same to Postgres over %d connections, as many as tenantgate leaves to one server. Least: the answers a second of the server that had
the fewest. Refused: answers 429 and 503, of all requests of all turns.

| quiet servers | requests/s | least | p50 µs | p99 µs | refused | rate / alone | p50 / alone | p99 / alone | the other one: requests/s | p50 µs | p99 µs | refused |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
`

// document is the Markdown; the first scene is the measure of the others.
func (c *crowdCommand) document(scenes []*scene) string {
	var b strings.Builder
	fmt.Fprintf(&b, crowdHeading, c.Quiet, c.Pause, c.Clients, c.most())
	alone := scenes[0].quiet
	for _, s := range scenes {
		fmt.Fprintf(&b, "| %s | %.0f | %.1f | %.0f | %.0f | %s | %.2f | %.2f | %.2f |", s.name, median(s.quiet, rate), median(s.quiet, least),
			median(s.quiet, p50), median(s.quiet, p99), refused(s.quiet), ratio(s.quiet, alone, rate), ratio(s.quiet, alone, p50), ratio(s.quiet, alone, p99))
		if s.other == nil {
			b.WriteString(" | | | |\n")
			continue
		}
		fmt.Fprintf(&b, " %.0f | %.0f | %.0f | %s |\n", median(s.others, rate), median(s.others, p50), median(s.others, p99), refused(s.others))
	}
	return b.String()
}

// refused adds up: a median would hide what happens now and then.
func refused(list []sample) string {
	refused, all := 0, 0
	for _, s := range list {
		refused += s.refused
		all += s.refused + s.requests
	}
	return fmt.Sprintf("%d of %d", refused, all)
}
