package rest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

func newPatience(parent context.Context, limit time.Duration) *patience {
	return &patience{parent: parent, lookedUp: new(atomic.Bool), until: time.Now().Add(limit)}
}

// ended waits for Done, and gives what the context says then, and once more.
func ended(ctx context.Context, t *testing.T) error {
	t.Helper()
	select {
	case <-ctx.Done():
	case <-time.After(5 * time.Second):
		t.Fatal("it did not end")
	}
	if err := ctx.Err(); !errors.Is(ctx.Err(), err) {
		t.Error("it ended in two ways")
	}
	return ctx.Err()
}

// Whoever waits, in whatever way, is let go when the time is over.
func TestPatienceEnds(t *testing.T) {
	for name, wait := range map[string]func(*patience) error{
		"waiting":            func(p *patience) error { return ended(p, t) },
		"waiting afterwards": func(p *patience) error { time.Sleep(30 * time.Millisecond); return ended(p, t) },
		"asking": func(p *patience) error {
			for p.Err() == nil {
				time.Sleep(time.Millisecond)
			}
			return ended(p, t)
		},
		"by a context of its own": func(p *patience) error {
			ctx, cancel := context.WithTimeout(p, time.Minute)
			defer cancel()
			return ended(ctx, t)
		},
	} {
		p := newPatience(t.Context(), 20*time.Millisecond)
		if err := wait(p); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(context.Cause(p), err) {
			t.Errorf("%s: %v", name, err)
		}
		p.end()
		if err := p.Err(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v after its end", name, err)
		}
	}
}

// It ends with its parent, for the parent's cause, and with its end.
func TestPatienceIsCancelled(t *testing.T) {
	cause := errors.New("given up")
	for _, waited := range []bool{false, true} {
		parent, cancel := context.WithCancelCause(t.Context())
		left, right := newPatience(parent, time.Minute), newPatience(t.Context(), time.Minute)
		for _, p := range []*patience{left, right} {
			if waited && p.Done() == nil || p.Err() != nil || context.Cause(p) != nil {
				t.Errorf("ended early: %v", p.Err())
			}
		}
		cancel(cause)
		right.end()
		if err := ended(left, t); !errors.Is(err, context.Canceled) || !errors.Is(context.Cause(left), cause) {
			t.Errorf("by its parent: %v", err)
		}
		if err := ended(right, t); !errors.Is(err, context.Canceled) {
			t.Errorf("by its end: %v", err)
		}
		left.end()
	}
}

// Nobody pays for a timer who does not wait.
func TestPatienceIsCheap(t *testing.T) {
	parent, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := newPatience(parent, time.Minute)
	defer p.end()
	if until, ok := p.Deadline(); !ok || time.Until(until) > time.Minute || p.Err() != nil || p.Value("key") != nil || p.timed != nil {
		t.Error("a timer was made")
	}
}
