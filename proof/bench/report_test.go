package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCrowdDocument tells of refusals in one round of many, and of the other one only where
// there is one.
func TestCrowdDocument(t *testing.T) {
	of := func(requests, refused int) sample {
		return sample{turn: turn{requests: requests, refused: refused, least: requests / 10, elapsed: time.Second, p50: time.Millisecond, p99: time.Second}}
	}
	other := func(context.Context, time.Duration) (turn, error) { return turn{}, nil }
	c := &crowdCommand{options: options{Pool: 16}, Quiet: 10}
	text := c.document([]*scene{
		{name: "alone", quiet: []sample{of(100, 0), of(100, 0), of(100, 0)}},
		{name: "beside", other: other, quiet: []sample{of(80, 0), of(80, 0), of(79, 1)}, others: []sample{of(20, 7), of(20, 7), of(20, 7)}},
	})
	for _, want := range []string{
		"\n| alone | 100 | 10.0 | 1000 | 1000000 | 0 of 300 | 1.00 | 1.00 | 1.00 | | | | |\n",
		"\n| beside | 80 | 8.0 | 1000 | 1000000 | 1 of 240 | 0.80 | 1.00 | 1.00 | 20 | 1000 | 1000000 | 21 of 81 |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	checkColumns(t, text)
}

// TestGrowTable has the smallest size as the measure.
func TestGrowTable(t *testing.T) {
	of := func(requests int) []sample { return []sample{{turn: turn{requests: requests, elapsed: time.Second}}} }
	text := table("servers", []*size{{n: 10, samples: of(1000)}, {n: 1000, samples: of(500)}})
	if !strings.Contains(text, "| rate / 10 |") || !strings.Contains(text, "\n| 1000 | 500 |") || !strings.Contains(text, "| 0.50 |") {
		t.Error(text)
	}
	checkColumns(t, text)
}

// checkColumns fails where a table has lines of different length.
func checkColumns(t *testing.T, text string) {
	t.Helper()
	want := 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		if got := strings.Count(line, "|"); want == 0 {
			want = got
		} else if got != want {
			t.Errorf("%d columns instead of %d: %s", got-1, want-1, line)
		}
	}
}

// TestPlaced keeps what is not the command's own.
func TestPlaced(t *testing.T) {
	page := placed("# Title\n", "make bench", "one\n")
	page = placed(page, "make bench-grow", "two\n")
	page = placed(page, "make bench", "three\n")
	if want := "# Title\n<!-- make bench: begin -->\nthree\n<!-- make bench: end -->\n<!-- make bench-grow: begin -->\ntwo\n<!-- make bench-grow: end -->\n"; page != want {
		t.Errorf("got %s", page)
	}
	file := filepath.Join(t.TempDir(), "page.md")
	for range 2 {
		if err := store("make bench", "text\n", file); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "<!-- make bench: begin -->\ntext\n<!-- make bench: end -->\n" {
		t.Errorf("%q %v", got, err)
	}
}

// TestTold takes the time in which pgbench's clients connected out of its rate.
func TestTold(t *testing.T) {
	const said = "number of transactions actually processed: 3000\nlatency average = 1.0 ms\ninitial connection time = 500.000 ms\ntps = 2000.000000 (without initial connection time)\n"
	got, err := told([]byte(said))
	if err != nil || got.requests != 3000 || got.elapsed != 1500*time.Millisecond {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, odd := range []string{"", "number of transactions actually processed: 0\ntps = 0.000000 (without initial connection time)\n"} {
		if _, err := told([]byte(odd)); err == nil {
			t.Errorf("%q was taken", odd)
		}
	}
}
