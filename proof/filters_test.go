package proof

import (
	"testing"
)

// TestFilters is the proof that no condition of a caller's which may fail or take long is evaluated on other servers' rows.
func TestFilters(t *testing.T) {
	w := build(t)
	for _, walls := range promised(t) {
		report, err := w.Filters(t.Context(), FiltersConfig{Walls: walls, Statements: *statements, Seed: *seed, Time: timeLimit()})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("walls %s: %s", walls, report)
		for _, found := range report.Found[:min(len(report.Found), *findings)] {
			t.Errorf("walls %s: before the scope condition stands %s", walls, found)
		}
		if len(report.Found) > *findings {
			t.Errorf("walls %s: %d conditions stand before a scope condition", walls, len(report.Found))
		}
		if report.Planned*100 < least*report.Tried || report.Scans < report.Planned {
			t.Errorf("walls %s: too little was planned", walls)
		}
	}
}
