package proxy

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/tenantgate/tenantgate/policy"
)

// undefinedColumn is the SQLSTATE of a column that the schema, as it was read last, does not have.
const undefinedColumn = "42703"

// Gate is the one door to the database: it tells who calls, what they reach, whether
// there is room for them, and whether their statement may run.
type Gate struct {
	directory Directory
	policies  *Policies
	limiter   *limiter
	recorder  Recorder
	log       *slog.Logger
	parsing   chan struct{} // places for decisions that are being made: C code on threads of its own
}

// GateConfig is what a Gate is made of; every field must be set.
type GateConfig struct {
	Directory Directory
	Policies  *Policies
	Recorder  Recorder
	Log       *slog.Logger
	// Override replaces, where a field is not zero, the policies' own limits on
	// requests and places; negative is no limit.
	Override policy.Limits
}

// NewGate makes a Gate.
func NewGate(c GateConfig) *Gate {
	return &Gate{
		directory: c.Directory, policies: c.Policies, recorder: c.Recorder, log: c.Log,
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

// Admit takes one request out of the budget that the subject's policy gives its server,
// and waits for a place among its running ones. The place must be released; its Rate is
// set even where the error is not nil.
func (g *Gate) Admit(ctx context.Context, s Subject) (Place, error) {
	c, err := g.policies.of(s)
	if err != nil {
		return Place{}, err
	}
	return g.limiter.admit(ctx, s.Server.ID, c.policy.Limits())
}

// Check decides whether a text may run for the subject. The error is an *Error; a
// statement that could not be decided for whatever reason is refused.
func (g *Gate) Check(ctx context.Context, s Subject, text string) (*policy.Approved, error) {
	start := time.Now()
	defer func() { g.recorder.Stage("policy", time.Since(start).Seconds()) }()
	var decision policy.Decision
	c, err := g.policies.of(s)
	if err == nil {
		decision, err = g.decide(ctx, c, text)
	}
	if err == nil && decision.Reason.SQLState == undefinedColumn && g.policies.refreshIfOld(ctx) {
		if c, err = g.policies.of(s); err == nil {
			decision, err = g.decide(ctx, c, text)
		}
	}
	if err == nil && (decision.Verdict != policy.Allow || decision.Approved == nil) {
		err = FromReason(decision.Reason)
	}
	if err != nil {
		e := AsError(err)
		if e.Code == policy.Internal {
			e = unproved(e)
		}
		g.recorder.Rejected(string(e.Code), s.Frontend)
		return nil, e
	}
	return decision.Approved, nil
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
	select {
	case g.parsing <- struct{}{}:
	case <-ctx.Done():
		return policy.Decision{}, &Error{Code: Overloaded, Message: "too many statements are being checked; try again", RetryAfter: time.Second, Retryable: true}
	}
	defer func() {
		<-g.parsing
		if p := recover(); p != nil {
			d, err = policy.Decision{}, fmt.Errorf("deciding: panic: %v\n%s", p, debug.Stack())
		}
	}()
	d = c.policy.Decide(text)
	if d.Reason.Code != policy.Internal && d.Reason.Code != policy.QueryTooLong {
		c.plans.Set(text, d)
	}
	return d, nil
}

// Rejected counts a refusal that was made after Check: of arguments or scopes.
func (g *Gate) Rejected(code Code, frontend string) { g.recorder.Rejected(string(code), frontend) }

// Refresh reads the schema again and recompiles the policies if it changed.
func (g *Gate) Refresh(ctx context.Context) error { return g.policies.Refresh(ctx) }
