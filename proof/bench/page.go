package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// made says when, on what and how tables were made.
func (o options) made(ctx context.Context, d *database) string {
	return fmt.Sprintf("Made on %s, on %d CPUs (%s), %s/%s, with %s, %s and PostgreSQL %s: medians of %d turns of %s; %d connections to Postgres.\n",
		time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), processor(), runtime.GOOS, runtime.GOARCH,
		said(ctx, o.Tenantgate), runtime.Version(), d.version, o.Rounds, o.Turn, o.Pool)
}

// said is what a program says of its version.
func said(ctx context.Context, program string) string {
	out, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil {
		return program + " of an unknown version"
	}
	first, _, _ := strings.Cut(string(out), "\n")
	return first
}

// processor is the name that Linux has for the CPUs.
func processor() string {
	content, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(content)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "of an unknown model"
}

// store puts a text into a page, where one is named: in the place of what the same command
// put there before, between two marks, or at the page's end.
func store(command, text, page string) error {
	if page == "" {
		return nil
	}
	content, err := os.ReadFile(page)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(page, []byte(placed(string(content), command, text)), 0o644) //nolint:gosec // a page for everybody
}

// placed is a page with a text between the marks of its command.
func placed(page, command, text string) string {
	begin, end := "<!-- "+command+": begin -->\n", "<!-- "+command+": end -->\n"
	before, rest, found := strings.Cut(page, begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		before, after = page, ""
	}
	return before + begin + text + end + after
}
