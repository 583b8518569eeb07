package main

import (
	"testing"
	"time"
)

// TestVersionsRow has the newer one's ratio to the older one, round by round, and each one's median.
func TestVersionsRow(t *testing.T) {
	took := func(requests, front int) wired {
		return wired{turn: turn{requests: requests, elapsed: time.Second}, front: time.Duration(front) * time.Microsecond, postgres: 10 * time.Microsecond}
	}
	all := sides{
		{took(1000, 50), took(500, 60), took(1000, 50), took(1000, 50)},
		{took(900, 55), took(500, 60), took(1100, 40), took(2000, 50)},
	}
	row := all.row("REST, 1 clients, point")
	checkColumns(t, versionsHeading+row)
	if want := "| REST, 1 clients, point | 1.10 (1.00–2.00) | 1.00 (1.00–1.10) | 1.00 (1.00–1.00) | 50.0, 55.0 | 10.0, 10.0 |\n"; row != want {
		t.Errorf("%q, not %q", row, want)
	}
}
