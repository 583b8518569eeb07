package proxy

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/policy"
)

// wallOff has row-level security fall, with what it lacks, or stand, with "".
func (b *bench) wallOff(t *testing.T, lacks string) {
	t.Helper()
	b.catalog.mu.Lock()
	table := b.catalog.schema.Tables[0]
	table.Walled, table.Lacks = lacks == "", lacks
	b.catalog.schema = policy.Schema{Tables: []policy.Table{table}}
	b.catalog.mu.Unlock()
	if _, err := b.Refresh(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
}

// TestTheWallIsRequired has it fall and stand while the service runs: nothing is decided
// meanwhile, not even what was decided before.
func TestTheWallIsRequired(t *testing.T) {
	var log bytes.Buffer
	b := newBenchWith(t, policy.Limits{RequestsPerSecond: -1}, func(c *PoliciesConfig) {
		c.RLSRequired, c.Log = true, slog.New(slog.NewTextHandler(&log, nil))
	})
	for _, step := range []struct {
		lacks, logged string
	}{
		{"its policy", `level=ERROR`}, {"its policy", ""}, {"", "level=INFO"}, {"", ""}, {"its key", `lacks="its key"`}, {"its owner", `tables=public.notes`}, {"", "protects every"},
	} {
		log.Reset()
		b.wallOff(t, step.lacks)
		want := map[bool]Code{false: UpstreamUnavailable}[step.lacks == ""]
		for range 2 {
			_, err := b.Check(t.Context(), Subject{}, reads)
			if codeOf(err) != want || err != nil && (AsError(err).RetryAfter == 0 || strings.Contains(AsError(err).Message, "its ")) {
				t.Errorf("%q: %v", step.lacks, err)
			}
		}
		if ready := b.policies.Ready(); (ready == nil) != (step.lacks == "") {
			t.Errorf("%q: ready %v", step.lacks, ready)
		}
		if place, err := b.Admit(t.Context(), Subject{}); err != nil { // the look-up of users goes on
			t.Error(err)
		} else {
			place.Release()
		}
		if said := log.String(); !strings.Contains(said, step.logged) || step.logged == "" && said != "" {
			t.Errorf("%q: logged %q", step.lacks, said)
		}
		if step.lacks != "" && strings.Contains(step.logged, "ERROR") && !strings.Contains(log.String(), "tenantgate doctor") {
			t.Errorf("logged %s", log.String())
		}
		if w, o := b.recorder.tables(); w+o != 1 || (w == 1) != (step.lacks == "") {
			t.Errorf("%q: %d walled, %d open", step.lacks, w, o)
		}
	}
}

// TestTheWallIsNotRequired takes each table as it is, and tells once what it lacks.
func TestTheWallIsNotRequired(t *testing.T) {
	var log bytes.Buffer
	b := newBenchWith(t, policy.Limits{}, func(c *PoliciesConfig) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	if log.Len() > 0 {
		t.Errorf("where nobody asked: %s", log.String())
	}
	b.wallOff(t, "its policy")
	b.wallOff(t, "its policy")
	if said := log.String(); strings.Count(said, "level=WARN") != 1 || !strings.Contains(said, `lacks="its policy"`) {
		t.Errorf("logged %s", said)
	}
	if _, err := b.Check(t.Context(), Subject{}, reads); err != nil || b.policies.Ready() != nil {
		t.Errorf("%v, %v", err, b.policies.Ready())
	}
}

// TestDark has a table that answers as if it were empty: that is no answer, required or not.
func TestDark(t *testing.T) {
	var log bytes.Buffer
	b := newBenchWith(t, policy.Limits{RequestsPerSecond: -1}, func(c *PoliciesConfig) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	b.wallOff(t, "its policy")
	b.catalog.mu.Lock()
	b.catalog.schema.Tables = []policy.Table{b.catalog.schema.Tables[0]}
	b.catalog.schema.Tables[0].Dark = true
	b.catalog.mu.Unlock()
	if _, err := b.Refresh(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Check(t.Context(), Subject{}, reads); codeOf(err) != UpstreamUnavailable || b.policies.Ready() == nil || !strings.Contains(log.String(), "level=ERROR") {
		t.Errorf("%v, %v, logged %s", err, b.policies.Ready(), log.String())
	}
}
