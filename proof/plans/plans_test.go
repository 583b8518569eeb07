// Package plans measures the cost of hiding the values of a statement, and the statistics of
// columns, from Postgres' planner: make bench-plans.
//
// Each honest statement runs in turn on two databases with the same skewed rows, as a server
// that owns half of them, as one of middle size and as a small one. Before: the caller's
// constants are in the text, plans may be made for arguments and the tables are fully analysed.
// After: as tenantgate does it. Times are medians of one execution of the prepared
// statement, round trip included, and so planning too for a statement that is planned for its arguments.
package plans

import (
	"flag"
	"os"
	"regexp"
	"testing"

	"github.com/tenantgate/tenantgate/control/embedded/pgtest"
)

var (
	rows    = flag.Int("rows", 2_000, "rows of all tables together")
	turns   = flag.Int("turns", 1, "executions of each statement on each side, beside the first")
	only    = flag.String("only", "", "measure the statements whose name fits this expression")
	explain = flag.Bool("explain", false, "show both plans of what became slower")
	out     = flag.String("out", "", "put the tables into this page")
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// TestPlans also holds that a statement has the same number of rows before and after.
func TestPlans(t *testing.T) {
	chosen, err := regexp.Compile(*only)
	if err != nil {
		t.Fatal(err)
	}
	w := open(t, *rows)
	var all []result
	for _, server := range measured {
		t.Run(server.name, func(t *testing.T) {
			p := w.pair(t, server.id)
			for _, st := range statements(t) {
				if !chosen.MatchString(st.Name) {
					continue
				}
				r := p.best(t, st)
				r.server, r.name, r.statement = server.name, st.Name, st
				if *explain && r.slower() {
					t.Logf("%s, %s server: %s\n%s\nbefore\n%s\nafter\n%s", st.Name, server.name, r.times(), st.SQL, p.before.plan(t), p.after.plan(t))
				}
				all = append(all, r)
			}
		})
	}
	w.remedied(t, all)
	text := report(all)
	t.Log("\n" + text)
	if err := store(text, *out); err != nil {
		t.Fatal(err)
	}
}
