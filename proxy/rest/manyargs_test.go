package rest_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/rest"
)

// zeros is a statement with so many args, of two bytes each.
func zeros(n int) string {
	return `{"query":"SELECT 1","args":[` + strings.Repeat("0,", n-1) + "0]}"
}

// allowArgs has the policy allow so many args.
func (w *world) allowArgs(n int) {
	w.t.Helper()
	text, _ := policies.Named(policies.Default)
	file, err := policy.Parse(bytes.Replace(text, []byte("maxArgs: 1000"), []byte("maxArgs: "+itoa(n)), 1))
	if err != nil {
		w.t.Fatal(err)
	}
	w.setPolicy(file, policy.Limits{RequestsPerSecond: -1})
}

// Many args take memory within the shares of all though their bodies are short, until they are answered; those that most
// policies allow take none of it.
func TestManyArgsShareMemory(t *testing.T) {
	const many = 40_000
	begun, end := make(chan struct{}), make(chan struct{})
	w := newWorld(t, func(w *world, c *rest.Config) {
		w.allowArgs(65_535)
		c.MaxLongBytes = 1 // four bodies, of which a server has 2.25 MiB
		w.gate.admit = func() (proxy.Place, error) {
			select {
			case begun <- struct{}{}:
				<-end
			case <-end:
			}
			return proxy.Place{}, nil
		}
	})
	post := func(body string) *rawConn {
		c := w.dial()
		c.send("POST " + queryPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + "Content-Type: application/json\r\nContent-Length: " + itoa(len(body)) + "\r\n\r\n" + body)
		return c
	}
	c := post(zeros(many))
	wait(t, begun, "the first one's wait for a place")
	if response, body := post(zeros(many)).answer("POST", queryPath); response.StatusCode != 503 || w.counts.happened("short of bodies: server") != 1 {
		t.Fatalf("a second one: %d %s", response.StatusCode, body)
	}
	if response, body := post(strings.TrimSuffix(zeros(many), "]}")).answer("POST", queryPath); response.StatusCode != 400 || !strings.Contains(body, "invalid_json") {
		t.Fatalf("what is no JSON: %d %s", response.StatusCode, body)
	}
	few := post(zeros(1000))
	wait(t, begun, "the wait of one with 1,000 args")
	close(end)
	if response, body := c.answer("POST", queryPath); response.StatusCode != 400 || !strings.Contains(body, "argument_count") {
		t.Errorf("the first one: %d %s", response.StatusCode, body)
	}
	few.answer("POST", queryPath)
	for range 5 {
		if status, body := w.call("POST", queryPath, zeros(many), as(token)); status != 400 {
			t.Errorf("what was answered is not given back: %d %s", status, body)
		}
	}
}

// Args beyond the policy's limit are counted and not kept: they take no room, and the refusal tells how many there were.
func TestArgsBeyondTheLimit(t *testing.T) {
	w := newWorld(t, func(w *world, c *rest.Config) {
		w.allowArgs(10)
		c.MaxLongBytes, c.ProjectShare = 1, 1 // 43 KB
	})
	for _, n := range []int{11, 30_000} {
		status, body := w.call("POST", queryPath, zeros(n), as(token))
		if status != 400 || !strings.Contains(body, "got "+itoa(n)+" args; at most 10 are allowed") {
			t.Errorf("%d: %d %s", n, status, body)
		}
	}
	if status, body := w.call("POST", queryPath, zeros(10), as(token)); status != 400 || !strings.Contains(body, "takes 0 args, got 10") {
		t.Errorf("10: %d %s", status, body)
	}
	refused := strings.Replace(zeros(11), "SELECT 1", "DROP TABLE x", 1)
	if status, body := w.call("POST", queryPath, refused, as(token)); status != 403 {
		t.Errorf("the statement's refusal comes first: %d %s", status, body)
	}
}
