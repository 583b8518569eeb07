package proxy

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/tenantgate/tenantgate/policy"
)

// hostile is how many texts somebody sends who sends none of them twice.
const hostile = 10_000

// newPopular gives plans that have room for some hundred, and the hundred texts that
// everybody sends in them.
func newPopular(t *testing.T) (*plans, []string) {
	t.Helper()
	p, err := newPlans(leastPlans, func() {})
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for i := range 100 {
		texts = append(texts, fmt.Sprintf("SELECT %d", i))
		p.keep(planKey{text: texts[i]}, &policy.Approved{}, nil)
		p.keep(planKey{text: texts[i]}, &policy.Approved{}, nil)
	}
	for range 3 {
		p.wantKept(t, texts)
	}
	return p, texts
}

func (p *plans) cleanUp() {
	p.known.CleanUp()
	p.refused.CleanUp()
}

func (p *plans) wantKept(t *testing.T, texts []string) {
	t.Helper()
	p.cleanUp()
	for _, text := range texts {
		if approved, refusal := p.get(planKey{text: text}); approved == nil || refusal != nil {
			t.Fatalf("the plan of %s is gone", text)
		}
	}
}

// TestRefusalsCostNoPlan has texts refused that weigh a hundred times what is kept of
// refusals, however often each is sent.
func TestRefusalsCostNoPlan(t *testing.T) {
	p, popular := newPopular(t)
	for i := range hostile {
		text := fmt.Sprintf("DROP TABLE t%d -- %s", i, strings.Repeat("x", 10_000))
		p.keep(planKey{text: text}, nil, &Error{Code: policy.StatementNotAllowed})
		for range i % 3 {
			if approved, _ := p.get(planKey{text: text}); approved != nil {
				t.Fatal("what was refused is approved")
			}
		}
	}
	p.wantKept(t, popular)
	if weight := p.refused.WeightedSize(); weight > leastPlans {
		t.Errorf("%d bytes of refusals are kept", weight)
	}
}

// TestNewPlansCostThePopularNothing has one server send approved texts that nobody
// repeats, while nobody else sends any. One that comes to be sent often finds room all the
// same.
func TestNewPlansCostThePopularNothing(t *testing.T) {
	p, popular := newPopular(t)
	for i := range hostile {
		p.keep(planKey{text: fmt.Sprintf("SELECT 'x%d'", i)}, &policy.Approved{}, nil)
	}
	p.wantKept(t, popular)
	missed := 0
	for range 20 {
		p.cleanUp()
		missed = 0
		for i := range 100 {
			text := fmt.Sprintf("SELECT 'new%d'", i)
			if approved, _ := p.get(planKey{text: text}); approved == nil {
				missed++
				p.keep(planKey{text: text}, &policy.Approved{}, nil)
			}
		}
	}
	if missed > 10 {
		t.Errorf("%d of 100 new texts that everybody sends are not kept", missed)
	}
	p.cleanUp()
	if weight := p.known.WeightedSize(); weight > leastPlans || weight < leastPlans/4 {
		t.Errorf("%d bytes of plans are kept", weight)
	}
}

// TestUniqueTextsKeepNoPlanOut has somebody send texts that nobody repeats, before and between those of
// others: what comes again is kept all the same.
func TestUniqueTextsKeepNoPlanOut(t *testing.T) {
	p, err := newPlans(leastPlans, func() {})
	if err != nil {
		t.Fatal(err)
	}
	sent := 0
	flood := func(n int) {
		for range n {
			sent++
			p.keep(planKey{text: fmt.Sprintf("SELECT 'x%d'", sent)}, &policy.Approved{}, nil)
		}
	}
	flood(hostile)
	missed := 0
	for range 10 {
		p.cleanUp()
		key := planKey{text: "SELECT 'quiet'"}
		if approved, _ := p.get(key); approved == nil {
			missed++
			p.keep(key, &policy.Approved{}, nil)
		}
		flood(hostile / 10)
	}
	if missed > 3 {
		t.Errorf("the plan was gone %d of 10 times", missed)
	}
}

// TestRepeatedPlans has one server send each of its texts twice, as many texts as all
// others send: hardly any of theirs is lost, where a cache by age alone would lose all.
func TestRepeatedPlans(t *testing.T) {
	p, popular := newPopular(t)
	missed := 0
	ask := func(text string) {
		if approved, _ := p.get(planKey{text: text}); approved == nil {
			missed++
			p.keep(planKey{text: text}, &policy.Approved{}, nil)
		}
	}
	for i := range hostile {
		ask(fmt.Sprintf("SELECT 'x%d'", i))
		ask(fmt.Sprintf("SELECT 'x%d'", i))
		ask(popular[i*37%100])
	}
	if missed -= 2 * hostile; missed > hostile/10 {
		t.Errorf("%d of %d times a popular plan was gone", missed, hostile)
	}
}

// TestPlansWeighWhatTheyTake compares the bytes that plans are counted for with those of
// the heap.
func TestPlansWeighWhatTheyTake(t *testing.T) {
	b := newBench(t, policy.Limits{})
	for _, form := range []string{
		"SELECT id FROM notes WHERE server_id = ? AND body = 'n%d'",
		"INSERT INTO notes (id, server_id) VALUES (?, ?), (?, ?), (?, ?), (?, ?), ('n%d', ?)",
		"SELECT id FROM notes WHERE server_id = ? AND body = 'n%d'" + strings.Repeat(" AND body = ?", 80),
		"SELECT body, '" + strings.Repeat("x", 5_000) + "' FROM notes WHERE server_id = ? AND body = 'n%d'",
	} {
		kept := make([]*policy.Approved, 50)
		before, weight := heap(), 0
		for i := range kept {
			var err error
			if kept[i], err = b.Check(t.Context(), Subject{}, fmt.Sprintf(form, i)); err != nil {
				t.Fatal(err)
			}
			weight += len(form) + kept[i].Size()
		}
		taken := heap() - before
		runtime.KeepAlive(kept)
		if taken > weight+weight/4 || taken < weight/4 {
			t.Errorf("%.60s: %d bytes of the heap count as %d", form, taken/len(kept), weight/len(kept))
		}
	}
}

func heap() int {
	runtime.GC()
	runtime.GC() // what the first one found in pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestTextIsNotKept has the text be a view of a buffer that is used again.
func TestTextIsNotKept(t *testing.T) {
	b := newBench(t, policy.Limits{})
	buffer := []byte(reads)
	var approved *policy.Approved
	for range 2 { // it is kept from the second time on
		var err error
		if approved, err = b.Check(t.Context(), Subject{}, unsafe.String(&buffer[0], len(buffer))); err != nil {
			t.Fatal(err)
		}
	}
	final := approved.Rewritten()
	copy(buffer, strings.Repeat("x", len(buffer)))
	if again, err := b.Check(t.Context(), Subject{}, reads); again != approved || err != nil || approved.Rewritten() != final || b.recorder.of("plan hit") != 1 {
		t.Errorf("%v, %v: %q", again, err, approved.Rewritten())
	}
	if _, err := b.Check(t.Context(), Subject{}, unsafe.String(&buffer[0], len(buffer))); err == nil {
		t.Error("another text has the plan of the one before")
	}
}

// TestWhatIsNotKept shows that a text which is too long costs no memory, and that a defect
// does not outlast its cause.
func TestWhatIsNotKept(t *testing.T) {
	b := newBench(t, policy.Limits{})
	long := "SELECT '" + strings.Repeat("x", 20_000) + "'"
	for range 2 {
		if _, err := b.Check(t.Context(), Subject{}, long); codeOf(err) != policy.QueryTooLong {
			t.Fatal(err)
		}
	}
	c, _ := b.policies.of(Subject{})
	engine := c.policy
	c.policy = nil
	if _, err := b.Check(t.Context(), Subject{}, reads); codeOf(err) != policy.Internal {
		t.Error(err)
	}
	c.policy = engine
	if _, err := b.Check(t.Context(), Subject{}, reads); err != nil || b.recorder.of("plan hit") != 0 {
		t.Errorf("%v, %d hits", err, b.recorder.of("plan hit"))
	}
}

// silent is a recorder that costs nothing.
type silent struct{ Recorder }

func (silent) PlanCache(string)      {}
func (silent) Stage(string, float64) {}

// TestWarmDecisionsAllocateNothing is about both verdicts.
func TestWarmDecisionsAllocateNothing(t *testing.T) {
	b := newBench(t, policy.Limits{})
	b.Gate.recorder = silent{}
	ctx := t.Context()
	for _, text := range []string{reads, "DROP TABLE notes"} {
		_, first := b.Check(ctx, Subject{}, text)
		if n := testing.AllocsPerRun(100, func() {
			if _, err := b.Check(ctx, Subject{}, text); err != first { //nolint:errorlint // it is the same
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}
