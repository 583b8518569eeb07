package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/tenantgate/tenantgate/metrics"
	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// The stages of a request that are the gate's, with the default policy and with metrics.

// bundled is the database of the bundled schema.
type bundled struct{}

func (bundled) Adopted() {}

func (bundled) Schema(context.Context, []policy.TableName) (schema policy.Schema, err error) {
	err = json.Unmarshal(policies.BundledSchema(), &schema)
	return schema, err
}

// unmeasured is the recorder of who switches the metrics off.
type unmeasured struct{}

func (unmeasured) PlanCache(string)                     {}
func (unmeasured) Stage(string, float64)                {}
func (unmeasured) SchemaRefresh(string)                 {}
func (unmeasured) ScopedTables(_, _ int)                {}
func (unmeasured) Short(_, _ string)                    {}
func (unmeasured) FoundTables(_, _ map[string][]string) {}

func newGate(b *testing.B, recorder proxy.Recorder) *proxy.Gate {
	b.Helper()
	src, _ := policies.Named("default")
	file, err := policy.Parse(src)
	if err != nil {
		b.Fatal(err)
	}
	loaded, err := proxy.LoadPolicies(b.Context(), proxy.PoliciesConfig{
		Files: []*policy.File{file}, Default: file.Name, Catalog: bundled{}, Recorder: recorder, Log: slog.New(slog.DiscardHandler), PlanBytes: 64 << 20,
		Sets: policy.Sets{Functions: policies.Sets(), Types: policies.Types(), Operators: policies.Operators(), Leakproof: policies.Leakproof()},
	})
	if err != nil {
		b.Fatal(err)
	}
	return proxy.NewGate(proxy.GateConfig{Policies: loaded, Recorder: recorder, Override: policy.Limits{RequestsPerSecond: 1 << 30}})
}

var (
	subject  = proxy.Subject{Frontend: "rest", Server: proxy.Server{ID: "0190b2a7-6f6e-7c3d-9b1a-3c5d7e9f1a2b", ProjectID: "p"}}
	measured = metrics.Known{Stages: []string{"auth", "policy", "pool_wait", "upstream", "encode"}}
)

const point = "SELECT id, content FROM messages WHERE id = ? AND server_id = ?"

func BenchmarkDecideWarm(b *testing.B) {
	for name, recorder := range map[string]proxy.Recorder{"metrics": metrics.New(metrics.Build{}, measured), "bare": unmeasured{}} {
		gate := newGate(b, recorder)
		for verdict, text := range map[string]string{"allow": point, "deny": "DROP TABLE messages"} {
			b.Run(name+"/"+verdict, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if approved, _ := gate.Check(b.Context(), subject, text); (approved == nil) != (verdict == "deny") {
						b.Fatal("another verdict")
					}
				}
			})
		}
	}
}

func BenchmarkAdmit(b *testing.B) {
	gate := newGate(b, unmeasured{})
	b.ReportAllocs()
	for b.Loop() {
		place, err := gate.Admit(b.Context(), subject)
		if err != nil {
			b.Fatal(err)
		}
		place.Release()
	}
}

// BenchmarkTexts asks for each of many texts in turn: what a warm decision costs must not
// grow with their number, and all must be warm.
func BenchmarkTexts(b *testing.B) {
	for _, n := range []int{10, 100, 1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			counted := &counter{}
			gate := newGate(b, counted)
			texts := make([]string, n)
			for i := range texts {
				texts[i] = fmt.Sprintf("SELECT id, content FROM messages WHERE role = 'r%d' AND server_id = ?", i)
				if _, err := gate.Check(b.Context(), subject, texts[i]); err != nil {
					b.Fatal(err)
				}
			}
			*counted = counter{}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				_, _ = gate.Check(b.Context(), subject, texts[i%n])
				i++
			}
			b.ReportMetric(100*float64(counted.hits)/float64(i), "%hits")
		})
	}
}

// counter counts the hits.
type counter struct {
	unmeasured
	hits int
}

func (c *counter) PlanCache(event string) {
	if event == "hit" {
		c.hits++
	}
}
