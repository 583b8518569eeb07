package proof

import (
	"flag"
	"strings"
	"testing"
)

var (
	generic    = flag.Bool("generic", false, "mode order: with plans that do not know the parameters")
	parameters = flag.Bool("parameters", false, "mode order: with every value as a parameter")
	blindly    = flag.Bool("blind", true, "mode order: without statistics but on scope columns")
)

// TestProveOrder is the proof that the order of an answer shows nothing of the others' values.
func TestProveOrder(t *testing.T) {
	for _, walls := range strings.Split(*mode, ",") {
		if walls != string(All) && walls != string(Engine) {
			continue
		}
		t.Run(walls, func(t *testing.T) {
			report := order(t, OrderConfig{
				Walls: Walls(walls), Statements: *statements, Time: timeLimit(), Seed: *seed, Workers: *workers, Findings: *findings, First: *first,
				Generic: *generic, Parameters: *parameters, Blind: *blindly, Plans: true,
			})
			for _, d := range report.Differences {
				t.Errorf("%s", d)
			}
			if report.Differing > len(report.Differences) {
				t.Errorf("%d answers show what the others hold", report.Differing)
			}
			if report.Compared*100 < least*report.Tried {
				t.Errorf("only %d of %d statements were compared", report.Compared, report.Tried)
			}
		})
	}
}

// Where Postgres has statistics, a constant of the caller's shows nothing all the same.
func TestOrderWithStatistics(t *testing.T) {
	for _, walls := range strings.Split(*mode, ",") {
		if walls != string(All) && walls != string(Engine) {
			continue
		}
		report := order(t, OrderConfig{Walls: Walls(walls), Statements: *statements, Time: timeLimit(), Seed: *seed, Workers: *workers, Findings: 3, Plans: true, Single: true})
		for _, d := range report.Differences {
			t.Errorf("%s", d)
		}
		if report.Compared*100 < least*report.Tried {
			t.Errorf("only %d of %d statements were compared", report.Compared, report.Tried)
		}
	}
}

// Where a policy lets the planner see the values, as it once saw them everywhere, the mode
// finds a statement that shows what the others hold.
func TestOrderCustom(t *testing.T) {
	for _, walls := range []Walls{Engine, All} {
		report := order(t, OrderConfig{Walls: walls, Statements: 2000, Seed: *seed, Workers: *workers, First: true, Custom: true})
		if report.Differing == 0 {
			t.Errorf("walls %s: no statement showed what the others hold", walls)
		}
	}
}

// Behind row-level security alone a statement reaches Postgres as it was written, so that the
// order of an answer shows what the others hold.
func TestOrderWithoutEngine(t *testing.T) {
	report := order(t, OrderConfig{Walls: Database, Statements: 600, Seed: *seed, Workers: *workers, First: true})
	if report.Differing == 0 {
		t.Error("no statement showed what the others hold")
	}
}

// Where Postgres has no statistics and knows no value when it plans, nothing is found: what
// mode order finds comes of these.
func TestOrderBlind(t *testing.T) {
	report := order(t, OrderConfig{Walls: Engine, Statements: 150, Seed: *seed, Workers: *workers, Generic: true, Parameters: true, Blind: true, Findings: 1})
	for _, d := range report.Differences {
		t.Errorf("%s", d)
	}
	if report.Compared*100 < least*report.Tried {
		t.Errorf("only %d of %d statements were compared", report.Compared, report.Tried)
	}
}

func order(t *testing.T, cfg OrderConfig) *OrderReport {
	t.Helper()
	report, err := build(t).Order(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", report)
	return report
}
