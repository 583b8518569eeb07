package proxy

import (
	"context"
	"fmt"
	"runtime"
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
	parsing   chan struct{} // places for decisions that are being made: C code on threads of its own
}

// GateConfig is what a Gate is made of; every field must be set.
type GateConfig struct {
	Directory Directory
	Policies  *Policies
	Recorder  Recorder
	// Override replaces, where a field is not zero, the policies' own limits on
	// requests and places; negative is no limit. The burst is then twice the requests.
	Override policy.Limits
}

// NewGate makes a Gate.
func NewGate(c GateConfig) *Gate {
	return &Gate{
		directory: c.Directory, policies: c.Policies, recorder: c.Recorder,
		limiter: newLimiter(c.Override), parsing: make(chan struct{}, 2*runtime.GOMAXPROCS(0)),
	}
}

// Developer gives the caller behind an access token.
func (g *Gate) Developer(ctx context.Context, token string) (Caller, error) {
	return g.directory.Developer(ctx, token)
}

// Application gives the server behind an API key.
func (g *Gate) Application(ctx context.Context, serverID, apiKey string) (Server, error) {
	return g.directory.Application(ctx, serverID, apiKey)
}

// Project tells whether the caller reaches an existing project. One that is out of
// reach looks exactly like one that does not exist.
func (g *Gate) Project(ctx context.Context, caller Caller, projectID string) error {
	if !caller.Reaches(projectID) {
		return Unreached()
	}
	return g.directory.Project(ctx, projectID)
}

// Server gives a server that the caller reaches; NotFound otherwise, as Project.
func (g *Gate) Server(ctx context.Context, caller Caller, projectID, serverID string) (Server, error) {
	if !caller.Reaches(projectID) {
		return Server{}, Unreached()
	}
	return g.directory.Server(ctx, projectID, serverID)
}

// Admit takes one request out of the server's budget, by the limits of the subject's
// policy, and waits for a place among its running ones. The place must be released; its
// Rate is set even where the error is not nil.
func (g *Gate) Admit(ctx context.Context, s Subject) (Place, error) {
	c, err := g.policies.of(s)
	if err != nil {
		return Place{}, err
	}
	return g.limiter.admit(ctx, s.Server.ID, c.limits)
}

// Check decides whether a text may run for the subject. The error is an *Error; a
// statement that could not be decided for whatever reason is refused.
func (g *Gate) Check(ctx context.Context, s Subject, text string) (*policy.Approved, error) {
	start := time.Now()
	defer func() { g.recorder.Stage("policy", time.Since(start).Seconds()) }()
	decision, err := g.decideFor(ctx, s, text)
	if err == nil && decision.Reason.SQLState == undefinedColumn && g.policies.refreshIfOld(ctx, start) {
		decision, err = g.decideFor(ctx, s, text)
	}
	if err == nil && (decision.Verdict != policy.Allow || decision.Approved == nil) {
		err = FromReason(decision.Reason)
	}
	if err == nil {
		return decision.Approved, nil
	}
	e := AsError(err)
	if e.Code == policy.Internal {
		e = unproved(e)
	}
	return nil, e
}

// decideFor decides by the subject's policy, if that fits the database as it is and the
// database is as it must be.
func (g *Gate) decideFor(ctx context.Context, s Subject, text string) (policy.Decision, error) {
	c, err := g.policies.of(s)
	if err != nil {
		return policy.Decision{}, err
	}
	if c.misfit != nil {
		return policy.Decision{}, unserved("the policy does not fit the database's tables; an operator must mend one of them", c.misfit)
	}
	if c.breach != nil {
		return policy.Decision{}, c.breach
	}
	return g.decide(ctx, c, text)
}

// unproved keeps what the engine says about itself for the log: it is not the caller's.
func unproved(e *Error) *Error {
	hidden := AsError(fmt.Errorf("deciding: %w", e.Cause))
	if e.Cause == nil {
		hidden.Cause = fmt.Errorf("deciding: %s", e.Message)
	}
	return hidden
}

// decide looks the text up among the plans, or makes a decision and keeps it. This is
// the one place where a panic of the engine ends: it denies.
func (g *Gate) decide(ctx context.Context, c *compiled, text string) (d policy.Decision, err error) {
	if d, ok := c.plans.GetIfPresent(text); ok {
		g.recorder.PlanCache("hit")
		return d, nil
	}
	g.recorder.PlanCache("miss")
	if err := g.enterParsing(ctx); err != nil {
		return policy.Decision{}, err
	}
	defer func() {
		<-g.parsing
		if cause := recover(); cause != nil {
			d, err = policy.Decision{}, fmt.Errorf("deciding: %w", Recovered(cause))
		}
	}()
	d = c.policy.Decide(text)
	if d.Reason.Code != policy.Internal && d.Reason.Code != policy.QueryTooLong {
		c.plans.Set(text, d)
	}
	return d, nil
}

// enterParsing takes a place for a decision to be made in.
func (g *Gate) enterParsing(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, parsingWait)
	defer cancel()
	select {
	case g.parsing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return &Error{Code: Overloaded, Message: "too many statements are being checked; try again", RetryAfter: time.Second, Retryable: true, Cause: ctx.Err()}
	}
}

// Refresh makes sure that the schema was read after since, and tells whether the policies
// are others than then. It is for a statement that ErrSchemaChanged turned back: since is
// before its Check, and it is worth another one only if something changed.
func (g *Gate) Refresh(ctx context.Context, since time.Time) (changed bool, err error) {
	return g.policies.Refresh(ctx, since)
}
