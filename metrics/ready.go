package metrics

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"
)

const (
	readyAge  = time.Second     // an answer is given again for this long
	readyTime = 2 * time.Second // after this a check counts as failed
)

// errDraining is the answer of /readyz from Drain on.
var errDraining = errors.New("draining: tenantgate is shutting down and accepts no new requests")

// errChecking is the answer to a probe that waited in vain for another probe's check.
var errChecking = errors.New("the check of the database and the control store has not answered yet")

// readiness remembers the answer to "ready?" for a moment, so that any number of
// probes costs one check a second.
type readiness struct {
	ask      func(context.Context) error
	log      *slog.Logger
	draining atomic.Bool
	turn     chan struct{} // holds one token; whoever has it owns the fields below
	asked    time.Time     // when last was asked; zero: never
	last     error
}

func newReadiness(ask func(context.Context) error, log *slog.Logger) *readiness {
	return &readiness{ask: ask, log: log, turn: make(chan struct{}, 1)}
}

func (r *readiness) drain() { r.draining.Store(true) }

// check returns why requests can't be served, or nil. The context is the listener's and
// not the probe's: a probe that gives up must not make the next one fail.
func (r *readiness) check(ctx context.Context) error {
	if r.draining.Load() {
		return errDraining
	}
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return errChecking
	}
	if r.asked.IsZero() || time.Since(r.asked) >= readyAge {
		r.remember(r.ask(ctx))
	}
	return r.last
}

func (r *readiness) remember(err error) {
	first := r.asked.IsZero()
	switch {
	case err != nil && (first || r.last == nil):
		r.log.Warn("not ready", "reason", err.Error())
	case err == nil && (first || r.last != nil):
		r.log.Info("ready")
	}
	r.last, r.asked = err, time.Now()
}
