package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"time"
)

// wired is what one turn gave.
type wired struct {
	turn
	front, postgres time.Duration // of the CPUs, for a statement
}

// wireCell is where turns belong.
type wireCell struct{ statement, mode, front string }

// wireResults are the turns of each cell, one for each round.
type wireResults map[wireCell][]wired

// Run measures and prints.
func (c *wireCommand) Run(ctx context.Context) error {
	if err := manyFiles(); err != nil {
		return err
	}
	d, err := makeDatabase(ctx, c.PGBin)
	if err != nil {
		return err
	}
	defer d.stop(ctx)
	fronts, err := c.startFronts(ctx, d)
	defer func() {
		for _, f := range fronts {
			f.stop()
		}
	}()
	if err != nil {
		return err
	}
	text := c.made(ctx, d) + c.introduction(fronts)
	all := wireResults{}
	for _, statement := range c.Statement {
		for _, mode := range c.Mode {
			if err := c.rounds(ctx, d, fronts, statement, mode, all); err != nil {
				return fmt.Errorf("%s, %s: %w", statement, mode, err)
			}
			table := c.table(all, fronts, statement, mode)
			fmt.Print(table)
			text += table
		}
	}
	idle, err := c.idle(ctx, fronts)
	if err != nil {
		return err
	}
	fmt.Print(idle)
	return store("make bench-wire", text+idle, c.Out)
}

// manyFiles lets this process, and those that it starts, open as many files as the system
// allows: each idle client is one on both sides.
func manyFiles() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	limit.Cur = limit.Max
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
}

// rounds gives each front its turns, in another order each round; the first warms up.
func (c *wireCommand) rounds(ctx context.Context, d *database, fronts []*wireFront, statement, mode string, all wireResults) error {
	able := slices.DeleteFunc(slices.Clone(fronts), func(f *wireFront) bool { return !f.can(mode) })
	for round := range c.Rounds + 1 {
		for _, i := range rand.Perm(len(able)) { //nolint:gosec // an order
			f := able[i]
			got, err := c.measure(ctx, d, f, f.script(statement, mode), mode)
			if err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
			if at := (wireCell{statement, mode, f.name}); round > 0 {
				all[at] = append(all[at], got)
			}
		}
	}
	return nil
}

// measure is a front's turn. The connecting is in it on both sides, and takes milliseconds.
func (c *wireCommand) measure(ctx context.Context, d *database, f *wireFront, script, mode string) (wired, error) {
	return f.take(ctx, d, func() (turn, error) {
		return c.pgbench(ctx, script, mode, f.url, c.Clients, max(1, int(c.Turn.Seconds())))
	})
}

// take has a turn sent, and notes what it took of the CPUs.
func (f *wireFront) take(ctx context.Context, d *database, send func() (turn, error)) (w wired, err error) {
	postmaster, err := d.postmaster(ctx)
	if err != nil {
		return w, err
	}
	before, err := f.used(postmaster)
	if err != nil {
		return w, err
	}
	if w.turn, err = send(); err != nil {
		return w, err
	}
	after, err := f.used(postmaster)
	if err != nil {
		return w, err
	}
	if w.requests == 0 {
		return w, errors.New("the turn was too short for an answer")
	}
	w.front = (after[0] - before[0]) / time.Duration(w.requests)
	w.postgres = (after[1] - before[1]) / time.Duration(w.requests)
	return w, nil
}

// used is what a front and Postgres had of the CPUs so far.
func (f *wireFront) used(postmaster int) (took [2]time.Duration, err error) {
	var first, second error
	if f.pid != 0 {
		took[0], first = cpuOf(f.pid)
	}
	took[1], second = cpuOfFamily(postmaster)
	return took, errors.Join(first, second)
}

// postmaster gives the id of Postgres' first process, the parent of all others.
func (d *database) postmaster(ctx context.Context) (pid int, err error) {
	return pid, d.ask(ctx, "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int", &pid)
}

// wireStatements are scripts of pgbench, as a client of one's own database writes them; each time
// with another number.
var wireStatements = map[string]string{
	"point":    "\\set n random(1, 1000)\nSELECT id, role, content, created_at FROM messages WHERE id = 'm' || :n;",
	"thousand": "\\set n random(1000, 1000000)\nSELECT id, role, content, created_at FROM messages LIMIT :n;",
}

// script is what pgbench sends to a front.
func (f *wireFront) script(statement, mode string) string {
	text := wireStatements[statement]
	if !f.injects {
		text = strings.NewReplacer("WHERE id", "WHERE server_id = '"+server+"' AND id", " LIMIT", " WHERE server_id = '"+server+"' LIMIT").Replace(text)
	}
	if f.prelude == "" {
		return text
	}
	set, query, _ := strings.Cut(text, "\n")
	if mode == "simple" {
		return set + "\n" + f.prelude + " \\; " + query
	}
	return set + "\n\\startpipeline\n" + f.prelude + ";\n" + query + "\n\\endpipeline"
}
