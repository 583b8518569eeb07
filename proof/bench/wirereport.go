package main

import (
	"fmt"
	"strings"
	"time"
)

// introduction says what the fronts are.
func (c *wireCommand) introduction(fronts []*wireFront) string {
	var names []string
	for _, f := range fronts {
		if f.pooler != "" && f.prelude == "" {
			names = append(names, f.name)
		}
	}
	return fmt.Sprintf(`
pgbench with %d clients, in its ways of sending, on the bundled tables: point is one row by its key, thousand 1,000 rows; in simple each
text has another literal. direct is Postgres itself; %s run in transaction mode. Both are asked as a role
that row-level security does not bind, and their client names the server; tenantgate's names none, and has its policy and row-level
security on. walled are the same as a role that is bound: the client makes the signed settings in front of each statement, in the same round
trip and the same transaction. CPU is per statement. Clients, front and Postgres share the CPUs.
`, c.Clients, strings.Join(names, " and "))
}

const wireHeading = `
| %s, %s | statements/s | p50 µs | p99 µs | CPU µs of the front | CPU µs of Postgres | rate / direct | rate / %[3]s | CPU / %[3]s |
|---|---|---|---|---|---|---|---|---|
`

// table is the Markdown of a statement in a mode. The ratios are to the newest PgBouncer.
func (c *wireCommand) table(all wireResults, fronts []*wireFront, statement, mode string) string {
	of := func(front string) []wired { return all[wireCell{statement, mode, front}] }
	measure := "PgBouncer"
	for _, f := range fronts {
		if f.pooler != "" && f.prelude == "" && f.can(mode) {
			measure = f.name
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, wireHeading, statement, mode, measure)
	for _, f := range fronts {
		list := of(f.name)
		if len(list) == 0 {
			fmt.Fprintf(&b, "| %s | not in transaction mode | | | | | | | |\n", f.name)
			continue
		}
		fmt.Fprintf(&b, "| %s | %.0f | %.0f | %.0f |", f.name, median(list, wiredRate), median(list, wiredP50), median(list, wiredP99))
		cpu, per := "", ""
		if f.pid != 0 {
			cpu, per = fmt.Sprintf("%.1f", median(list, frontCPU)), fmt.Sprintf("%.2f", ratio(list, of(measure), frontCPU))
		}
		fmt.Fprintf(&b, " %s | %.1f | %.2f | %.2f | %s |\n", cpu, median(list, postgresCPU), ratio(list, of("direct"), wiredRate), ratio(list, of(measure), wiredRate), per)
	}
	return b.String()
}

func wiredRate(w wired) float64   { return w.rate() }
func wiredP50(w wired) float64    { return float64(w.p50) / float64(time.Microsecond) }
func wiredP99(w wired) float64    { return float64(w.p99) / float64(time.Microsecond) }
func frontCPU(w wired) float64    { return float64(w.front) / float64(time.Microsecond) }
func postgresCPU(w wired) float64 { return float64(w.postgres) / float64(time.Microsecond) }
