package rest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy/rest"
)

// slow is a database whose statements run until they are told to end.
type slow struct {
	started chan struct{} // one for each statement
	finish  chan struct{} // closed: statements end well
	ended   chan error    // why each statement ended
}

func newSlow() *slow {
	return &slow{started: make(chan struct{}, 100), finish: make(chan struct{}), ended: make(chan error, 100)}
}

func (s *slow) query(ctx context.Context, _ string, _ policy.Bound, _ rest.Form, dst []byte) ([]byte, int64, error) {
	s.started <- struct{}{}
	select {
	case <-ctx.Done():
		s.ended <- context.Cause(ctx)
		return nil, 0, fmt.Errorf("running: %w", ctx.Err())
	case <-s.finish:
		s.ended <- nil
		return append(dst, `"columns":[],"rows":[]`...), 1, nil
	}
}

func newSlowWorld(t *testing.T, change func(*rest.Config)) (*world, *slow) {
	t.Helper()
	db := newSlow()
	return newWorld(t, func(_ *world, c *rest.Config) {
		c.Query = db.query
		if change != nil {
			change(c)
		}
	}), db
}

const select1 = `{"query":"SELECT 1"}`

func queryRequest(headers string) string {
	return "POST " + queryPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + headers + "Content-Length: " + itoa(len(select1)) + "\r\n\r\n" + select1
}

func wait[T any](t *testing.T, c <-chan T, what string) (got T) {
	t.Helper()
	select {
	case got = <-c:
	case <-time.After(5 * time.Second):
		t.Fatalf("%s: nothing in five seconds", what)
	}
	return got
}
