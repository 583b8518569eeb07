package proxy

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
	"github.com/tenantgate/tenantgate/policy"
)

// schemaPeriod is how often the schema is looked at for changes that no statement has
// stumbled over.
const schemaPeriod = time.Second

// refusalPeriod is how often refused statements may have it looked at.
const refusalPeriod = 100 * time.Millisecond

// Policies holds the policies, compiled against the database's schema, and their plans.
// A request uses one snapshot; a new schema swaps it whole or leaves the old one.
type Policies struct {
	config  PoliciesConfig
	tables  []policy.TableName
	current atomic.Pointer[snapshot]
	refresh sync.Mutex
	looked  atomic.Int64 // when a refusal last had the schema read, in nanoseconds since 1970
}

// PoliciesConfig is what Policies are made of.
type PoliciesConfig struct {
	Files     []*policy.File // no name twice
	Default   string         // the policy of a subject that has none assigned
	Frontends map[string]string
	Sets      policy.Sets
	Catalog   Catalog
	Recorder  Recorder
	Log       *slog.Logger
	PlanBytes int // of texts and plans kept for each policy
}

type snapshot struct {
	schema policy.Schema
	byName map[string]*compiled
}

// compiled is a policy with the decisions that it has made, bounded by their weight.
type compiled struct {
	policy *policy.Policy
	plans  *otter.Cache[string, policy.Decision]
}

// LoadPolicies reads the schema and compiles every file, or says which does not fit.
func LoadPolicies(ctx context.Context, c PoliciesConfig) (*Policies, error) {
	p := &Policies{config: c}
	for _, f := range c.Files {
		for _, t := range f.TableNames() {
			if !slices.Contains(p.tables, t) {
				p.tables = append(p.tables, t)
			}
		}
	}
	if err := p.Refresh(ctx); err != nil {
		return nil, err
	}
	for _, name := range append([]string{c.Default}, mapValues(c.Frontends)...) {
		if p.current.Load().byName[name] == nil {
			return nil, fmt.Errorf("there is no policy named %q", name)
		}
	}
	return p, nil
}

func mapValues(m map[string]string) []string {
	var out []string
	for _, v := range m {
		out = append(out, v)
	}
	return out
}

// Refresh reads the schema and, if it changed, compiles the policies anew. On an error
// the policies stay as they were.
func (p *Policies) Refresh(ctx context.Context) error {
	p.refresh.Lock()
	defer p.refresh.Unlock()
	return p.reload(ctx)
}

// reload is Refresh for who holds the lock.
func (p *Policies) reload(ctx context.Context) error {
	schema, err := p.config.Catalog.Schema(ctx, p.tables)
	if err != nil {
		p.config.Recorder.SchemaRefresh("failed")
		return fmt.Errorf("reading the schema: %w", err)
	}
	if old := p.current.Load(); old != nil && reflect.DeepEqual(old.schema, schema) {
		p.config.Recorder.SchemaRefresh("unchanged")
		return nil
	}
	next, err := p.compile(schema)
	if err != nil {
		p.config.Recorder.SchemaRefresh("failed")
		return err
	}
	p.current.Store(next)
	p.config.Recorder.SchemaRefresh("changed")
	return nil
}

// refreshIfOld reads the schema since a statement names a column that it does not have:
// one may just have been added. It tells whether it did; a flood of such statements
// does not make it read more often than every refusalPeriod.
func (p *Policies) refreshIfOld(ctx context.Context) bool {
	now, last := time.Now().UnixNano(), p.looked.Load()
	if now-last < int64(refusalPeriod) || !p.looked.CompareAndSwap(last, now) || !p.refresh.TryLock() {
		return false
	}
	defer p.refresh.Unlock()
	ctx, cancel := context.WithTimeout(ctx, schemaPeriod)
	defer cancel()
	return p.reload(ctx) == nil
}

func (p *Policies) compile(schema policy.Schema) (*snapshot, error) {
	s := &snapshot{schema: schema, byName: map[string]*compiled{}}
	for _, f := range p.config.Files {
		c, err := policy.Compile(f, schema, p.config.Sets)
		if err != nil {
			return nil, fmt.Errorf("compiling policy %s: %w", f.Name, err)
		}
		plans, err := p.newPlans()
		if err != nil {
			return nil, fmt.Errorf("making the plan cache of policy %s: %w", f.Name, err)
		}
		s.byName[f.Name] = &compiled{policy: c, plans: plans}
	}
	return s, nil
}

func (p *Policies) newPlans() (*otter.Cache[string, policy.Decision], error) {
	return otter.New(&otter.Options[string, policy.Decision]{
		MaximumWeight: uint64(max(p.config.PlanBytes, 1<<20)),
		Weigher:       func(text string, d policy.Decision) uint32 { return uint32(len(text) + d.Size()) }, //nolint:gosec // small
		OnDeletion: func(e otter.DeletionEvent[string, policy.Decision]) {
			if e.WasEvicted() {
				p.config.Recorder.PlanCache("eviction")
			}
		},
	})
}

// of gives the policy of a subject: the closest assignment wins, from the token over
// the server and its project to the front end.
func (p *Policies) of(s Subject) (*compiled, error) {
	names := [...]string{s.Caller.Policy, s.Server.Policy, p.config.Frontends[s.Frontend], p.config.Default}
	for _, name := range names {
		if name == "" {
			continue
		}
		if c := p.current.Load().byName[name]; c != nil {
			return c, nil
		}
		return nil, AsError(fmt.Errorf("policy %q is assigned to server %s but not loaded", name, s.Server.ID))
	}
	return nil, AsError(fmt.Errorf("no policy is assigned to server %s", s.Server.ID))
}

// Loaded gives the name and the SHA-256 of each policy's file.
func (p *Policies) Loaded() map[string]string {
	out := map[string]string{}
	for _, f := range p.config.Files {
		out[f.Name] = f.SHA256
	}
	return out
}

// Run looks at the schema every second until ctx is done. An unchanged schema costs
// one small query.
func (p *Policies) Run(ctx context.Context) error {
	tick := time.NewTicker(schemaPeriod)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		attempt, cancel := context.WithTimeout(ctx, 5*schemaPeriod)
		err := p.Refresh(attempt)
		cancel()
		if err != nil && !failing && ctx.Err() == nil {
			p.config.Log.Warn("the schema could not be refreshed; the one before stays in force", "error", err)
		}
		failing = err != nil
	}
}
