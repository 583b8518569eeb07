package clients_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// What pgbench is made to do: clients × times transactions.
const (
	benchClients = 4
	benchTimes   = 50
)

// TestPgbench runs TPC-B in each of pgbench's modes, and adds the books up.
func TestPgbench(t *testing.T) {
	need(t, "pgbench")
	each(t, func(t *testing.T, url string) {
		execFile(t, url, "testdata/pgbench/fill.sql")
		done := 0
		for _, run := range []struct{ mode, script string }{
			{"simple", "tpcb"}, {"extended", "tpcb"}, {"prepared", "tpcb"}, {"extended", "pipeline"}, {"prepared", "pipeline"},
		} {
			t.Run(run.mode+" "+run.script, func(t *testing.T) {
				bench(t, url, run.mode, run.script)
				done += benchClients * benchTimes
				if got := one(t, url, "SELECT count(*) FROM history"); got != fmt.Sprint(done) {
					t.Errorf("%s transactions are in the books, of %d", got, done)
				}
			})
		}
		accounts, history := one(t, url, "SELECT sum(abalance) FROM accounts"), one(t, url, "SELECT sum(delta) FROM history")
		if accounts != history {
			t.Errorf("accounts: %s; history: %s", accounts, history)
		}
		tellers, branches := one(t, url, "SELECT sum(tbalance) FROM tellers"), one(t, url, "SELECT sum(bbalance) FROM branches")
		if tellers != branches || accounts == "0" {
			t.Errorf("tellers: %s; branches: %s; accounts: %s", tellers, branches, accounts)
		}
	})
}

// bench fails the test where a transaction failed.
func bench(t *testing.T, url, mode, script string) {
	t.Helper()
	file := filepath.Join("testdata", "pgbench", script+".sql")
	out, err := command(t, "", "", url, "pgbench", "-n", "-M", mode, "-c", fmt.Sprint(benchClients), "-j", "2", "-t", fmt.Sprint(benchTimes), "-f", file, url)
	want := fmt.Sprintf("number of transactions actually processed: %d/%d", benchClients*benchTimes, benchClients*benchTimes)
	if err != nil || !strings.Contains(out, want) || !strings.Contains(out, "number of failed transactions: 0 ") {
		t.Errorf("%v\n%s", err, out)
	}
}
