package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// What pgbench, from Postgres 14 on, says at its end.
var (
	transactions = regexp.MustCompile(`number of transactions actually processed: (\d+)`)
	aSecond      = regexp.MustCompile(`tps = ([0-9.]+) \(without initial connection time\)`)
)

// direct has pgbench run a statement, prepared, for some whole seconds, and one more in which
// its clients connect: it counts from before that. What each took it writes into a log.
func (o options) direct(ctx context.Context, d *database, s statement, clients int, length time.Duration) (turn, error) {
	return o.pgbench(ctx, s.pgbench, "prepared", d.hand, clients, max(1, int(length.Seconds()))+1)
}

// pgbench has pgbench run a script in one of its modes for so many seconds.
func (o options) pgbench(ctx context.Context, text, mode, url string, clients, seconds int) (turn, error) {
	dir, err := os.MkdirTemp("", "tenantgate-pgbench-")
	if err != nil {
		return turn{}, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the system cleans up
	script := filepath.Join(dir, "script.sql")
	if err := os.WriteFile(script, []byte(text+"\n"), 0o600); err != nil {
		return turn{}, err
	}
	cmd := exec.CommandContext(ctx, o.program("pgbench"), "-n", "-M", mode, "-c", strconv.Itoa(clients), "-j", strconv.Itoa(min(2, clients)), //nolint:gosec // the caller's choice
		"-T", strconv.Itoa(seconds), "-f", script, "-l", "--log-prefix", filepath.Join(dir, "log"), url)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return turn{}, fmt.Errorf("pgbench: %w: %s", err, out)
	}
	t, err := told(out)
	if err != nil {
		return t, err
	}
	t.p50, t.p99, err = latencies(filepath.Join(dir, "log.*"))
	return t, err
}

// told reads what pgbench said of the time in which all its clients were connected.
func told(out []byte) (t turn, err error) {
	count, rate := transactions.FindSubmatch(out), aSecond.FindSubmatch(out)
	if count == nil || rate == nil {
		return t, fmt.Errorf("pgbench said neither how much it did nor how fast: %s", out)
	}
	if t.requests, err = strconv.Atoi(string(count[1])); err != nil {
		return t, err
	}
	perSecond, err := strconv.ParseFloat(string(rate[1]), 64)
	if err != nil || perSecond <= 0 {
		return t, fmt.Errorf("pgbench did nothing: %s", out)
	}
	t.elapsed = time.Duration(float64(t.requests) / perSecond * float64(time.Second))
	return t, nil
}

// program finds a program of Postgres.
func (o options) program(name string) string {
	if o.PGBin == "" {
		return name
	}
	return filepath.Join(o.PGBin, name)
}

// latencies reads pgbench's logs: client, transaction, microseconds, …
func latencies(pattern string) (p50, p99 time.Duration, err error) {
	names, err := filepath.Glob(pattern)
	if err != nil {
		return 0, 0, err
	}
	var all []int
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			return 0, 0, err
		}
		for line := range bytes.Lines(content) {
			if fields := bytes.Fields(line); len(fields) > 2 {
				us, err := strconv.Atoi(string(fields[2]))
				if err != nil {
					return 0, 0, err
				}
				all = append(all, us)
			}
		}
	}
	if len(all) == 0 {
		return 0, 0, fmt.Errorf("pgbench logged nothing")
	}
	slices.Sort(all)
	at := func(i int) time.Duration { return time.Duration(all[i]) * time.Microsecond }
	return at(len(all) / 2), at(len(all) * 99 / 100), nil
}
