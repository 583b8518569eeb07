package proof

import (
	"context"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proof/statement"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/frame"
	"github.com/tenantgate/tenantgate/proxy/upstream"
	front "github.com/tenantgate/tenantgate/proxy/wire"
)

// TestProveListener is the proof through the listener: statements as a client writes them,
// and every byte that comes back.
func TestProveListener(t *testing.T) {
	corpus := [][]statement.Statement{written(t, Listener, Servers[0]), written(t, Listener, Servers[1])}
	report := run(t, build(t), Config{Walls: Listener, Statements: *statements, Time: 2 * timeLimit(), Seed: *seed, Workers: *workers, Findings: *findings, Corpus: corpus})
	t.Logf("\n%s%s", report, report.Table())
	for _, f := range report.Findings {
		t.Errorf("%s", f)
	}
	for _, path := range []Path{Simple, Extended, Cursor, Copy} {
		if report.Paths[string(path)] == 0 {
			t.Errorf("nothing was sent by %s", path)
		}
	}
	if report.Share() < least {
		t.Errorf("only %.1f %% of the statements were admitted", report.Share())
	}
}

// A listener that runs what it admits for another server must make the proof fail.
func TestBrokenListener(t *testing.T) {
	pose := func(p *upstream.Pool) front.Link { return posing{p.Link(proxy.Account{Server: posedAs})} }
	report := run(t, build(t), Config{Walls: Listener, Statements: 60, Seed: *seed, Workers: *workers, pose: pose})
	t.Logf("\n%s", report)
	if report.Faults[Leak] == 0 || report.Faults[Foreign] == 0 {
		t.Error("it was not noticed")
	}
}

// posing binds whatever is run for another server.
type posing struct{ front.Link }

// posedAs is a neighbour's id, for texts and for numbers.
const posedAs = "8675309"

func (p posing) Run(ctx context.Context, x *proxy.Exchange, out *frame.Writer) (proxy.State, error) {
	for i := range x.Steps {
		if b := x.Steps[i].Bound; b.Valid() {
			args := make([]policy.Arg, b.Approved().NumArgs())
			for _, param := range b.Params() {
				if param.Index >= 0 {
					args[param.Index] = param.Value
				}
			}
			if posed, reason := b.Approved().Bind(posedAs, args); reason == nil {
				x.Steps[i].Bound = posed
			}
		}
	}
	return p.Link.Run(ctx, x, out)
}
