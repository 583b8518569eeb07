package proof

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// OrderReport is what came of a run of mode order.
type OrderReport struct {
	Config      OrderConfig
	Tried       int
	Compared    int // admitted, answered on both sides, and each the same twice where they differ
	Planned     int // of these: both sides gave a plan, and not an error
	Unsettled   int // the answer differs from itself
	Slow        int // cut off by the time limit
	Failed      int // answered with an error
	Planted     int // after an INSERT of the server's own rows
	Sized       int // the answer differs where its own INSERT gave an index more pages on one side
	Differing   int
	Paths       map[string]int
	Refusals    map[string]int
	Errors      map[string]int
	Uses        map[string]int
	Differences []Difference
	Elapsed     time.Duration

	mu   sync.Mutex
	kept int
}

// Difference is a statement whose answer shows the others' values, reduced.
type Difference struct {
	probing
	server   string
	Original string
	outcome  probed
	Shows    []string // columns without whose statistics, of each alone, the answers are the same
}

func newOrderReport(cfg OrderConfig) *OrderReport {
	return &OrderReport{Config: cfg, Paths: map[string]int{}, Refusals: map[string]int{}, Errors: map[string]int{}, Uses: map[string]int{}}
}

// count files what came of a probe, and tells whether it is to be reduced.
func (r *OrderReport) count(q probing, o probed) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Tried++
	switch {
	case o.refused != "":
		r.Refusals[o.refused]++
		return false
	case o.slow:
		r.Slow++
		return false
	case o.unsettled:
		r.Unsettled++
		return false
	case o.sized:
		r.Sized++
		return false
	}
	r.Compared++
	r.Paths[q.way()]++
	if len(q.Plant.Tokens) > 0 && q.path != REST {
		r.Planted++
	}
	if o.plans[0].made && o.plans[1].made {
		r.Planned++
	}
	if state := o.answers[0].state; state != "" {
		r.Failed++
		r.Errors[state]++
	}
	if !o.differs {
		return false
	}
	r.Differing++
	for _, use := range q.Uses {
		r.Uses[use]++
	}
	r.kept++
	return r.kept <= r.Config.Findings
}

// way is a path and the upstream behind it.
func (q probing) way() string {
	if q.prepared {
		return string(q.path)
	}
	return string(q.path) + ", not prepared"
}

func (r *OrderReport) keep(d Difference) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Differences = append(r.Differences, d)
	slices.SortFunc(r.Differences, func(a, b Difference) int { return a.number - b.number })
}

func (r *OrderReport) ended() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Config.First && r.Differing > 0
}

// String is the report in a few lines.
func (r *OrderReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "order, walls %s, seed %d: %d statements, %.1f %% compared (%d with their plans, %d after rows of one's own), %d answered with an error, %d undetermined, %d by sizes, %d slow\n",
		r.Config.Walls, r.Config.Seed, r.Tried, 100*float64(r.Compared)/float64(max(r.Tried, 1)), r.Planned, r.Planted, r.Failed, r.Unsettled, r.Sized, r.Slow)
	fmt.Fprintf(&b, "differing sequences %d; %.0f statements/s in %s\n", r.Differing, float64(r.Tried)/max(r.Elapsed.Seconds(), 0.001), r.Elapsed.Round(time.Millisecond))
	fmt.Fprintf(&b, "paths: %s\nrefused: %s\nerrors: %s\n", tally(r.Paths), tally(r.Refusals), tally(r.Errors))
	if r.Differing > 0 {
		fmt.Fprintf(&b, "in those that differ: %s\n", tally(r.Uses))
	}
	return b.String()
}

// String writes a difference so that it can be tried again.
func (d Difference) String() string {
	text, args := d.NativeText(d.server)
	if d.path == REST {
		text, args = d.Text(d.server)
	}
	plant, _ := d.Plant.NativeText(d.server)
	return fmt.Sprintf("number %d, server %s, path %s, mode %s\n  %s\n  args %v\n  plant %.300s\n  original %s\n  shows %s\n  D:  %s\n  D': %s\n  %s\n",
		d.number, d.server, d.way(), d.Mode, text, args, plant, d.Original, strings.Join(d.Shows, ", "), d.outcome.answers[0].short(), d.outcome.answers[1].short(), firstDifference(d.outcome.plans[0].text, d.outcome.plans[1].text))
}

func (a answer) short() string {
	return fmt.Sprintf("%.300q", strings.Join(a.rows, " / ")+" "+a.tag+" "+a.state+" "+a.message)
}
