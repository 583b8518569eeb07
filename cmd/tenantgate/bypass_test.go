package main

import (
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// The bypass corpus: testdata/bypass has one file for each family of attack, and each case
// is sent to the running program by an attacker who has a server of his own, while two
// victims hold rows with a canary in every column. A file begins with a comment that says
// what the family is, what stands behind it, what is expected and why that is harmless.
//
//	query [as=POLICY] [beside]   a statement; a last line `args: [JSON]` holds its arguments
//	      [times=N]              (so often: the seventh time Postgres may use a generic plan)
//	then  as=POLICY              one more, in what the one before it left; no case of its own
//	body  [as=POLICY]            a request body as it stands
//	raw   [as=POLICY] [told]     bytes of HTTP: requests with lines of %% between them (told:
//	                             the answers' bodies are expected as they are)
//	leave [as=POLICY]            a statement whose client goes away in its middle
//	----
//	the rows as JSON, or the error's code with the SQLSTATE if there is one
//
// Each runs under the shipped policies default and inject; where their answers differ, each
// line of the expectation begins with the policy's name. With as= it runs under that policy
// alone: one of those two, extra or hasty of testdata/bypass-world. beside runs the
// statement while a victim's transaction holds locks and settings. «…» is a template: see
// (*attacker).expand.
//
// An expectation is what the attacker would be answered if only his own rows existed, and
// -rewrite makes it just so: the victims' rows are left out then. So a difference of any
// kind, and not only a canary, is a leak.

// bypassSetup is one arrangement of the walls, under which every case must hold.
type bypassSetup struct {
	name    string
	flags   []string
	prepare []string // SQL of the superuser, once the tables are there
}

// bypassSetups are the arrangements: the engine alone, as a role that no row-level security
// binds, and with row-level security on every scoped table.
func bypassSetups(t *testing.T) []bypassSetup {
	return []bypassSetup{
		{name: "without row-level security", flags: []string{"--rls=off"}, prepare: []string{bypassFile(t, "open.sql")}},
		{name: "with row-level security", flags: []string{"--rls=required"}, prepare: []string{bypassFile(t, "walls.sql")}},
	}
}

// leastCases and families are what the corpus must not fall below.
const (
	leastCases = 420
	families   = 70
)

func TestBypass(t *testing.T) {
	if err := flag.Set("datadriven-quiet", "true"); err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob("testdata/bypass/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, setup := range bypassSetups(t) {
		t.Run(setup.name, func(t *testing.T) {
			if !rewriting() {
				t.Parallel()
			}
			w := bypassStart(t, setup)
			for _, path := range paths {
				t.Run(filepath.Base(path), func(t *testing.T) { w.family(t, path) })
			}
			w.ended(t)
			t.Logf("%d cases, %d leaks, %d hangs, %d crashes, %d answers of status 500; %d answers differ from what they must be", w.cases, w.leaks, w.hangs, w.crashes, w.internal, w.differ)
		})
		if rewriting() {
			return // what the first arrangement answers is what all must
		}
	}
}

// TestBypassIsWhole counts the corpus: a family that is lost must not go unnoticed.
func TestBypassIsWhole(t *testing.T) {
	paths, err := filepath.Glob("testdata/bypass/*")
	if err != nil {
		t.Fatal(err)
	}
	var numbers []string
	cases := 0
	for _, path := range paths {
		number, _, _ := strings.Cut(filepath.Base(path), "-")
		numbers = append(numbers, number)
		of := 0
		datadriven.RunTest(t, path, func(_ *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "then" {
				of++
			}
			return d.Expected
		})
		if cases += of; of < 4 {
			t.Errorf("%s has only %d cases", path, of)
		}
	}
	if n := len(slices.Compact(slices.Clone(numbers))); n != families || len(paths) != families || cases < leastCases {
		t.Errorf("%d files of %d families with %d cases, want %d files and at least %d cases", len(paths), n, cases, families, leastCases)
	}
}

func rewriting() bool { return flag.Lookup("rewrite").Value.String() == "true" }

// family runs one file. Problems are told at its end, because datadriven stops at the first.
func (w *bypassWorld) family(t *testing.T, path string) {
	var problems []string
	before := w.cases
	datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
		said, found := w.step(t, d)
		if !rewriting() && said != d.Expected {
			w.differ++
			found = append(found, "answered\n"+said+"instead of\n"+d.Expected)
		}
		for _, p := range found {
			problems = append(problems, d.Pos+": "+d.Input+"\n"+p)
		}
		if rewriting() {
			return said
		}
		return d.Expected
	})
	for _, p := range append(problems, w.bystanders(t)...) {
		t.Error(p)
	}
	t.Logf("%d cases", w.cases-before)
}

// step runs one directive under each policy that it is for, and gives what the answers were and
// what was wrong besides.
func (w *bypassWorld) step(t *testing.T, d *datadriven.TestData) (said string, problems []string) {
	if d.Cmd != "then" {
		w.cases++
	}
	names := []string{"default", "inject"}
	if d.HasArg("as") {
		names = names[:1]
		d.ScanArgs(t, "as", &names[0])
	} else if d.Cmd == "then" {
		d.Fatalf(t, "what follows a case must be of one policy")
	}
	answers := make([]string, len(names))
	for i, name := range names {
		a := w.attackers[name]
		if a == nil {
			d.Fatalf(t, "no attacker has the policy %q", name)
		}
		if d.Cmd != "then" {
			a.reseed(t)
		}
		var found []string
		answers[i], found = a.run(t, d)
		found = append(found, a.changed(t)...)
		if i == len(names)-1 {
			found = append(found, a.honest(t)...)
		}
		for _, p := range found {
			problems = append(problems, name+": "+p)
		}
	}
	if len(answers) == 1 || answers[0] == answers[1] {
		return answers[0], problems
	}
	for i, name := range names {
		for line := range strings.Lines(answers[i]) {
			said += name + ": " + line
		}
	}
	return said, problems
}
