package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// growth is something that there is ever more of: how many, and the n-th request of a front.
type growth struct {
	of      string
	sizes   []int
	request func(f *front, n int) []byte
}

// size is one of a growth's, with a tenantgate of its own: memory that was taken once is
// given back late.
type size struct {
	n       int
	front   *front
	load    load
	samples []sample // of each round
}

// Run measures and prints.
func (c *growCommand) Run(ctx context.Context) error {
	d, err := makeDatabase(ctx, c.PGBin)
	if err != nil {
		return err
	}
	defer d.stop(ctx)
	if err := d.addServers(ctx, "g", slices.Max(append([]int{0}, c.Servers...))); err != nil {
		return err
	}
	point := statements[0]
	all := []growth{
		{"servers", c.Servers, func(f *front, n int) []byte { return f.request("g"+strconv.Itoa(n+1), point, n) }},
		{"texts", c.Texts, func(f *front, n int) []byte {
			s := point
			s.text += fmt.Sprintf(" /* text %06d */", n)
			return f.request(server, s, n)
		}},
	}
	text := c.made(ctx, d) + growHeading(c.Clients, c.Prepared)
	for _, g := range all {
		if len(g.sizes) == 0 {
			continue
		}
		table, err := c.measure(ctx, d, g)
		if err != nil {
			return fmt.Errorf("%s: %w", g.of, err)
		}
		text += table
	}
	fmt.Print(text)
	return store("make bench-grow", text, c.Out)
}

// measure gives the table of a growth.
func (c *growCommand) measure(ctx context.Context, d *database, g growth) (string, error) {
	var sizes []*size
	defer func() {
		for _, s := range sizes {
			s.front.stop()
		}
	}()
	for _, n := range slices.Sorted(slices.Values(g.sizes)) {
		f, err := startTenantgate(ctx, c.options, d)
		if err != nil {
			return "", err
		}
		s := &size{n: n, front: f, load: g.load(f, n, c.Clients)}
		sizes = append(sizes, s)
		if err := s.warm(ctx); err != nil {
			return "", fmt.Errorf("warming up %d: %w", n, err)
		}
	}
	if err := c.rounds(ctx, sizes); err != nil {
		return "", err
	}
	return table(g.of, sizes), nil
}

// load is the first n requests, sent in turn.
func (g growth) load(f *front, n, clients int) load {
	requests := make([][]byte, n)
	for i := range requests {
		requests[i] = g.request(f, i)
	}
	return load{addr: f.addr, clients: clients, request: inTurns(requests, clients)}
}

// warm sends each request once, so that the caches hold what they can hold.
func (s *size) warm(ctx context.Context) error {
	l := s.load
	l.times = s.n/l.clients + 1
	_, err := l.send(ctx, 5*time.Minute)
	return err
}

// rounds gives each size its turns, in another order each round; the first warms up.
func (c *growCommand) rounds(ctx context.Context, sizes []*size) error {
	return c.takeTurns(len(sizes), func(i int, counts bool) error {
		s := sizes[i]
		measured, err := s.front.measure(ctx, s.load, c.Turn)
		if err != nil {
			return fmt.Errorf("%d: %w", s.n, err)
		}
		if counts {
			s.samples = append(s.samples, measured)
		}
		return nil
	})
}

// growHeading says what bounds the caches: control.CacheConfig and planBytes of
// cmd/tenantgate have these values.
func growHeading(clients, prepared int) string {
	return fmt.Sprintf(`
%d clients send point selects in turn to so many servers of the control store, which have no rows, and then in so many texts, which
differ in a comment. Each size has a tenantgate of its own, as it is shipped, with all walls, and got each request once before it was
measured. Its caches are bounded: 131,072 servers, each for 60 s; 64 MB of texts and their plans; %d prepared statements of
each connection.
`, clients, prepared)
}

// table is the Markdown of a growth; the first size is the measure of the others.
func table(of string, sizes []*size) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n| %s | requests/s | p50 µs | p99 µs | CPU s per 10,000 | MB resident | bytes per request |", of)
	fmt.Fprintf(&b, " rate / %[1]d | p50 / %[1]d | p99 / %[1]d | CPU / %[1]d | resident / %[1]d |\n|%s\n", sizes[0].n, strings.Repeat("---|", 12))
	first := sizes[0].samples
	for _, s := range sizes {
		l := s.samples
		fmt.Fprintf(&b, "| %d | %.0f | %.0f | %.0f | %.2f | %.0f | %.0f |", s.n, median(l, rate), median(l, p50), median(l, p99), median(l, cpu),
			median(l, resident), median(l, allocatedBytes))
		fmt.Fprintf(&b, " %.2f | %.2f | %.2f | %.2f | %.2f |\n", ratio(l, first, rate), ratio(l, first, p50), ratio(l, first, p99), ratio(l, first, cpu), ratio(l, first, resident))
	}
	return b.String()
}
