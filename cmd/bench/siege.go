package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/tenantgate/tenantgate/control"
	"github.com/tenantgate/tenantgate/proxy"
)

// hostile is the project of an attacker: two servers, whose keys log in as Postgres clients.
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
	for _, id := range []string{"hostile1", "hostile2"} {
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

// battle is an attack from so many servers, and what came of it with each program.
type battle struct {
	attack
	servers  int
	programs []losses // in the order of siegeCommand's
}

// losses are what the quiet servers saw of one program, alone and under attack, in each round.
type losses struct {
	alone, attacked []sample
	backends        []sample // resident alone: what Postgres' processes had of their own under attack
	got             string   // what the attacker was answered last
}

// siege measures what quiet servers get beside an attacker, before and after.
func (c *crowdCommand) siege(ctx context.Context) error {
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
	battles := c.battles(list)
	for range c.Rounds {
		for _, b := range battles {
			if err := c.fight(ctx, d, b); err != nil {
				return fmt.Errorf("%s: %w", b.name, err)
			}
		}
	}
	text := c.made(ctx, d) + c.siegeDocument(ctx, battles)
	fmt.Print(text)
	return store("make bench-crowd attacks", text, c.Out)
}

// battles are each attack from one server, and from two where it needs one.
func (c *crowdCommand) battles(list []attack) []*battle {
	var all []*battle
	for _, a := range list {
		all = append(all, &battle{attack: a, servers: 1, programs: make([]losses, len(c.programs()))})
		if !a.nobody {
			all = append(all, &battle{attack: a, servers: 2, programs: make([]losses, len(c.programs()))})
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

// fight is a round of a battle: each program's turn, on a Postgres that was started for it, for
// what an attack has left in one would go on.
func (c *crowdCommand) fight(ctx context.Context, d *database, b *battle) error {
	for i, program := range c.programs() {
		l := &b.programs[i]
		o := c.options
		o.Tenantgate, o.apart = program, true
		if err := c.endure(ctx, o, d, b, l); err != nil {
			return err
		}
		last := len(l.alone) - 1
		fmt.Fprintf(os.Stderr, "%s, %d servers, %s: %.0f/s alone, %.0f/s under attack, %d refused; the attacker: %s\n",
			b.name, b.servers, program, l.alone[last].rate(), l.attacked[last].rate(), l.attacked[last].refused, l.got)
		if err := d.restart(ctx); err != nil {
			return err
		}
	}
	return nil
}

// endure measures the quiet servers alone, then under attack.
func (c *crowdCommand) endure(ctx context.Context, o options, d *database, b *battle, l *losses) error {
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
	h, err := d.against(f, local(port), b.servers).attack(ctx, b.name)
	if err != nil {
		return err
	}
	if _, err := quiet.send(ctx, b.lead); err != nil { // they don't come when it is over: they are there
		h.end()
		return err
	}
	got, err := quiet.send(ctx, c.Turn)
	memory := d.backends(ctx)
	l.attacked, l.backends, l.got = append(l.attacked, sample{turn: got}), append(l.backends, sample{resident: memory}), h.end()
	return err
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

const siegeHeading = `
%d servers with one client each, which waits %s between an answer and its next point select and opens a connection anew every %d
requests, while somebody with one server, or two of one project, attacks; tenantgate as it is shipped, with all walls and limits. Each
turn has a tenantgate and a Postgres that were started for it. Quiet clients, tenantgate and Postgres share the CPUs; the attackers' clients
are a process of its own that is put last (nice 10), since in the field they have machines of their own.

`

const siegeLegend = `
rate and p99: under attack, of what the quiet servers had alone just before. Refused: requests that were not answered 200 within
%s. MB: memory of Postgres' processes that they share with nobody, at the end of the turn. The aim: a rate of at least 0.70, a p99
of at most 3, and nothing refused.

`

// siegeDocument is the Markdown.
func (c *crowdCommand) siegeDocument(ctx context.Context, battles []*battle) string {
	var b strings.Builder
	fmt.Fprintf(&b, siegeHeading, c.Quiet, c.Pause, visit)
	told := ""
	for _, one := range battles {
		if one.name != told {
			fmt.Fprintf(&b, "- **%s**: %s\n", one.name, one.what)
		}
		told = one.name
	}
	fmt.Fprintf(&b, siegeLegend, visitTime)
	b.WriteString("| attack | from |")
	rule := "|---|---|"
	for _, program := range c.programs() {
		fmt.Fprintf(&b, " %s: rate | p99 | refused | MB |", said(ctx, program))
		rule += "---|---|---|---|"
	}
	b.WriteString(" aim |\n" + rule + "---|\n")
	for _, one := range battles {
		fmt.Fprintf(&b, "| %s | %s |", one.name, one.from())
		for _, l := range one.programs {
			fmt.Fprintf(&b, " %.2f | %s | %s | %.0f |", ratio(l.attacked, l.alone, rate), l.p99(), refused(l.attacked), median(l.backends, resident))
		}
		fmt.Fprintf(&b, " %s |\n", one.programs[len(one.programs)-1].verdict())
	}
	return b.String()
}

func (b *battle) from() string {
	switch {
	case b.nobody:
		return "nobody"
	case b.servers == 1:
		return "1 server"
	}
	return fmt.Sprintf("%d servers", b.servers)
}

// p99 is the ratio, where anything was answered.
func (l losses) p99() string {
	if median(l.attacked, p99) == 0 {
		return "none"
	}
	return fmt.Sprintf("%.1f", ratio(l.attacked, l.alone, p99))
}

// verdict says whether the aim is kept, or in what it is missed.
func (l losses) verdict() string {
	var missed []string
	if ratio(l.attacked, l.alone, rate) < 0.7 {
		missed = append(missed, "rate")
	}
	if median(l.attacked, p99) == 0 || ratio(l.attacked, l.alone, p99) > 3 {
		missed = append(missed, "p99")
	}
	for _, s := range l.attacked {
		if s.refused > 0 {
			missed = append(missed, "refused")
			break
		}
	}
	if missed == nil {
		return "kept"
	}
	return "missed: " + strings.Join(missed, ", ")
}
