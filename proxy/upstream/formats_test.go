package upstream

import (
	"errors"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
)

// What Postgres says of the numbers and the format of what a client binds is told as it is.
func TestProtocolMistakesAreTold(t *testing.T) {
	l := link(t, Config{})
	refused := func(want string, steps []proxy.Step) {
		t.Helper()
		_, _, err := l.run(proxy.Exchange{Steps: steps, Commit: true})
		var told *proxy.Error
		if !errors.As(err, &told) || told.Message != want || told.SQLState != "08P01" {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	steps := l.extended("SELECT id FROM notes")
	steps[2].Formats = []int16{0, 1}
	refused("bind message has 2 result formats but query has 1 columns", []proxy.Step{steps[0], steps[2]})
	a := l.approve("SELECT id FROM notes WHERE id = $1")
	b, _ := a.Bind("mine", []policy.Arg{{Kind: policy.Binary, Text: "12"}})
	refused("insufficient data left in message", []proxy.Step{{Verb: proxy.Bind, Prepared: &proxy.Prepared{Approved: a}, Bound: b}})
}
