package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const idleHeading = `
%d clients that are connected, without TLS, and do nothing: how much more of the front is in memory than with one, for each. Then
each has run one point select, and does nothing again.

| front | KiB per idle client | after a statement | KiB / PgBouncer | after a statement |
|---|---|---|---|---|
`

// idle measures what clients cost that do nothing. Postgres itself would need a process for
// each.
func (c *wireCommand) idle(ctx context.Context, fronts []*wireFront) (string, error) {
	if c.Idle == 0 {
		return "", nil
	}
	type row struct {
		name string
		kib  [2]float64
	}
	var rows []row
	last := row{}
	for _, f := range fronts {
		if f.pid == 0 || f.prelude != "" {
			continue
		}
		kib, err := c.idleMemory(ctx, f)
		if err != nil {
			return "", fmt.Errorf("%d idle clients of %s: %w", c.Idle, f.name, err)
		}
		rows = append(rows, row{f.name, kib})
		if f.pooler != "" {
			last = row{f.name, kib}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, idleHeading, c.Idle)
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %.1f | %.1f | %.2f | %.2f |\n", r.name, r.kib[0], r.kib[1], r.kib[0]/last.kib[0], r.kib[1]/last.kib[1])
	}
	return b.String(), nil
}

// idleMemory connects the clients, and gives what each costs before and after a statement.
func (c *wireCommand) idleMemory(ctx context.Context, f *wireFront) (kib [2]float64, err error) {
	conns := make([]*pgconn.PgConn, c.Idle)
	defer func() {
		_ = inParallel(len(conns), func(i int) error {
			if conns[i] != nil {
				return conns[i].Close(context.WithoutCancel(ctx))
			}
			return nil
		})
	}()
	query := strings.Replace(strings.Split(f.script("point", "simple"), "\n")[1], ":n", "1", 1)
	connect := func(i int) (err error) { conns[i], err = pgconn.Connect(ctx, f.url); return err }
	ask := func(i int) error { _, err := conns[i].Exec(ctx, query).ReadAll(); return err }
	if err := connect(0); err != nil {
		return kib, err
	}
	if err := ask(0); err != nil {
		return kib, err
	}
	before, err := c.settled(f)
	if err != nil {
		return kib, err
	}
	for step, do := range []func(i int) error{connect, ask} {
		if err := inParallel(len(conns)-1, func(i int) error { return do(i + 1) }); err != nil {
			return kib, err
		}
		after, err := c.settled(f)
		if err != nil {
			return kib, err
		}
		kib[step] = float64(after-before) / float64(len(conns)-1) / 1024
	}
	return kib, nil
}

// settled is what of a front is in memory when nothing has happened for a while.
func (c *wireCommand) settled(f *wireFront) (int, error) {
	time.Sleep(c.Settle)
	return residentOf(f.pid)
}

// inParallel does n things, some at once, and gives the first error.
func inParallel(n int, do func(i int) error) error {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var first error
	next := 0
	for range 4 * runtime.NumCPU() {
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				over := i >= n || first != nil
				mu.Unlock()
				if over {
					return
				}
				if err := do(i); err != nil {
					mu.Lock()
					first = err
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return first
}
