package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// versions are an older and a newer tenantgate, which serve one database at the same time and are asked in turns.
type versions [2]*version

// version is one of them, over HTTP and over Postgres' protocol.
type version struct {
	rest *front
	wire *wireFront
}

// pair is what the two gave in one round.
type pair [2]wired

// Run measures and prints.
func (c *versionsCommand) Run(ctx context.Context) error {
	d, err := makeDatabase(ctx, c.PGBin)
	if err != nil {
		return err
	}
	defer d.stop(ctx)
	var both versions
	for i, program := range []string{c.Before, c.Tenantgate} {
		if both[i], err = c.start(ctx, d, program); err != nil {
			return fmt.Errorf("%s: %w", program, err)
		}
		defer both[i].rest.stop()
	}
	fmt.Print(versionsHeading)
	for _, s := range statements {
		if !slices.Contains(c.Statement, s.name) {
			continue
		}
		for _, clients := range c.Connections {
			row := fmt.Sprintf("REST, %d clients, %s", clients, s.name)
			if err := c.row(ctx, d, row, both, func(v *version) (turn, error) {
				return load{addr: v.rest.addr, clients: clients, request: inTurns(v.rest.requests(server, s), clients)}.send(ctx, c.Turn)
			}); err != nil {
				return err
			}
		}
	}
	for _, mode := range c.Mode {
		row := fmt.Sprintf("Postgres' protocol, %d clients, point, %s", c.Clients, mode)
		if err := c.row(ctx, d, row, both, func(v *version) (turn, error) {
			return c.pgbench(ctx, v.wire.script("point", mode), mode, v.wire.url, c.Clients, max(1, int(c.Turn.Seconds())))
		}); err != nil {
			return err
		}
	}
	return nil
}

func (c *versionsCommand) start(ctx context.Context, d *database, program string) (*version, error) {
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	o := c.options
	o.Tenantgate = program
	f, err := startTenantgate(ctx, o, d, "--pg-addr", local(port))
	if err != nil {
		return nil, err
	}
	return &version{rest: f, wire: d.listener(f, port)}, nil
}

// listener is where a tenantgate serves Postgres' protocol.
func (d *database) listener(f *front, port int) *wireFront {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(server, d.apiKey), Host: local(port), Path: "/" + server, RawQuery: "sslmode=disable"}
	return &wireFront{name: f.name, url: u.String(), pid: f.cmd.Process.Pid, injects: true, stop: f.stop}
}

const versionsHeading = `
| newer / older; in brackets, between which half of the rounds are | rate | CPU of tenantgate | CPU of Postgres | µs of CPU, tenantgate | Postgres |
|---|---|---|---|---|---|
`

// row gives both versions their turns, in another order each round, and prints what came out; the first round warms up.
func (c *versionsCommand) row(ctx context.Context, d *database, name string, both versions, send func(*version) (turn, error)) error {
	pairs := make([]pair, c.Rounds+1)
	for round := range pairs {
		for _, i := range rand.Perm(len(both)) { //nolint:gosec // an order
			got, err := both[i].wire.take(ctx, d, func() (turn, error) { return send(both[i]) })
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			pairs[round][i] = got
		}
	}
	pairs = pairs[1:]
	fmt.Printf("| %s | %s | %s | %s | %s | %s |\n", name, spread(pairs, wiredRate), spread(pairs, frontCPU), spread(pairs, postgresCPU), beside(pairs, frontCPU), beside(pairs, postgresCPU))
	return nil
}

// spread is the median of the rounds' ratios, newer to older, and their quartiles.
func spread(pairs []pair, of func(wired) float64) string {
	ratios := make([]float64, len(pairs))
	for i, p := range pairs {
		ratios[i] = of(p[1]) / of(p[0])
	}
	slices.Sort(ratios)
	return fmt.Sprintf("%.2f (%.2f–%.2f)", middle(ratios), ratios[len(ratios)/4], ratios[len(ratios)*3/4])
}

// beside is the older's median and the newer's.
func beside(pairs []pair, of func(wired) float64) string {
	var medians [2]string
	for i := range medians {
		medians[i] = strconv.FormatFloat(median(pairs, func(p pair) float64 { return of(p[i]) }), 'f', 1, 64)
	}
	return strings.Join(medians[:], ", ")
}
