package proxy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

// Ensure a text is answered alike, whether or not somebody has sent it before, where the server has used up its share of the work
// or texts of its project wait to be checked: else it learns which values others have written into their texts.
func TestKnownTextsAreAnsweredAsUnknownOnes(t *testing.T) {
	const busy, line, denied = "share of the database", "being checked", string(policy.StatementNotAllowed)
	for name, c := range map[string]struct {
		fill            func(*testing.T, *bench)
		within          bool
		known, admitted string // what is said of a text that is admitted: of a known one, and of an unknown one
		refused         string // and of one that is refused, whether known or not
	}{
		"free":                  {func(*testing.T, *bench) {}, false, "", "", denied},
		"held back":             {heldBack, false, "", busy, busy}, // upstream holds the known one back
		"held back within":      {heldBack, true, "", "", denied},
		"own line":              {lineOf("p/s"), false, line, line, line},
		"own line within":       {lineOf("p/s"), true, line, line, line},
		"line of its project":   {lineOf("p/x"), false, line, line, line},
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
				_, err := b.Check(t.Context(), s, text)
				if said := fmt.Sprint(err); (err == nil) != (want == "") || !strings.Contains(said, want) {
					t.Errorf("%s: %s, want %q", text, said, want)
				}
			}
		})
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
