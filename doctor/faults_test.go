package doctor

import (
	"flag"
	"slices"
	"strings"
	"testing"
)

var everyFault = flag.Bool("faults", false, "try every fault and its script, as `make pg-matrix` does, not only one fault of each check and the script of each eighth")

// fault is one that a sound database is given.
type fault struct {
	name   string
	sql    string
	undo   string // for what is not in the database: roles are the whole server's
	want   string // the findings, one on a line: grade, check, object
	says   string // part of what the first one says, where the object does not tell it all
	at     string // a table that is closed while serving
	open   string // the tables without a wall, unless all of them stand
	stops  bool   // the service does not start with it
	left   string // what the script can't mend, one check on a line
	policy string // instead of shop
	second string // a policy before it
	loud   bool   // it is about statistics, which are off elsewhere
	lists  bool   // it is about lists of btree indexes, which have none elsewhere
	always bool   // it is tried without -faults, too
	mend   bool   // run the script in the short form too
}

// Ensure each fault gives its own finding and no other, and, for each eighth, that running the script,
// twice, mends it. Without -faults it tries one fault of each check, those marked always, and all that must give no finding.
func TestFaults(t *testing.T) {
	c := openClinic(t)
	all := slices.Concat(roleFaults, policyFaults, grantFaults, wallFaults, hiddenFaults, definerFaults, plannerFaults, indexFaults, surfaceFaults)
	tried := map[string]int{}
	for i, f := range all {
		if check := f.check(); check != "" && !f.always && !*everyFault {
			if tried[check]++; tried[check] > 1 {
				continue
			}
		}
		t.Run(f.name, func(t *testing.T) { c.suffer(t, f, *everyFault || f.mend || i%8 == 0) })
	}
}

// check is the name of the first finding that is wanted; "" where none is.
func (f fault) check() string {
	if words := strings.Fields(f.want); len(words) > 1 {
		return words[1]
	}
	return ""
}

func (c *clinic) suffer(t *testing.T, f fault, mend bool) {
	url := c.patient(t)
	database := url[strings.LastIndexByte(url, '/')+1:]
	if i := strings.IndexByte(database, '?'); i >= 0 {
		database = database[:i]
	}
	here := func(text string) string { return strings.ReplaceAll(c.names.Replace(text), "@db", database) }
	if f.undo != "" {
		t.Cleanup(func() { c.exec(t, url, here(f.undo)) })
	}
	c.exec(t, url, here(f.sql))
	quiet := func() {
		if !f.loud {
			c.exec(t, url, noStatistics)
		}
		if !f.lists {
			c.exec(t, url, noLists)
		}
	}
	quiet()
	var sources []string
	if f.policy != "" {
		sources = []string{f.policy}
	}
	if f.second != "" {
		sources = []string{f.second, shop}
	}
	r := c.examine(t, url, sources...)
	if got := list(r.Findings); got != here(f.want) {
		t.Errorf("found\n%s\nwant\n%s", got, here(f.want))
	}
	if len(r.Findings) > 0 {
		if f.at != "" && !slices.ContainsFunc(r.Findings, func(found Finding) bool { return found.Grade == Breach && found.Table == f.at }) {
			t.Errorf("nothing closes %s: %+v", f.at, r.Findings)
		}
		if said := r.Findings[0].Says + " " + r.Findings[0].Instead; !strings.Contains(said, here(f.says)) {
			t.Errorf("says %q, want %q", said, here(f.says))
		}
	}
	if got := strings.Join(r.Open, " "); got != f.open {
		t.Errorf("open: %s, want %s", got, f.open)
	}
	if stops := len(r.Stopping()) > 0; stops != f.stops {
		t.Errorf("the service does not start: %v, want %v", stops, f.stops)
	}
	for _, finding := range r.Findings {
		if strings.ContainsAny(finding.Says+finding.SQL, "{}") && !strings.Contains(finding.SQL, "'{}'") || finding.Says == "" || finding.SQL+finding.Instead == "" {
			t.Errorf("unfinished: %+v", finding)
		}
	}
	if mend || slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Table != "" }) {
		c.agree(t, url, r, sources)
	}
	if !mend {
		return
	}
	script := r.Script()
	after := r
	refuses := ""
	if r.unmigrated() {
		refuses = `run "tenantgate migrate" first`
	} else if f.stops && strings.Contains(f.want, "policy-") {
		refuses = "correct it first"
	}
	if refuses != "" {
		if err := c.try(url, script); err == nil || !strings.Contains(err.Error(), refuses) {
			t.Errorf("the script gives %v, want %s", err, refuses)
		}
		return
	}
	if slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.SQL != "" }) {
		if err := c.try(url, script+script); err != nil {
			t.Fatalf("%v\n%s", err, script)
		}
		quiet()
		after = c.examine(t, url, sources...)
	}
	var left []string
	for _, finding := range after.Findings {
		left = append(left, finding.Check)
	}
	if got := strings.Join(left, "\n"); got != f.left {
		t.Errorf("left\n%s\nwant\n%s\nafter\n%s", got, f.left, script)
	}
}
