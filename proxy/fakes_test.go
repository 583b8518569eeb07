package proxy

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

// fakeCatalog is a database whose schema can be changed, and which can be away.
type fakeCatalog struct {
	mu     sync.Mutex
	schema policy.Schema
	err    error
	reads  int
	until  <-chan struct{} // readings wait for it; nil: they don't

	adopted int
}

func (c *fakeCatalog) Adopted() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.adopted++
}

func (c *fakeCatalog) Schema(ctx context.Context, _ []policy.TableName) (policy.Schema, error) {
	c.mu.Lock()
	c.reads++
	until := c.until
	c.mu.Unlock()
	if until != nil {
		select {
		case <-until:
		case <-ctx.Done():
			return policy.Schema{}, ctx.Err()
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.schema, c.err
}

func (c *fakeCatalog) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

func (c *fakeCatalog) wait(until <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = until
}

func (c *fakeCatalog) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reads
}

func (c *fakeCatalog) set(columns ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := policy.Table{Schema: "public", Name: "notes", OID: 7}
	for _, name := range columns {
		t.Columns = append(t.Columns, policy.Column{Name: name, TypeSchema: "pg_catalog", TypeName: "text"})
	}
	c.schema = policy.Schema{Tables: []policy.Table{t}}
}

// fakeRecorder counts events by name.
type fakeRecorder struct {
	mu     sync.Mutex
	counts map[string]int

	walled, open int    // scoped tables as they were told last
	found        string // how many tables are closed, and tell
}

func (r *fakeRecorder) count(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counts == nil {
		r.counts = map[string]int{}
	}
	r.counts[name]++
}

func (r *fakeRecorder) of(name string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts[name]
}

func (r *fakeRecorder) PlanCache(event string)        { r.count("plan " + event) }
func (r *fakeRecorder) Stage(stage string, _ float64) { r.count("stage " + stage) }
func (r *fakeRecorder) Short(what, whose string)      { r.count("short of " + what + ": " + whose) }
func (r *fakeRecorder) SchemaRefresh(result string)   { r.count("refresh " + result) }

func (r *fakeRecorder) ScopedTables(walled, open int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.walled, r.open = walled, open
}

func (r *fakeRecorder) FoundTables(closed, telling map[string][]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found = fmt.Sprint(closed, telling)
}

func (r *fakeRecorder) tables() (walled, open int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.walled, r.open
}

// fakeDirectory knows one server.
type fakeDirectory struct{ server Server }

func (d fakeDirectory) Developer(context.Context, Account, string) (Caller, error) {
	return Caller{}, Refuse(Unauthorized, "no")
}
func (d fakeDirectory) Application(context.Context, Account, string, string) (Server, error) {
	return Server{}, Refuse(Unauthorized, "no")
}
func (d fakeDirectory) Verifier(_ context.Context, _ Account, serverID string) (Verifier, error) {
	if serverID != d.server.ID {
		return Verifier{Salt: []byte("salt")}, nil
	}
	return Verifier{Salt: []byte("salt"), Keys: []VerifierKey{{ID: KeyID{1}}}}, nil
}
func (d fakeDirectory) Recheck(_ context.Context, serverID string, key KeyID) (Session, error) {
	if serverID != d.server.ID || key != (KeyID{1}) {
		return Session{}, Refuse(Unauthorized, "no")
	}
	return Session{Server: d.server}, nil
}
func (d fakeDirectory) Server(_ context.Context, _ Account, projectID, serverID string) (Server, error) {
	if projectID != d.server.ProjectID || serverID != d.server.ID {
		return Server{}, Unreached()
	}
	return d.server, nil
}
func (d fakeDirectory) Project(_ context.Context, _ Account, projectID string) error {
	if projectID != d.server.ProjectID {
		return Unreached()
	}
	return nil
}

const notes = `
apiVersion: tenantgate/v1
kind: Policy
metadata: {name: %NAME%}
mode: enforce
statement: {kinds: [%KINDS%]}
tables: {notes: {scoped: true}}
functions: {allow: []}
limits: {requestsPerSecond: 2, burst: 2, maxConcurrent: 1, maxWait: 30ms}
`

func notesPolicy(t *testing.T, name, kinds string) *policy.File {
	t.Helper()
	src := strings.NewReplacer("%NAME%", name, "%KINDS%", kinds).Replace(notes)
	f, err := policy.Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// bench is a gate on fakes, with the policies writer (the default) and reader.
type bench struct {
	*Gate
	catalog  *fakeCatalog
	recorder *fakeRecorder
	policies *Policies
}

func newBench(t *testing.T, override policy.Limits) *bench {
	t.Helper()
	return newBenchWith(t, override, func(*PoliciesConfig) {})
}

func newBenchWith(t *testing.T, override policy.Limits, change func(*PoliciesConfig)) *bench {
	t.Helper()
	b := &bench{catalog: &fakeCatalog{}, recorder: &fakeRecorder{}}
	b.catalog.set("id", "server_id", "body")
	config := PoliciesConfig{
		Sets:  policy.Sets{Operators: []string{"=", "+"}},
		Files: []*policy.File{notesPolicy(t, "writer", "select, insert"), notesPolicy(t, "reader", "select")}, Default: "writer",
		Catalog: b.catalog, Recorder: b.recorder, Log: slog.New(slog.DiscardHandler),
	}
	change(&config)
	var err error
	b.policies, err = LoadPolicies(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	b.Gate = NewGate(GateConfig{
		Directory: fakeDirectory{Server{ID: "s", ProjectID: "p"}}, Policies: b.policies, Recorder: b.recorder,
		Override: override,
	})
	return b
}
