package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/tenantgate/tenantgate/control"
	"github.com/tenantgate/tenantgate/proxy"
)

// hostile is the project of an attacker: three servers, whose keys log in as Postgres clients.
type hostile struct {
	project, token string
	servers        []string
	keys           []string // of each server
}

// addHostile registers it.
func (d *database) addHostile(ctx context.Context) error {
	store, err := control.Open(ctx, control.Config{ControlURL: d.control})
	if err != nil {
		return err
	}
	defer store.Close()
	project, err := store.CreateProject(ctx, "hostile")
	if err != nil {
		return err
	}
	h := hostile{project: project.ID}
	for _, id := range []string{"hostile1", "hostile2", "hostile3"} {
		_, key, err := store.CreateServerWithID(ctx, project.ID, id, "hostile", "")
		if err != nil {
			return err
		}
		h.servers, h.keys = append(h.servers, id), append(h.keys, key)
	}
	_, h.token, err = store.CreateToken(ctx, control.TokenSpec{Projects: []string{project.ID}, Scopes: proxy.Read | proxy.Write})
	d.hostile = h
	return err
}

// scenario is an attack from so many servers, and what came of it with each program.
type scenario struct {
	attack
	servers  int
	programs []outcome // in the order of crowdCommand.programs
}

// outcome is what the quiet servers saw of one program, alone and under attack, in each round.
type outcome struct {
	alone, attacked []sample
	backends        []sample // resident alone: what Postgres' processes had of their own under attack
	got             string   // what the attacker was answered last
}

// underAttack measures what quiet servers get beside an attacker, before and after.
func (c *crowdCommand) underAttack(ctx context.Context) error {
	list, err := chosen(c.Attack)
	if err != nil {
		return err
	}
	d, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer d.stop(ctx)
	if err := d.addHostile(ctx); err != nil {
		return err
	}
	scenarios := c.scenarios(list)
	for round := range c.Rounds {
		for _, s := range scenarios {
			if err := c.measureRound(ctx, d, s, round); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
	}
	text := c.made(ctx, d) + c.attackTables(ctx, scenarios)
	fmt.Print(text)
	return store("make bench-crowd attacks", text, c.Out)
}

// scenarios are each attack from one server, and from two or more where it needs one.
func (c *crowdCommand) scenarios(list []attack) []*scenario {
	var all []*scenario
	for _, a := range list {
		most := max(a.most, 2)
		if a.nobody {
			most = 1
		}
		for n := range most {
			all = append(all, &scenario{attack: a, servers: n + 1, programs: make([]outcome, len(c.programs()))})
		}
	}
	return all
}

// programs are what is measured in turns; the last one is judged.
func (c *crowdCommand) programs() []string {
	if c.Before == "" {
		return []string{c.Tenantgate}
	}
	return []string{c.Before, c.Tenantgate}
}

// measureRound is one round of a scenario: each program's turn, in the other order each round, on a Postgres that was started for
// it, for what an attack has left in one would go on.
func (c *crowdCommand) measureRound(ctx context.Context, d *database, s *scenario, round int) error {
	programs := c.programs()
	for turn := range programs {
		i := (turn + round) % len(programs)
		program, l := programs[i], &s.programs[i]
		o := c.options
		o.Tenantgate, o.apart = program, true
		if err := c.measureProgram(ctx, o, d, s, l); err != nil {
			return err
		}
		last := len(l.alone) - 1
		fmt.Fprintf(os.Stderr, "%s, %d servers, %s: %.0f/s alone, %.0f/s under attack, %d refused; the attacker: %s\n",
			s.name, s.servers, program, l.alone[last].rate(), l.attacked[last].rate(), l.attacked[last].refused, l.got)
		if err := d.restart(ctx); err != nil {
			return err
		}
	}
	return nil
}

// measureProgram measures the quiet servers alone, then under attack.
func (c *crowdCommand) measureProgram(ctx context.Context, o options, d *database, s *scenario, l *outcome) error {
	port, err := freePort(ctx)
	if err != nil {
		return err
	}
	f, err := startShipped(ctx, o, d, "--pg-addr", local(port))
	if err != nil {
		return err
	}
	defer func() { _ = f.cmd.Process.Kill(); _ = f.cmd.Wait() }() // a drain would wait for the attacker
	quiet := c.quiet(f)
	quiet.anew = visit
	for _, length := range []time.Duration{c.Turn / 4, c.Turn} { // the first warms up
		alone, err := quiet.send(ctx, length)
		if err != nil {
			return err
		}
		if length == c.Turn {
			l.alone = append(l.alone, sample{turn: alone})
		}
	}
	h, err := d.against(f, local(port), s.servers).attack(ctx, s.name)
	if err != nil {
		return err
	}
	if _, err := quiet.send(ctx, s.lead); err != nil { // they don't come when it is over: they are there
		_, _ = h.end()
		return err
	}
	got, err := quiet.send(ctx, c.Turn)
	memory := d.backends(ctx)
	answered, failed := h.end()
	l.attacked, l.backends, l.got = append(l.attacked, sample{turn: got}), append(l.backends, sample{resident: memory}), answered
	return errors.Join(err, failed)
}

// visit is how many requests a quiet client sends on a connection: who is shut out is seen by
// newcomers first.
const visit = 10

// against is what an attacker with so many servers knows.
func (d *database) against(f *front, pgAddr string, servers int) against {
	h := d.hostile
	of := against{HTTP: f.addr, Project: h.project, Token: h.token, Servers: h.servers[:servers]}
	for i, server := range of.Servers {
		u := url.URL{Scheme: "postgres", User: url.UserPassword(server, h.keys[i]), Host: pgAddr, Path: "/" + server, RawQuery: "sslmode=disable"}
		of.URLs = append(of.URLs, u.String())
	}
	return of
}

// backends is how much memory all processes of Postgres have that they share with nobody, in
// bytes; 0 where that can't be read.
func (d *database) backends(ctx context.Context) int {
	var pid int
	if err := d.ask(ctx, "SELECT pg_backend_pid()", &pid); err != nil {
		return 0
	}
	parent, _, err := stat(pid)
	if err != nil {
		return 0
	}
	return ownOfChildren(parent)
}
