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

// Ensure a known text that waited for the server's share leaves nothing behind, and stands in the line that its server's texts have formed meanwhile.
func TestKnownTextsStandInALineThatCameMeanwhile(t *testing.T) {
	for _, line := range []bool{false, true} {
		b, s := newBench(t, policy.Limits{}), Subject{Server: Server{ID: "s", ProjectID: "p"}}
		for range 2 {
			_, _ = b.Check(t.Context(), s, reads)
		}
		w, pass := clocked(20)
		works(w, Account{"q", "other"}, pass)
		n := begins(w, s.Server.Account())
		b.parsing, b.work = NewTurns(1, 0), w.Work
		answer := make(chan error, 1)
		go func() {
			_, err := b.Check(t.Context(), s, reads)
			answer <- err
		}()
		awaitHeldBack(t, w, 1)
		if line {
			mustTake(t, b.parsing, "another")
			queue(t, b.parsing, "p/s")
		}
		for range n {
			w.end(s.Server.Account())
		}
		pass(time.Second)
		if err := <-answer; (err != nil) != line || line && !strings.Contains(err.Error(), "being checked") {
			t.Errorf("%v: %v", line, err)
		}
		if !line {
			nothingIsHeld(t, b)
		}
	}
}

// Ensure a transaction can be begun and ended whatever waits to be checked, in words that were asked before or not: its locks may keep
// others waiting. A comment may hold a value, so a text with one waits whether or not it is known.
func TestTransactionsEndBesideALine(t *testing.T) {
	s := Subject{Dialect: policy.Postgres, Server: Server{ID: "s", ProjectID: "p"}}
	for name, fill := range map[string]func(*testing.T, *bench){"line": lineOf("p/s"), "held back": heldBack} {
		for _, word := range []string{"BEGIN", "COMMIT", "ROLLBACK"} {
			t.Run(name+" "+word, func(t *testing.T) {
				t.Parallel()
				b, known := newBench(t, policy.Limits{}), word+" /* known */"
				for range 2 {
					if _, err := b.Check(t.Context(), s, known); err != nil {
						t.Fatal(err)
					}
				}
				fill(t, b)
				for _, text := range []string{word, strings.ToLower(word) + " Work;", word + "\tTRANSACTION"} {
					for range 3 {
						if _, err := b.Check(t.Context(), s, text); err != nil {
							t.Errorf("%s: %v", text, err)
						}
					}
				}
				for _, text := range []string{known, word + " /* unknown */"} {
					if _, err := b.Check(t.Context(), s, text); err == nil {
						t.Errorf("%s: admitted", text)
					}
				}
			})
		}
	}
}

// Ensure nothing but the words of these commands is spared the wait.
func TestControlsTransaction(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, ";": false, "BEGIN": true, "start transaction isolation level repeatable read, read only, not deferrable;": true,
		"ABORT AND NO CHAIN": true, "END": true, "WORK": false, "COMMIT x": false, "COMMIT PREPARED 'x'": false, "SAVEPOINT a": false,
		"BEGIN -- x": false, "BEGIN" + strings.Repeat(" ", longestControl): false,
	} {
		if controlsTransaction(text) != want {
			t.Errorf("%q: %v", text, !want)
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
