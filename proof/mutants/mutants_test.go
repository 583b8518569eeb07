package mutants

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	run  = flag.Bool("kill", false, "run the proof on every mutant, which takes minutes; without it they are only read and built")
	only = flag.String("only", "", "run those mutants whose name holds this")
)

// proof is a part of the proof.
type proof struct {
	args   []string       // of go test
	notice *regexp.Regexp // what it prints where it notices a mutant; what fails otherwise, as without a Postgres, kills none
}

var early = regexp.MustCompile("before the scope condition stands")

var proofs = map[string]proof{
	"experiment": {
		[]string{"./proof", "-run", "^TestProve$", "-mode", "engine", "-statements", "20000", "-first", "-findings", "1"},
		regexp.MustCompile(`(leaks|foreign changes|mismatches|differing rows) [1-9]`),
	},
	"order":           {[]string{"./proof", "-run", "^TestOrderWithStatistics$", "-mode", "engine", "-statements", "4000"}, differing},
	"order-all":       {[]string{"./proof", "-run", "^TestOrderWithStatistics$", "-mode", "all", "-statements", "4000"}, differing},     // where row-level security is the barrier
	"order-joins":     {[]string{"./proof", "-run", "^TestProveOrder$", "-mode", "engine", "-statements", "4000", "-first"}, differing}, // with statistics of scope columns alone
	"order-joins-all": {[]string{"./proof", "-run", "^TestProveOrder$", "-mode", "all", "-statements", "4000", "-first"}, differing},
	"filters":         {[]string{"./proof", "-run", "^TestFilters$", "-mode", "all", "-statements", "6000"}, early},
	"filters-engine":  {[]string{"./proof", "-run", "^TestFilters$", "-mode", "engine", "-statements", "6000"}, early},
	"barrier":         {[]string{"./proof/barrier", "-run", "^Test(Leaks|Found|Upsert)"}, regexp.MustCompile("tells of another server's row|--- FAIL: TestUpsert")},
	"corpus":          {[]string{"./cmd/tenantgate", "-run", "^TestBypass$"}, regexp.MustCompile("LEAK: |instead of\n")},
	"names":           {[]string{"./policy/sql/analyze", "-run", "^Test(Partial|UnknownNames|FieldOfRow)$"}, regexp.MustCompile("--- FAIL: Test")},
	"decisions":       {[]string{"./policy", "-run", "^TestGolden$"}, regexp.MustCompile("--- FAIL: TestGolden")},
	"verifier":        {[]string{"./policy/sql/verify", "-run", "^TestVerify"}, regexp.MustCompile("--- FAIL: TestVerify")},
}

var differing = regexp.MustCompile("differing sequences [1-9]")

// TestMutants demands that each mutant is killed: built, and noticed by its proof. What does not
// build proves nothing.
func TestMutants(t *testing.T) {
	all, err := All()
	if err != nil || len(all) < 25 {
		t.Fatalf("%d mutants: %v", len(all), err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	tried, killed, held := 0, 0, map[string]bool{}
	for _, m := range all {
		overlay, err := m.overlay(root, t.TempDir())
		if err != nil {
			t.Error(err)
			continue
		}
		if proofs[m.Proof].notice == nil {
			t.Errorf("%s: there is no proof %q", m.Name, m.Proof)
		}
		if !*run || !strings.Contains(m.Name, *only) {
			continue
		}
		if !held[m.Proof] {
			hold(t, root, m.Proof)
			held[m.Proof] = true
		}
		tried++
		if kills(t, root, m, overlay) {
			killed++
		}
	}
	if *run {
		t.Logf("%d of %d mutants killed", killed, tried)
	}
}

// hold demands that a proof holds for the code as it is: what fails anyhow kills nothing.
func hold(t *testing.T, root, name string) {
	t.Helper()
	empty := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(empty, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := gotest(t, root, empty, proofs[name].args); err != nil {
		t.Fatalf("the proof %q fails without a mutant:\n%s", name, first(out))
	}
}

func kills(t *testing.T, root string, m Mutant, files map[string]string) bool {
	t.Helper()
	path := filepath.Join(t.TempDir(), "overlay.json")
	src, err := json.Marshal(map[string]any{"Replace": files})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, src, 0o600); err != nil {
		t.Fatal(err)
	}
	args := proofs[m.Proof].args
	if out, err := gotest(t, root, path, append([]string{args[0], "-run", "^$"}, args[3:]...)); err != nil {
		t.Errorf("%s does not build:\n%s", m.Name, out)
		return false
	}
	out, err := gotest(t, root, path, args)
	if err == nil {
		t.Errorf("%s lives", m.Name)
		return false
	}
	if !proofs[m.Proof].notice.Match(out) {
		t.Errorf("%s: %s failed without noticing it\n%s", m.Name, m.Proof, first(out))
		return false
	}
	t.Logf("%s: killed by %s\n%s", m.Name, m.Proof, first(out))
	return true
}

func gotest(t *testing.T, root, overlay string, args []string) ([]byte, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"test", "-count=1", "-overlay", overlay}, args...)...) //nolint:gosec // the arguments are this file's
	cmd.Dir = root
	return cmd.CombinedOutput()
}

// first gives what the proof said first.
func first(out []byte) []byte {
	lines := bytes.SplitN(out, []byte("\n"), 9)
	return bytes.Join(lines[:min(len(lines), 8)], []byte("\n"))
}
