package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenantgate/tenantgate/policy"
)

// Policies holds the policies, compiled against the database's schema, and their plans.
// A request uses one snapshot; a new schema swaps it whole. A table that no longer fits a policy is
// closed under it until it does: what the policy forbade may have another name now.
type Policies struct {
	config  PoliciesConfig
	tables  []policy.TableName
	current atomic.Pointer[snapshot]
	looked  atomic.Int64 // when a refusal last had the schema read, in nanoseconds since 1970

	life    context.Context // of the readings under way; Run ends it
	end     context.CancelFunc
	readers sync.WaitGroup // the goroutines that read
	mu      sync.Mutex     // guards what is below
	reading *reading       // the one under way; nil: none
	last    time.Time      // when the last reading that succeeded began
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
	PlanBytes int // of texts and plans kept for each policy; an eighth of it is for refusals
	// RLSRequired has no statement decided until row-level security stands behind every
	// scoped table of every policy. Without it each table is taken as it is.
	RLSRequired bool
}

type snapshot struct {
	schema   policy.Schema
	made     time.Time
	walled   int         // scoped tables behind which row-level security stands
	open     []openTable // and those behind which it does not
	unwalled error       // not nil: nothing is decided because of them
	found    []found     // what closes tables, and what they tell
	byName   map[string]*compiled

	unmatched []unmatched // what policies accept and no table has
	ungranted []ungranted // tables with columns that the statement role may not read
}

// compiled is a policy with the decisions that it has made.
type compiled struct {
	policy   *policy.Policy // nil where misfit says why
	misfit   error          // what makes the whole policy unusable: none of its tables is the cause
	unwalled *Error         // not nil: nothing is decided until row-level security is as it must be
	limits   policy.Limits
	plans    *plans
}

// LoadPolicies reads the schema and compiles every file, or says which policy can serve nothing.
func LoadPolicies(ctx context.Context, c PoliciesConfig) (*Policies, error) {
	p := &Policies{config: c}
	p.life, p.end = context.WithCancel(context.Background())
	for _, f := range c.Files {
		for _, t := range f.TableNames() {
			if !slices.Contains(p.tables, t) {
				p.tables = append(p.tables, t)
			}
		}
	}
	if err := p.reload(ctx); err != nil {
		return nil, err
	}
	if err := p.current.Load().misfits(); err != nil {
		return nil, err
	}
	if err := p.nothingFits(); err != nil {
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

// misfits are the errors of the policies that can decide nothing.
func (s *snapshot) misfits() error {
	var all []error
	for name, c := range s.byName {
		if c.misfit != nil {
			all = append(all, fmt.Errorf("compiling policy %s: %w", name, c.misfit))
		}
	}
	return errors.Join(all...)
}

// nothingFits is the error of policies none of whose tables fits, which are meant for another database.
func (p *Policies) nothingFits() error {
	var all []error
	for _, f := range p.config.Files {
		c := p.current.Load().byName[f.Name]
		if m := c.policy.Misfits(); len(m) > 0 && len(m) == len(f.Tables) {
			all = append(all, fmt.Errorf("compiling policy %s: no table matches the database: %w", f.Name, m[0].Err))
		}
	}
	return errors.Join(all...)
}

// compile makes the snapshot of a schema, with the plans of the old one that the change does not concern. It fails only
// where no cache can be made.
func (p *Policies) compile(schema policy.Schema, old *snapshot) (*snapshot, error) {
	if old == nil {
		old = &snapshot{}
	}
	changed := schema.Since(old.schema)
	s := &snapshot{schema: schema, byName: map[string]*compiled{}}
	s.walled, s.open = p.walls(schema)
	s.unwalled = p.unwalled(s.open)
	s.unmatched = p.unmatched(schema)
	s.ungranted = p.ungranted(schema)
	for _, f := range p.config.Files {
		plans, err := newPlans(p.config.PlanBytes, func() { p.config.Recorder.PlanCache("eviction") })
		if err != nil {
			return nil, fmt.Errorf("making the plan cache of policy %s: %w", f.Name, err)
		}
		if was := old.byName[f.Name]; was != nil {
			plans.inherit(was.plans, changed)
		}
		c := &compiled{limits: f.Limits.WithDefaults(), plans: plans}
		c.policy, c.misfit = p.fit(f, schema)
		if s.unwalled != nil {
			c.unwalled = unserved("the database does not keep servers apart as it must here; an operator must mend it", s.unwalled)
		}
		s.byName[f.Name] = c
		if c.policy != nil {
			s.found = append(s.found, closedMisfits(f, c.policy)...)
		}
	}
	s.found = append(s.found, p.found(schema)...)
	return s, nil
}

// fit compiles one file; a panic of the engine is one more way not to fit.
func (p *Policies) fit(f *policy.File, schema policy.Schema) (fitting *policy.Policy, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			fitting, err = nil, Recovered(cause)
		}
	}()
	return policy.CompileServed(f, schema, p.config.Sets)
}

// of gives the policy of a subject: the closest assignment wins, from the token over
// the server and its project to the front end. It is UpstreamUnavailable where that is
// not loaded: another one might permit what this one would not.
func (p *Policies) of(s Subject) (*compiled, *Error) {
	name := p.name(s)
	if name == "" {
		return nil, AsError(fmt.Errorf("no policy is assigned to server %s", s.Server.ID))
	}
	if c := p.current.Load().byName[name]; c != nil {
		return c, nil
	}
	return nil, &Error{Code: UpstreamUnavailable, RetryAfter: unservedPause, // no use to repeat it: an operator must act
		Message: "the policy that is assigned here is not loaded; an operator must assign another one or load it",
		Cause:   fmt.Errorf("policy %q is assigned to server %s, its project or the token, but not loaded", name, s.Server.ID)}
}

// name gives the name of the policy that is assigned to a subject; "" for none.
func (p *Policies) name(s Subject) string {
	return cmp.Or(s.Caller.Policy, s.Server.Policy, p.config.Frontends[s.Frontend], p.config.Default)
}

// unserved is for subjects whose policy can decide nothing as the database is now.
func unserved(message string, cause error) *Error {
	return &Error{Code: UpstreamUnavailable, Message: message, Retryable: true, RetryAfter: unservedPause, Cause: cause}
}

// unservedPause is what those are told to wait: somebody has to mend something first.
const unservedPause = 5 * time.Second

// Loaded gives the name and the SHA-256 of each policy's file.
func (p *Policies) Loaded() map[string]string {
	out := map[string]string{}
	for _, f := range p.config.Files {
		out[f.Name] = f.SHA256
	}
	return out
}
