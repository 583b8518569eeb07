package proxy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/policy"
)

// Ensure a text is answered alike, whether or not somebody has sent it before, where the server has used up its share of the work
// or other texts of its own wait to be checked: else it learns which values others have written into their texts.
func TestKnownTextsAreAnsweredAsUnknownOnes(t *testing.T) {
	const busy, line, denied = "share of the database", "being checked", string(policy.StatementNotAllowed)
	for name, c := range map[string]struct {
		fill            func(*testing.T, *bench)
		within          bool
		known, admitted string // what is said of a text that is admitted: of a known one, and of an unknown one
		refused         string // and of one that is refused, whether known or not
	}{
		"free":                  {free, false, "", "", denied},
		"held back":             {heldBack, false, busy, busy, busy},
		"held back within":      {heldBack, true, "", "", denied},
		"own line":              {lineOf("p/s"), false, line, line, line},
		"own line within":       {lineOf("p/s"), true, line, line, line},
		"line of its project":   {lineOf("p/x"), false, "", line, line}, // docs/isolation.md tells of these
		"line of somebody else": {lineOf("q/x"), false, "", line, line},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, policy.Limits{})
			s := Subject{Server: Server{ID: "s", ProjectID: "p"}}
			for range 2 {
				_, _ = b.Check(t.Context(), s, reads)
				_, _ = b.Check(t.Context(), s, "DROP TABLE known")
			}
			c.fill(t, b)
			s.InTransaction = c.within
			for text, want := range map[string]string{reads: c.known, reads + " AND body = 'x'": c.admitted, "DROP TABLE known": c.refused, "DROP TABLE unknown": c.refused} {
				start := time.Now()
				_, err := b.Check(t.Context(), s, text)
				if took := time.Since(start); want != line && want != busy && took > parsingWait/2 {
					t.Errorf("%s: answered after %v", text, took)
				}
				if said := fmt.Sprint(err); (err == nil) != (want == "") || !strings.Contains(said, want) {
					t.Errorf("%s: %s, want %q", text, said, want)
				}
			}
			if name == "free" {
				nothingIsHeld(t, b)
			}
		})
	}
}

// free has nothing in use.
func free(_ *testing.T, b *bench) { b.parsing, b.work = NewTurns(1, 0), NewWork(20) }

// nothingIsHeld fails where a place or a job was not given back.
func nothingIsHeld(t *testing.T, b *bench) {
	t.Helper()
	mustTake(t, b.parsing, "p/s")
	for a, l := range b.work.of {
		if l.running != 0 || l.paused != 0 {
			t.Errorf("%d jobs are running for %v", l.running, a)
		}
	}
}

// Ensure a transaction can be begun and ended whatever waits to be checked: its text holds no value, and its locks may keep others waiting.
func TestTransactionsEndBesideALine(t *testing.T) {
	b := newBench(t, policy.Limits{})
	s := Subject{Dialect: policy.Postgres, Server: Server{ID: "s", ProjectID: "p"}}
	for i, line := range []func(*testing.T, *bench){free, free, lineOf("p/s"), heldBack} {
		line(t, b)
		for _, text := range []string{"BEGIN", "COMMIT", "ROLLBACK"} {
			if _, err := b.Check(t.Context(), s, text); err != nil {
				t.Errorf("%d: %s: %v", i, text, err)
			}
		}
	}
}

// heldBack has the server s use up its share of the work beside another.
func heldBack(t *testing.T, b *bench) {
	w, pass := clocked(20)
	works(w, Account{"q", "other"}, pass)
	if n := begins(w, Account{"p", "s"}); n == 50 {
		t.Fatal("nothing is held back")
	}
	b.work = w.Work
}

// lineOf has a text of an account wait to be checked for as long as the test lasts.
func lineOf(account string) func(*testing.T, *bench) {
	return func(t *testing.T, b *bench) {
		b.parsing = NewTurns(1, 0)
		mustTake(t, b.parsing, "another")
		queue(t, b.parsing, account)
	}
}
