package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// order is that of the fronts in the tables.
var order = []string{"bare", "walled", "idiomatic", "tenantgate", "pgbench"}

const heading = `
| %s, %d clients | requests/s | p50 µs | p99 µs | CPU s per 10,000 | MB resident | bytes per request | objects per request | rate / bare | CPU / bare | rate / walled | rate / idiomatic | p99 / bare |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
`

// table is the Markdown of one statement with so many clients.
func (r results) table(statement string, clients int) string {
	var b strings.Builder
	fmt.Fprintf(&b, heading, statement, clients)
	of := func(front string) []sample { return r[cell{statement, clients, front}] }
	bare, walled, idiomatic := of("bare"), of("walled"), of("idiomatic")
	for _, front := range order {
		list := of(front)
		fmt.Fprintf(&b, "| %s | %.0f | %.0f | %.0f |", front, median(list, rate), median(list, p50), median(list, p99))
		if front == "pgbench" {
			fmt.Fprintf(&b, " | | | | %.2f | | %.2f | %.2f | %.2f |\n", ratio(list, bare, rate), ratio(list, walled, rate), ratio(list, idiomatic, rate), ratio(list, bare, p99))
			continue
		}
		fmt.Fprintf(&b, " %.2f | %.0f | %.0f | %.1f | %.2f | %.2f | %.2f | %.2f | %.2f |\n", median(list, cpu), median(list, resident), median(list, allocatedBytes), median(list, objects),
			ratio(list, bare, rate), ratio(list, bare, cpu), ratio(list, walled, rate), ratio(list, idiomatic, rate), ratio(list, bare, p99))
	}
	return b.String()
}

// document is all tables, with what they were made on.
func (r results) document(ctx context.Context, c *compareCommand, d *database) string {
	var b strings.Builder
	b.WriteString(c.made(ctx, d))
	for _, s := range statements {
		for _, clients := range c.Connections {
			if len(r[cell{s.name, clients, "bare"}]) > 0 {
				b.WriteString(r.table(s.name, clients))
			}
		}
	}
	return b.String()
}

// What the tables tell of a sample.
func rate(s sample) float64           { return s.rate() }
func p50(s sample) float64            { return float64(s.p50) / float64(time.Microsecond) }
func p99(s sample) float64            { return float64(s.p99) / float64(time.Microsecond) }
func cpu(s sample) float64            { return s.cpu.Seconds() }
func resident(s sample) float64       { return float64(s.resident) / (1 << 20) }
func allocatedBytes(s sample) float64 { return s.bytes }
func objects(s sample) float64        { return s.objects }
func least(s sample) float64          { return float64(s.least) / s.elapsed.Seconds() }

// median of what is told of the samples.
func median[T any](list []T, of func(T) float64) float64 {
	values := make([]float64, len(list))
	for i, s := range list {
		values[i] = of(s)
	}
	return middle(values)
}

// ratio is the median of the rounds' ratios.
func ratio[T any](list, to []T, of func(T) float64) float64 {
	values := make([]float64, min(len(list), len(to)))
	for i := range values {
		values[i] = of(list[i]) / of(to[i])
	}
	return middle(values)
}

func middle(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[len(values)/2]
}
