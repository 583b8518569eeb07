package policy

import (
	"math"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// Unlimited is what `none` in a policy file becomes in Limits.
const Unlimited = -1

// What a file may set at most. The statement's bounds keep the parser within what it is
// known to survive; the others keep a typing mistake from being a limit of no effect.
const (
	maxStatementBytes = 10_240
	maxStatementNodes = 100_000
	maxStatementDepth = 400
	maxArgs           = 65_535 // the protocol counts parameters in 16 bits
	maxBytesLimit     = 1 << 30
	maxDuration       = time.Hour
)

// limits reads the bounds of one statement and one server.
func (r *reader) limits(n ast.Node, l *Limits) error {
	return r.object(n, "limits", fields{
		"statementTimeout":  func(n ast.Node) error { return r.duration(n, "statementTimeout", &l.StatementTimeout) },
		"maxRows":           func(n ast.Node) error { return r.numberOrNone(n, "maxRows", &l.MaxRows) },
		"maxResultBytes":    func(n ast.Node) error { return r.size(n, "maxResultBytes", &l.MaxResultBytes) },
		"maxArgs":           func(n ast.Node) error { return r.number(n, "maxArgs", maxArgs, &l.MaxArgs) },
		"maxConcurrent":     func(n ast.Node) error { return r.numberOrNone(n, "maxConcurrent", &l.MaxConcurrent) },
		"maxWait":           func(n ast.Node) error { return r.duration(n, "maxWait", &l.MaxWait) },
		"requestsPerSecond": func(n ast.Node) error { return r.numberOrNone(n, "requestsPerSecond", &l.RequestsPerSecond) },
		"burst":             func(n ast.Node) error { return r.number(n, "burst", math.MaxInt32, &l.Burst) },
	})
}

// numberOrNone reads a limit that can be switched off.
func (r *reader) numberOrNone(n ast.Node, what string, into *int) error {
	if isNone(n) {
		*into = Unlimited
		return nil
	}
	return r.numberOr(n, what, math.MaxInt32, orNone, into)
}

// defaultLimits are those of a file without a limits section.
func defaultLimits() Limits {
	return Limits{
		StatementTimeout:  5 * time.Second,
		MaxRows:           10_000,
		MaxResultBytes:    10 << 20,
		MaxArgs:           1_000,
		MaxConcurrent:     20,
		MaxWait:           time.Second,
		RequestsPerSecond: 200,
		Burst:             400,
	}
}

// WithDefaults gives the limits with every field that was not set at its default.
func (l Limits) WithDefaults() Limits {
	d := defaultLimits()
	fill(&l.StatementTimeout, d.StatementTimeout)
	fill(&l.MaxRows, d.MaxRows)
	fill(&l.MaxResultBytes, d.MaxResultBytes)
	fill(&l.MaxArgs, d.MaxArgs)
	fill(&l.MaxConcurrent, d.MaxConcurrent)
	fill(&l.MaxWait, d.MaxWait)
	fill(&l.RequestsPerSecond, d.RequestsPerSecond)
	fill(&l.Burst, d.Burst)
	return l
}

// Buffered gives the limits for a front end that holds a result in memory before it
// answers: MaxRows and MaxResultBytes are their defaults where the policy has them off.
func (l Limits) Buffered() Limits {
	d := defaultLimits()
	if l.MaxRows < 0 {
		l.MaxRows = d.MaxRows
	}
	if l.MaxResultBytes < 0 {
		l.MaxResultBytes = d.MaxResultBytes
	}
	return l
}

func fill[T int | time.Duration](into *T, value T) {
	if *into == 0 {
		*into = value
	}
}
