package wire

import (
	"errors"
	"testing"

	"github.com/tenantgate/tenantgate/proxy"
)

// Ensure the servers of one project do not have all the places of clients, and that those which go
// make room for others.
func TestClientsOfOneProject(t *testing.T) {
	o := newClients(proxy.ConnectionLimits{Total: 20, KeepAuthenticated: true, ProjectShare: 75}, silent{})
	var open []*client
	enter := func(project, server string) *fatal {
		c := &client{projectID: project, serverID: server}
		if full := o.add(c); full != nil {
			t.Fatal(full)
		}
		full := o.enter(c)
		if full != nil {
			o.remove(c)
		} else {
			open = append(open, c)
		}
		return full
	}
	for i, step := range []struct {
		project, server string
		n               int
		then            error
	}{{"big", "a", 12, proxy.ErrServerShare}, {"big", "b", 2, proxy.ErrProjectShare}, {"big", "c", 1, proxy.ErrProjectShare}, {"big", "d", 0, proxy.ErrProjectShare},
		{"small", "a", 3, proxy.ErrNoTurn}, {"other", "a", 1, proxy.ErrNoTurn}, {"third", "a", 1, nil}} {
		n := 0
		var full *fatal
		for ; full == nil && n < 20 && len(open) < 20; n++ {
			full = enter(step.project, step.server)
		}
		if full != nil {
			n--
		}
		if n != step.n || full != nil && !errors.Is(full, step.then) || full == nil && step.then != nil {
			t.Errorf("step %d: %d entered, then %v", i, n, full)
		}
	}
	for _, c := range open {
		o.remove(c)
	}
	if n := o.places.Each(func(*client) {}); n != 0 {
		t.Errorf("%d are left", n)
	}
}
