package wire

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// placing is a gate with the places of a real one: one for each server.
type placing struct {
	*deciding
	real *proxy.Gate
}

func (g *placing) Admit(ctx context.Context, s proxy.Subject) (proxy.Place, error) {
	return g.real.Admit(ctx, s) //nolint:wrapcheck // it is the gate's
}

type bundled struct{}

func (bundled) Adopted() {}

func (bundled) Schema(context.Context, []policy.TableName) (schema policy.Schema, err error) {
	return schema, json.Unmarshal(policies.BundledSchema(), &schema)
}

type gateSilence struct{ silent }

func (gateSilence) PlanCache(string)                     {}
func (gateSilence) SchemaRefresh(string)                 {}
func (gateSilence) ScopedTables(int, int)                {}
func (gateSilence) FoundTables(_, _ map[string][]string) {}
func (gateSilence) Short(string, string)                 {}
func (gateSilence) Stage(string, float64)                {}

// withPlaces gives sessions a gate that has one place for each server.
func withPlaces(t *testing.T, d *deciding) *placing {
	t.Helper()
	src, _ := policies.Named("inject")
	file, err := policy.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := proxy.LoadPolicies(t.Context(), proxy.PoliciesConfig{
		Files: []*policy.File{file}, Default: file.Name, Catalog: bundled{}, Recorder: gateSilence{}, Log: slog.New(slog.DiscardHandler), PlanBytes: 1 << 20,
		Sets: policy.Sets{Functions: policies.Sets(), Types: policies.Types(), Operators: policies.Operators(), Leakproof: policies.Leakproof()},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &placing{d, proxy.NewGate(proxy.GateConfig{Policies: loaded, Recorder: gateSilence{}, Override: policy.Limits{MaxConcurrent: 1}})}
}

// Ensure a client that leaves within a transaction gives its place back, even where its link panics.
func TestLeavingGivesThePlaceBack(t *testing.T) {
	for name, link := range map[string]Link{"leaves": &rounds{}, "panics": &breaking{}} {
		s, _ := replayed(t, link, encoded(query("BEGIN"), query(all)), 1)
		g := withPlaces(t, s.gate.(*deciding))
		s.gate = g
		if err := guarded(func() error { return s.run(t.Context()) }); name == "leaves" && !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", name, err)
		}
		if !s.placed {
			t.Errorf("%s: it never had a place", name)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		place, err := g.Admit(ctx, s.subject)
		if err != nil {
			t.Errorf("%s: the next one has no place: %v", name, err)
		}
		place.Release()
	}
}
