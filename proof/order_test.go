package proof

import (
	"flag"
	"strings"
	"testing"
)

var (
	generic    = flag.Bool("generic", false, "mode order: with plans that do not know the parameters")
	parameters = flag.Bool("parameters", false, "mode order: with every value as a parameter")
	blindly    = flag.Bool("blind", false, "mode order: without statistics but on scope columns")
)

// TestProveOrder is the proof that the order of an answer shows nothing of the others' values.
func TestProveOrder(t *testing.T) {
	w := build(t)
	for _, walls := range strings.Split(*mode, ",") {
		if walls != string(All) && walls != string(Engine) {
			continue
		}
		t.Run(walls, func(t *testing.T) {
			report, err := w.Order(t.Context(), OrderConfig{
				Walls: Walls(walls), Statements: *statements, Time: timeLimit(), Seed: *seed, Workers: *workers, Findings: *findings, First: *first,
				Generic: *generic, Parameters: *parameters, Blind: *blindly,
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("\n%s", report)
			for _, d := range report.Differences {
				t.Errorf("%s", d)
			}
			if report.Compared*100 < least*report.Tried {
				t.Errorf("only %d of %d statements were compared", report.Compared, report.Tried)
			}
		})
	}
}
