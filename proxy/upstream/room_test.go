package upstream

import (
	"errors"
	"testing"

	"github.com/tenantgate/tenantgate/proxy"
)

// room has so many bytes.
type room struct{ most, asked int }

func (r *room) Have(bytes int) error {
	if r.asked = max(r.asked, bytes); bytes > r.most {
		return &proxy.Error{Code: proxy.Overloaded, Cause: proxy.ErrNoTurn}
	}
	return nil
}

// Ensure a statement whose result has no room ends, and leaves nothing behind.
func TestNoRoomForResult(t *testing.T) {
	b := setup(t, Config{MaxConns: 1}, "CREATE TABLE kept (x text)")
	run := func(st *statement, most int) (*room, error) {
		r := &room{most: most}
		_, err := b.pool.query(t.Context(), st, Encoding{Room: r}, nil)
		return r, err
	}
	for name, sql := range map[string]string{
		"one value":        "SELECT repeat('x', 100000)",
		"rows without end": "SELECT repeat('x', 100), generate_series(1, 1000)",
	} {
		if r, err := run(sel(sql), 1<<20); err != nil || r.asked < 100000 {
			t.Errorf("%s: %v, asked for %d", name, err, r.asked)
		}
		if _, err := run(sel(sql), 50000); proxy.AsError(err).Code != proxy.Overloaded || !errors.Is(err, proxy.ErrNoTurn) {
			t.Errorf("%s: %v", name, err)
		}
	}
	write := sel("INSERT INTO kept VALUES (repeat('x', 100000)) RETURNING x")
	write.mayWrite, write.returns = true, true
	if _, err := run(write, 50000); proxy.AsError(err).Code != proxy.Overloaded {
		t.Errorf("a write: %v", err)
	}
	if got := b.must(sel("SELECT count(*) FROM kept")); got != `"columns":["count"],"rows":[[0]]` {
		t.Errorf("kept %s", got)
	}
}
