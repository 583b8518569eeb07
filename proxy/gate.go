package proxy

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/tenantgate/tenantgate/policy"
)

// undefinedColumn is the SQLSTATE of a column that the schema, as it was read last, does not have.
const undefinedColumn = "42703"

// parsingWait is how long a statement waits for a place to be parsed in.
const parsingWait = time.Second

// Gate is the one door to the database: it tells who calls, what they reach, whether
// there is room for them, and whether their statement may run.
type Gate struct {
	directory Directory
	policies  *Policies
	limiter   *limiter
	recorder  Recorder
	parsing   *Turns // places for decisions that are being made
	work      *Work
}

// GateConfig is what a Gate is made of; every field must be set.
type GateConfig struct {
	Directory Directory
	Policies  *Policies
	Recorder  Recorder
	// Override replaces, where a field is not zero, the policies' own limits on
	// requests and places; negative is no limit. The burst is then twice the requests.
	Override policy.Limits
	// Parsing are the places in which texts are checked; nil for ParsingPlaces of the gate's own.
	Parsing *Turns
	// ProjectBudget is how many servers' requests all servers of one project may send
	// together; 0: DefaultProjectBudget, negative: no limit.
	ProjectBudget int
	// Work counts the texts that are checked, together with the statements that run; it may be nil.
	Work *Work
}

// DefaultProjectBudget is GateConfig.ProjectBudget where that is 0.
const DefaultProjectBudget = 25

// NewGate makes a Gate.
func NewGate(c GateConfig) *Gate {
	if c.Parsing == nil {
		c.Parsing = ParsingPlaces(DefaultProjectShare)
	}
	return &Gate{
		directory: c.Directory, policies: c.Policies, recorder: c.Recorder,
		limiter: newLimiter(c.Override, c.ProjectBudget), parsing: c.Parsing, work: c.Work,
	}
}

// ParsingPlaces are for whoever parses a text: one fewer than there are processors. It takes a
// processor to itself until it is done, in C code that the Go runtime can't interrupt, so the last one is left to
// requests whose texts are known. projectShare is as NewTurns has it.
func ParsingPlaces(projectShare int) *Turns {
	return NewTurns(max(1, runtime.GOMAXPROCS(0)-1), projectShare)
}

// Developer gives the caller behind an access token. Here and below, asker is as Directory has it.
func (g *Gate) Developer(ctx context.Context, asker Account, token string) (Caller, error) {
	return g.directory.Developer(ctx, asker, token)
}

// Application gives the server behind an API key.
func (g *Gate) Application(ctx context.Context, asker Account, serverID, apiKey string) (Server, error) {
	return g.directory.Application(ctx, asker, serverID, apiKey)
}

// Verifier gives what a password for the server is checked against.
func (g *Gate) Verifier(ctx context.Context, asker Account, serverID string) (Verifier, error) {
	return g.directory.Verifier(ctx, asker, serverID)
}

// Recheck gives the server as it is now to a client that has proved to hold one of its keys.
func (g *Gate) Recheck(ctx context.Context, serverID string, key KeyID) (Session, error) {
	return g.directory.Recheck(ctx, serverID, key)
}

// Project tells whether the caller reaches an existing project. One that is out of
// reach looks exactly like one that does not exist. Here and in Server, what is not in memory
// is looked up in the caller's turn: who may name what he likes is to leave turns to others.
func (g *Gate) Project(ctx context.Context, caller Caller, projectID string) error {
	if !caller.Reaches(projectID) {
		return Unreached()
	}
	return g.directory.Project(ctx, caller.Account(), projectID)
}

// Server gives a server that the caller reaches; NotFound otherwise, as Project.
func (g *Gate) Server(ctx context.Context, caller Caller, projectID, serverID string) (Server, error) {
	if !caller.Reaches(projectID) {
		return Server{}, Unreached()
	}
	return g.directory.Server(ctx, caller.Account(), projectID, serverID)
}

// Admit takes one request out of the server's budget, by the limits of the subject's
// policy, and waits for a place among its running ones. The place must be released; its
// Rate is set even where the error is not nil.
func (g *Gate) Admit(ctx context.Context, s Subject) (Place, error) {
	c, refusal := g.policies.of(s)
	if refusal != nil {
		return Place{}, refusal
	}
	place, err := g.limiter.admit(ctx, s.Server.Account(), c.limits)
	if errors.Is(err, ErrNoTurn) { // else the service shuts down
		g.recorder.Short("requests", Whose(err))
	}
	return place, err
}

// Pace takes one request out of the server's budget as Admit does, for who has a place
// already. It never waits.
func (g *Gate) Pace(s Subject) error {
	c, refusal := g.policies.of(s)
	if refusal != nil {
		return refusal
	}
	if err := g.limiter.pace(s.Server.Account(), c.limits); err != nil {
		g.recorder.Short("requests", Whose(err))
		return err
	}
	return nil
}

// MaxArgs is how many arguments the subject's policy lets a statement have, at least one. Where there is no policy Admit says so.
func (g *Gate) MaxArgs(s Subject) int {
	c, refusal := g.policies.of(s)
	if refusal != nil {
		return 1
	}
	return c.limits.MaxArgs
}

// PolicyName is the name of the subject's policy, for the log; "" where none is assigned.
func (g *Gate) PolicyName(s Subject) string { return g.policies.name(s) }

// Check decides whether a text of the subject's dialect may run for it. The error is an *Error, which is
// shared and must not be changed; a statement that could not be decided for whatever
// reason is refused. The text is not kept: it may be a view of a buffer.
func (g *Gate) Check(ctx context.Context, s Subject, text string) (*policy.Approved, error) {
	start := time.Now()
	approved, refusal := g.decideFor(ctx, s, text)
	if refusal != nil && refusal.SQLState == undefinedColumn && g.policies.refreshIfOld(ctx, start) {
		approved, refusal = g.decideFor(ctx, s, text)
	}
	g.recorder.Stage("policy", time.Since(start).Seconds())
	switch {
	case refusal == nil:
		return approved, nil
	case refusal.Code == policy.Internal:
		return nil, unproved(refusal)
	}
	return nil, refusal
}

// decideFor decides by the subject's policy, if that fits the database as it is and the
// database is as it must be.
func (g *Gate) decideFor(ctx context.Context, s Subject, text string) (*policy.Approved, *Error) {
	c, refusal := g.policies.of(s)
	switch {
	case refusal != nil:
		return nil, refusal
	case c.misfit != nil:
		return nil, unserved("the policy does not fit the database; an operator must mend one of them", c.misfit)
	case c.unwalled != nil:
		return nil, c.unwalled
	}
	return g.decide(ctx, c, s, text)
}

// unproved keeps what the engine says about itself for the log: it is not the caller's.
func unproved(e *Error) *Error {
	hidden := AsError(fmt.Errorf("deciding: %w", e.Cause))
	if e.Cause == nil {
		hidden.Cause = fmt.Errorf("deciding: %s", e.Message)
	}
	return hidden
}

// decide looks the text up among the plans, or makes a decision and keeps it.
func (g *Gate) decide(ctx context.Context, c *compiled, s Subject, text string) (*policy.Approved, *Error) {
	if len(s.Types) > c.limits.MaxArgs { // before they cost anything
		return nil, Refuse(policy.ArgumentCount, fmt.Sprintf("types of %d parameters are given; at most %d are allowed", len(s.Types), c.limits.MaxArgs))
	}
	key := planKey{dialect: s.Dialect, types: s.Types.Key(), text: text}
	approved, refusal := c.plans.get(key)
	known := approved != nil || refusal != nil
	if known {
		g.recorder.PlanCache("hit")
	} else {
		g.recorder.PlanCache("miss")
	}
	var in entered
	if !controlsTransaction(text) {
		var full *Error
		if in, full = g.acquirePlace(ctx, s, approved != nil); full != nil {
			return nil, full
		}
	}
	if known {
		g.releasePlace(in, false)
		return approved, refusal
	}
	key.text = strings.Clone(text)
	approved, refusal = g.judge(c, key, s, in)
	if refusal == nil || refusal.Code != policy.Internal && refusal.Code != policy.QueryTooLong {
		c.plans.keep(key, approved, refusal)
	}
	return approved, refusal
}

// judge makes a decision, and gives its place back. This is the one place where a panic of
// the engine ends: it denies, as does whatever does not plainly allow.
func (g *Gate) judge(c *compiled, key planKey, s Subject, in entered) (approved *policy.Approved, refusal *Error) {
	defer func() {
		g.releasePlace(in, true)
		if cause := recover(); cause != nil {
			approved, refusal = nil, AsError(fmt.Errorf("deciding: %w", Recovered(cause)))
		}
	}()
	d := c.policy.Decide(key.text, key.dialect, s.Types...)
	if d.Verdict != policy.Allow || d.Approved == nil {
		return nil, FromRefusal(d.Refusal)
	}
	return d.Approved, nil
}

// Refresh makes sure that the schema was read after since, and tells whether the policies
// are others than then. It is for a statement that ErrSchemaChanged turned back: since is
// before its Check, and it is worth another one only if something changed.
func (g *Gate) Refresh(ctx context.Context, since time.Time) (changed bool, err error) {
	return g.policies.Refresh(ctx, since)
}
