package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// version is a tenantgate that serves one database at the same time as another one, over HTTP and over Postgres' protocol.
type version struct {
	rest *front
	wire *wireFront
}

// sides are the turns of two versions, the older one's first: a turn of each for a round.
type sides [2][]wired

// Run measures and prints.
func (c *versionsCommand) Run(ctx context.Context) error {
	if c.Rounds < 1 {
		return errors.New("--rounds must be 1 or more")
	}
	d, err := makeDatabase(ctx, c.PGBin)
	if err != nil {
		return err
	}
	defer d.stop(ctx)
	var both [2]*version
	for i, program := range []string{c.Before, c.Tenantgate} {
		if both[i], err = c.start(ctx, d, program); err != nil {
			return fmt.Errorf("%s: %w", program, err)
		}
		defer both[i].rest.stop()
	}
	text := c.made(ctx, d) + versionsHeading
	fmt.Print(versionsHeading)
	for _, m := range c.measurements(both) {
		all, err := c.measure(ctx, d, both, m)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		row := all.row(m.name)
		fmt.Print(row)
		text += row
	}
	return store("make bench-versions", text, c.Out)
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

// measurement is a row of the table.
type measurement struct {
	name string
	send [2]func(context.Context) (turn, error) // of each version
}

// measurements are all that were asked for.
func (c *versionsCommand) measurements(both [2]*version) (list []measurement) {
	for _, s := range statements {
		if !slices.Contains(c.Statement, s.name) {
			continue
		}
		for _, clients := range c.Connections {
			m := measurement{name: fmt.Sprintf("REST, %d clients, %s", clients, s.name)}
			for i, v := range both {
				l := load{addr: v.rest.addr, clients: clients, request: inTurns(v.rest.requests(server, s), clients)}
				m.send[i] = func(ctx context.Context) (turn, error) { return l.send(ctx, c.Turn) }
			}
			list = append(list, m)
		}
	}
	for _, mode := range c.Mode {
		m := measurement{name: fmt.Sprintf("Postgres' protocol, %d clients, point, %s", c.Clients, mode)}
		for i, v := range both {
			m.send[i] = func(ctx context.Context) (turn, error) {
				return c.pgbench(ctx, v.wire.script("point", mode), mode, v.wire.url, c.Clients, max(1, int(c.Turn.Seconds())))
			}
		}
		list = append(list, m)
	}
	return list
}

// measure gives both versions their turns.
func (c *versionsCommand) measure(ctx context.Context, d *database, both [2]*version, m measurement) (all sides, err error) {
	err = c.takeTurns(len(both), func(i int, counts bool) error {
		got, err := both[i].wire.take(ctx, d, func() (turn, error) { return m.send[i](ctx) })
		if err == nil && counts {
			all[i] = append(all[i], got)
		}
		return err
	})
	return all, err
}

const versionsHeading = `
| newer / older; in brackets, the quartiles of the rounds | rate | CPU of tenantgate | CPU of Postgres | µs of CPU of tenantgate: older, newer | of Postgres: older, newer |
|---|---|---|---|---|---|
`

// row is the Markdown of a measurement. Postgres' CPU is that of all its processes; the CPU is counted in ticks of 10 ms.
func (s sides) row(name string) string {
	columns := []string{name, s.spread(wiredRate), s.spread(frontCPU), s.spread(postgresCPU), s.beside(frontCPU), s.beside(postgresCPU)}
	return "| " + strings.Join(columns, " | ") + " |\n"
}

// spread is the median of the rounds' ratios, and their quartiles.
func (s sides) spread(of func(wired) float64) string {
	ratios := make([]float64, len(s[0]))
	for i := range ratios {
		ratios[i] = of(s[1][i]) / of(s[0][i])
	}
	slices.Sort(ratios)
	return fmt.Sprintf("%.2f (%.2f–%.2f)", middle(ratios), ratios[len(ratios)/4], ratios[len(ratios)*3/4])
}

// beside is the median of each version.
func (s sides) beside(of func(wired) float64) string {
	return fmt.Sprintf("%.1f, %.1f", median(s[0], of), median(s[1], of))
}
