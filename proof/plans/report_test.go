package plans

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// result is what a statement took, or why it could not be measured.
type result struct {
	server, name  string
	before, after time.Duration
	failed        string

	statement statement
	remedy    string  // the first that helps; "": none of them
	mended    float64 // after / before with it
}

// same is what one execution may take on both sides without that a difference counts.
const same = 300 * time.Microsecond

func (r result) ratio() float64 { return float64(r.after) / float64(r.before) }
func (r result) fast() bool     { return r.before < same && r.after < same }
func (r result) slower() bool   { return r.failed == "" && !r.fast() && r.ratio() > 2 }
func (r result) faster() bool   { return r.failed == "" && !r.fast() && r.ratio() < 0.5 }

func (r result) times() string {
	return fmt.Sprintf("%.2f ms before, %.2f after", milli(r.before), milli(r.after))
}

func milli(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// report is the Markdown of a run: what each server's statements took, and which are more than
// twice as slow, with what helps them.
func report(all []result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Made on %s, on %d CPUs, %s/%s, with %d rows.\n\n", time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, *rows)
	fmt.Fprintf(&b, "| server | statements | below %.1f ms in both | median after / before of the others | all together before, after | twice as fast | more than twice as slow |\n|---|---|---|---|---|---|---|\n", milli(same))
	for _, m := range measured {
		b.WriteString(summary(m.name, all))
	}
	slices.SortStableFunc(all, func(a, b result) int { return int(b.after-b.before) - int(a.after-a.before) })
	b.WriteString(listed(all))
	b.WriteString(failures(all))
	return b.String()
}

// tooLong says that a statement took more than limitBefore even before.
const tooLong = "takes too long"

// failures names what could not be compared; of what takes too long, how many there are.
func failures(all []result) string {
	servers := map[string][]string{} // by what is said of a statement
	long := 0
	for _, r := range all {
		switch r.failed {
		case "":
		case tooLong:
			long++
		default:
			said := r.name + ": " + r.failed
			servers[said] = append(servers[said], r.server)
		}
	}
	b := fmt.Sprintf("\nNot compared: %d that take too long before", long)
	for _, said := range slices.Sorted(maps.Keys(servers)) {
		b += fmt.Sprintf("; %s (%s)", said, strings.Join(servers[said], ", "))
	}
	return b + ".\n"
}

func summary(server string, all []result) string {
	var before, after time.Duration
	var ratios []float64
	var fast, faster, slower int
	for _, r := range all {
		if r.server != server || r.failed != "" {
			continue
		}
		before, after = before+r.before, after+r.after
		switch {
		case r.fast():
			fast++
		case r.faster():
			faster++
		case r.slower():
			slower++
		}
		if !r.fast() {
			ratios = append(ratios, r.ratio())
		}
	}
	slices.Sort(ratios)
	middle := 1.0
	if len(ratios) > 0 {
		middle = ratios[len(ratios)/2]
	}
	return fmt.Sprintf("| %s | %d | %d | %.2f | %.1f s, %.1f s | %d | %d |\n", server, fast+len(ratios), fast, middle, before.Seconds(), after.Seconds(), faster, slower)
}

// The marks between which a page has the tables.
const (
	begin = "<!-- make bench-plans: begin -->\n"
	end   = "<!-- make bench-plans: end -->\n"
)

// store puts the tables into a page, where one is named.
func store(text, page string) error {
	if page == "" {
		return nil
	}
	content, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("reading the page: %w", err)
	}
	head, rest, found := strings.Cut(string(content), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		return fmt.Errorf("%s lacks the marks of make bench-plans", page)
	}
	return os.WriteFile(page, []byte(head+begin+text+end+tail), 0o644) //nolint:gosec // a page for everybody
}
