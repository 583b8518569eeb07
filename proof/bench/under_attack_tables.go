package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

const attackHeading = `
%d servers with one client each, which waits %s between an answer and its next point select and opens a connection anew every %d
requests, while somebody with one server, or two or three of one project, attacks; tenantgate as it is shipped, with all walls and limits. Each
turn has a tenantgate and a Postgres that were started for it. Quiet clients, tenantgate and Postgres share the CPUs; the attackers' clients
are a process of its own that is put last (nice 10), since in the field they have machines of their own.

`

const attackLegend = `
rate and p99: under attack, of what the quiet servers had alone just before. Longest: what one of them waited at most for an answer, in
ms, in any turn. Refused: requests that were not answered 200 within %s. MB: memory of Postgres' processes that they share with nobody, at
the end of the turn. The aim: a rate of at least 0.70, a p99 of at most 3, nobody waits for a second, and nothing is refused.

`

// attackTables is the Markdown.
func (c *crowdCommand) attackTables(ctx context.Context, scenarios []*scenario) string {
	var b strings.Builder
	fmt.Fprintf(&b, attackHeading, c.Quiet, c.Pause, visit)
	told := ""
	for _, one := range scenarios {
		if one.name != told {
			fmt.Fprintf(&b, "- **%s**: %s\n", one.name, one.what)
		}
		told = one.name
	}
	fmt.Fprintf(&b, attackLegend, visitTime)
	b.WriteString("| attack | from |")
	rule := "|---|---|"
	for _, program := range c.programs() {
		fmt.Fprintf(&b, " %s: rate | p99 | longest | refused | MB |", said(ctx, program))
		rule += "---|---|---|---|---|"
	}
	b.WriteString(" aim |\n" + rule + "---|\n")
	for _, one := range scenarios {
		fmt.Fprintf(&b, "| %s | %s |", one.name, one.from())
		for _, l := range one.programs {
			fmt.Fprintf(&b, " %.2f | %s | %d | %s | %.0f |", ratio(l.attacked, l.alone, rate), l.p99(), l.longest().Milliseconds(), refused(l.attacked), median(l.backends, resident))
		}
		fmt.Fprintf(&b, " %s |\n", one.programs[len(one.programs)-1].verdict())
	}
	return b.String()
}

func (s *scenario) from() string {
	switch {
	case s.nobody:
		return "nobody"
	case s.servers == 1:
		return "1 server"
	}
	return fmt.Sprintf("%d servers", s.servers)
}

// p99 is the ratio, where anything was answered.
func (l outcome) p99() string {
	if median(l.attacked, p99) == 0 {
		return "none"
	}
	return fmt.Sprintf("%.1f", ratio(l.attacked, l.alone, p99))
}

// longest is the longest time that a quiet client waited in any turn under attack.
func (l outcome) longest() (longest time.Duration) {
	for _, s := range l.attacked {
		longest = max(longest, s.longest)
	}
	return longest
}

// verdict says whether the aim is kept, or in what it is missed.
func (l outcome) verdict() string {
	var missed []string
	if ratio(l.attacked, l.alone, rate) < 0.7 {
		missed = append(missed, "rate")
	}
	if median(l.attacked, p99) == 0 || ratio(l.attacked, l.alone, p99) > 3 {
		missed = append(missed, "p99")
	}
	if l.longest() >= time.Second {
		missed = append(missed, "longest")
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
