package policy_test

import (
	"flag"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/policy"
)

// mixtures is how many random texts there are; -mixtures 5000 for a long run.
var mixtures = flag.Int("mixtures", 60, "random texts that TestWorstCase tries")

// worstTime is what a text of maxText bytes may take of a processor; the race detector
// slows the walks of the tree down by more than ten times.
const worstTime = 100 * time.Millisecond

// cost is what one decision took.
type cost struct {
	name  string
	took  time.Duration // of a processor
	bytes uint64        // allocated by Go
	code  policy.Code
}

// TestWorstCase decides texts of the greatest length in as many bad shapes as can be thought
// of. `go test ./policy -run WorstCase -v` tells the slowest.
func TestWorstCase(t *testing.T) {
	bound, policyNames := worstTime, []string{"inject", "default"}
	if raceEnabled {
		bound, policyNames = 20*worstTime, policyNames[:1]
	}
	var costs []cost
	admitted := 0
	for _, policyName := range policyNames {
		p := compile(t, policyName, readSchema(t))
		for name, text := range tried() {
			c := measure(p, text, bound)
			c.name = name + " (" + policyName + ")"
			costs = append(costs, c)
			if c.code == "" {
				admitted++
			}
			if len(text) != maxText || c.took > bound || c.bytes > maxBytes || c.code == policy.Internal {
				t.Errorf("%s takes %s and %d bytes: %s\n%.100s…", c.name, c.took, c.bytes, c.code, text)
			}
		}
	}
	slices.SortFunc(costs, func(a, b cost) int { return int(b.took - a.took) })
	report(t, costs[:10])
	slices.SortFunc(costs, func(a, b cost) int { return int(b.bytes/1024) - int(a.bytes/1024) })
	report(t, costs[:5])
	t.Logf("%d decisions, %d of them admitted", len(costs), admitted)
	if admitted < len(costs)/4 {
		t.Errorf("only %d of %d texts are admitted: the rest may end too early to be the worst", admitted, len(costs))
	}
}

// tried are all the texts; under the race detector a fifth of them.
func tried() map[string]string {
	texts := worst(*mixtures, 1)
	for i, name := range slices.Sorted(maps.Keys(texts)) {
		if raceEnabled && i%5 != 0 {
			delete(texts, name)
		}
	}
	return texts
}

func report(t *testing.T, costs []cost) {
	for _, c := range costs {
		t.Logf("%-45s %6.1f ms %6.1f MB %s", c.name, float64(c.took.Microseconds())/1000, float64(c.bytes)/1e6, c.code)
	}
}

// measure decides a text, again where something else may have been measured with it.
func measure(p *policy.Policy, text string, bound time.Duration) cost {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	best := cost{took: time.Hour}
	for range 5 {
		before, start := allocated(), spent()
		d := p.Decide(text, policy.REST)
		took := spent() - start
		best = cost{took: min(took, best.took), bytes: allocated() - before, code: d.Refusal.Code}
		if best.took < bound/2 {
			break
		}
	}
	return best
}

// TestWorstCaseMemory measures the whole process, what C takes included: the most memory
// that it ever held grows by less than maxBytes for any of the texts. It is run in a
// process of its own, which decides nothing else.
func TestWorstCaseMemory(t *testing.T) {
	const marker = "POLICY_TEST_WORST_MEMORY"
	if runtime.GOOS != "linux" {
		t.Skip("the peak of a process' memory is read as on Linux")
	}
	bound := maxBytes
	if raceEnabled { // which keeps a record of several bytes for each byte
		bound *= 4
	}
	if os.Getenv(marker) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWorstCaseMemory$", "-test.v", "-mixtures="+strconv.Itoa(*mixtures))
		cmd.Env = append(os.Environ(), marker+"=1")
		out, err := cmd.CombinedOutput()
		if t.Logf("%s", out); err != nil {
			t.Error(err)
		}
		return
	}
	p := compile(t, "inject", readSchema(t))
	most, worstName := 0, ""
	for name, text := range tried() {
		if strings.HasSuffix(name, third) {
			continue
		}
		debug.FreeOSMemory()
		if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o200); err != nil {
			t.Skip("the peak can't be reset here: ", err)
		}
		before := resident(t, "VmRSS:")
		p.Decide(text, policy.REST)
		if grew := resident(t, "VmHWM:") - before; grew > most {
			most, worstName = grew, name
		}
	}
	t.Logf("the process grew by at most %.1f MB, for %s", float64(most)/1e6, worstName)
	if most > bound {
		t.Errorf("%s takes %d bytes", worstName, most)
	}
}

// resident reads a size of the process, in bytes.
func resident(t *testing.T, field string) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), field)
	kilobytes, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}
