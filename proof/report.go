package proof

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenantgate/tenantgate/proof/statement"
)

// Report is what came of a run.
type Report struct {
	Walls      Walls
	Seed       uint64
	Tried      int
	Admitted   int
	Compared   int // in full: the answer was determined
	Limited    int // refused without need, at a known limit
	Unsettled  int // found undetermined by asking the own database again
	Slow       int // cut off by the time limit
	Failed     int // admitted, and answered with an error
	Writes     int
	Faults     map[Fault]int
	Refusals   map[string]int
	Errors     map[string]int
	Paths      map[string]int // of those admitted: how a client sent them; none where no client did
	Constructs map[string]*Use
	Findings   []Finding
	Elapsed    time.Duration

	mu   sync.Mutex
	most int // of Findings, of each fault
	done bool
	busy map[Fault]int
}

// Use counts how often a construct was in a statement.
type Use struct{ Generated, Admitted int }

func newReport(cfg Config) *Report {
	return &Report{
		Walls: cfg.Walls, Seed: cfg.Seed, most: cfg.Findings, Faults: map[Fault]int{}, busy: map[Fault]int{}, Refusals: map[string]int{}, Errors: map[string]int{}, Paths: map[string]int{}, Constructs: map[string]*Use{},
	}
}

// count files what came of a statement, and tells whether it is to be reduced.
func (r *Report) count(st statement.Statement, o outcome, enough func(Fault) bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Tried++
	r.uses(st, o.refused == "")
	if o.refused != "" {
		r.Refusals[string(o.refused)]++
	} else {
		r.admitted(o)
	}
	if o.fault == "" {
		return false
	}
	r.Faults[o.fault]++
	r.done = r.done || enough != nil && enough(o.fault)
	r.busy[o.fault]++
	return r.busy[o.fault] <= r.most
}

// ended tells whether nothing further is to be tried.
func (r *Report) ended() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done
}

func (r *Report) admitted(o outcome) {
	r.Admitted++
	for _, c := range []struct {
		so   bool
		into *int
	}{{o.compared, &r.Compared}, {o.unsettled, &r.Unsettled}, {o.limited, &r.Limited}, {o.slow, &r.Slow}, {o.wrote, &r.Writes}, {o.state != "", &r.Failed}} {
		if c.so {
			*c.into++
		}
	}
	if o.shared.path != "" {
		r.Paths[string(o.shared.path)]++
	}
	if o.state != "" {
		r.Errors[o.state]++
	}
}

// uses counts a statement's constructs. What a mutation left of them is not known.
func (r *Report) uses(st statement.Statement, admitted bool) {
	if st.Damage {
		return
	}
	for _, name := range st.Uses {
		u := r.Constructs[name]
		if u == nil {
			u = &Use{}
			r.Constructs[name] = u
		}
		u.Generated++
		if admitted {
			u.Admitted++
		}
	}
}

func (r *Report) keep(f Finding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Findings = append(r.Findings, f)
}

// Faulty is how many statements broke the promise.
func (r *Report) Faulty() int {
	n := 0
	for _, k := range r.Faults {
		n += k
	}
	return n
}

// Share is how many of a hundred statements were admitted.
func (r *Report) Share() float64 { return 100 * float64(r.Admitted) / float64(max(r.Tried, 1)) }

// Missing are the constructs that no admitted statement had.
func (r *Report) Missing() []string {
	var names []string
	for _, name := range statement.Constructs(r.Walls.modes()) {
		if u := r.Constructs[name]; u == nil || u.Admitted == 0 {
			names = append(names, name)
		}
	}
	return names
}

// String is the report in a few lines.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "walls %s, seed %d: %d statements, %.1f %% admitted, %d compared in full, %d writes, %d answered with an error, %d found undetermined, %d at a known limit, %d slow\n",
		r.Walls, r.Seed, r.Tried, r.Share(), r.Compared, r.Writes, r.Failed, r.Unsettled, r.Limited, r.Slow)
	fmt.Fprintf(&b, "leaks %d, foreign changes %d, mismatches %d, differing rows %d, internal refusals %d; %.0f statements/s in %s\n",
		r.Faults[Leak], r.Faults[Foreign], r.Faults[Mismatch], r.Faults[Rows], r.Faults[Defect], float64(r.Tried)/max(r.Elapsed.Seconds(), 0.001), r.Elapsed.Round(time.Millisecond))
	fmt.Fprintf(&b, "refused: %s\nerrors: %s\n", tally(r.Refusals), tally(r.Errors))
	if len(r.Paths) > 0 {
		fmt.Fprintf(&b, "sent: %s\n", tally(r.Paths))
	}
	return b.String()
}

// Table lists the constructs, how often each was generated and admitted.
func (r *Report) Table() string {
	var names []string
	for name := range r.Constructs {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "  %-42s %8d %8d\n", name, r.Constructs[name].Generated, r.Constructs[name].Admitted)
	}
	return b.String()
}

func tally(counts map[string]int) string {
	var names []string
	for name := range counts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return counts[b] - counts[a] })
	var parts []string
	for _, name := range names {
		parts = append(parts, fmt.Sprintf("%s %d", name, counts[name]))
	}
	return strings.Join(parts, ", ")
}

// String tells a finding so that it can be tried again.
func (f Finding) String() string {
	text, args := f.Statement.Text(f.Server)
	var b strings.Builder
	fmt.Fprintf(&b, "%s (seed %d, statement %d, server %s, scope mode %q, damaged %t)\n  %s\n  args %v\n", f.Fault, f.Seed, f.Number, f.Server, f.Statement.Mode, f.Statement.Damage, text, args)
	if f.Refusal != "" {
		fmt.Fprintf(&b, "  refused as %s: %s\n", f.Refusal, f.outcome.why)
		return b.String()
	}
	plain, _ := f.Statement.PlainText(f.Server)
	if f.Original != text {
		fmt.Fprintf(&b, "  was     %s\n", f.Original)
	}
	fmt.Fprintf(&b, "  sent    %s\n  plain   %s\n", f.outcome.gate.sql, plain)
	if path := f.outcome.shared.path; path != "" {
		fmt.Fprintf(&b, "  by      %s\n", path)
	}
	fmt.Fprintf(&b, "  shared  %s\n  own     %s\n", f.outcome.shared.brief(), f.outcome.own.brief())
	var turned []string
	for i, v := range f.outcome.gate.settings {
		if v != planner[i].values[0] {
			turned = append(turned, planner[i].name+"="+v)
		}
	}
	fmt.Fprintf(&b, "  planner %s\n%s", strings.Join(turned, " "), f.Plan)
	return b.String()
}

// brief is an answer in a line.
func (a answer) brief() string {
	if a.state != "" {
		return a.state + " " + strings.ReplaceAll(strings.TrimSpace(a.message), "\n", " / ")
	}
	rows := a.rows
	if len(rows) > 8 {
		rows = rows[:8]
	}
	return fmt.Sprintf("%s %v %d rows %v own %v others %v", a.tag, a.columns, len(a.rows), rows, a.own, a.others)
}
