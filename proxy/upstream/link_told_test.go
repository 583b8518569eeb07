package upstream

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/proxy"
)

// What is told without asking Postgres is sent as it becomes long, though it was asked for with
// little.
func TestToldIsSent(t *testing.T) {
	l := link(t, Config{MaxConns: 1})
	columns := make([]string, 200)
	for i := range columns {
		columns[i] = "id AS a" + strings.Repeat("x", 50) + strings.Repeat("y", i%10)
	}
	steps := l.extended("SELECT " + strings.Join(columns[:100], ", ") + " FROM notes")[:2]
	if _, _, err := l.run(proxy.Exchange{Steps: steps, Commit: true}); err != nil {
		t.Fatal(err)
	}
	x := proxy.Exchange{Steps: slices.Repeat(steps[1:], 63), Commit: true}
	if _, err := l.link.Run(context.Background(), &x, &l.out); err != nil {
		t.Fatal(err)
	}
	if kept, sent := len(l.out.Buf), l.sent.Len(); kept > 32<<10 || sent < 300_000 {
		t.Errorf("%d bytes were sent, and %d wait", sent, kept)
	}
}
