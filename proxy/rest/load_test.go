package rest_test

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/rest"
)

// Large answers arrive whole, and small ones after them are their own.
func TestLargeAnswers(t *testing.T) {
	large := strings.Repeat("x", 10<<20)
	w := newWorld(t, func(_ *world, c *rest.Config) {
		c.Query = func(_ context.Context, _ string, bound policy.Bound, _ rest.Form, dst []byte) ([]byte, int64, error) {
			text := large
			if len(bound.Params()) > 0 {
				text = bound.Params()[0].Value.Text
			}
			return append(dst, `"columns":["c"],"rows":[["`+text+`"]]`...), 0, nil
		}
	})
	for i := range 3 {
		if status, body := w.call("POST", queryPath, select1, as(token)); status != 200 || len(body) < 10<<20 {
			t.Fatalf("%d, %d bytes", status, len(body))
		}
		if status, body := w.call("POST", queryPath, `{"query":"SELECT ?","args":["`+itoa(i)+`"]}`, as(token)); status != 200 || !strings.Contains(body, `[["`+itoa(i)+`"]]`) {
			t.Errorf("%d %s", status, body)
		}
	}
}

// What a connection once answered does not stay in memory with it.
func TestLargeAnswersAreLetGo(t *testing.T) {
	const size, clients = 2 << 20, 20
	w := newWorld(t, func(_ *world, c *rest.Config) {
		c.Query = func(_ context.Context, _ string, _ policy.Bound, _ rest.Form, dst []byte) ([]byte, int64, error) {
			return append(dst, `"columns":["c"],"rows":[["`+strings.Repeat("x", size)+`"]]`...), 0, nil
		}
	})
	before := heapInUse()
	var open []*rawConn
	for range clients {
		c := w.dial()
		c.send(queryRequest(""))
		if response, _ := c.answer("POST", queryPath); response.StatusCode != 200 {
			t.Fatal(response.StatusCode)
		}
		open = append(open, c)
	}
	if after := heapInUse(); after > before+clients*size/4 {
		t.Errorf("%d connections that were served hold %d bytes", len(open), after-before)
	}
}

// Two hundred clients at once get their own answers.
func TestParallelClients(t *testing.T) {
	w := newWorld(t, func(w *world, _ *rest.Config) {
		w.gate.admit = func() (proxy.Place, error) { return proxy.Place{}, nil }
	})
	var group sync.WaitGroup
	for client := range 200 {
		group.Go(func() {
			for i := range 5 {
				mark := itoa(client*1000 + i)
				response, body := w.do("POST", queryPath, `{"query":"SELECT ?","args":["`+mark+`"]}`, as(token), "X-Request-ID: "+mark)
				if response.StatusCode != 200 || !strings.Contains(body, `[["3:`+mark+`",false]]`) || response.Header.Get("X-Request-ID") != mark {
					t.Errorf("client %d got %d %s", client, response.StatusCode, body)
				}
			}
		})
	}
	group.Wait()
}

// Nor does what it once sent.
func TestLargeStatementsAreLetGo(t *testing.T) {
	const size, clients = 200_000, 20
	w := newWorld(t, nil)
	body := `{"query":"SELECT ` + strings.Repeat("?,", 999) + `?","args":[` + strings.Repeat(`"`+strings.Repeat("x", size/1000)+`",`, 999) + `""]}`
	message := "POST " + queryPath + " HTTP/1.1\r\nHost: x\r\n" + authorized + "Content-Length: " + itoa(len(body)) + "\r\n\r\n" + body
	before := heapInUse()
	var open []*rawConn
	for range clients {
		c := w.dial()
		c.send(message)
		if response, body := c.answer("POST", queryPath); response.StatusCode != 200 {
			t.Fatal(response.StatusCode, body)
		}
		open = append(open, c)
	}
	if after := heapInUse(); after > before+clients*size/4 {
		t.Errorf("%d connections that were served hold %d bytes", len(open), after-before)
	}
}

func heapInUse() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
