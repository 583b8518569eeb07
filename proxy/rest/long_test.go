package rest_test

import (
	"io"
	"strings"
	"testing"

	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/rest"
)

// Bodies that are long take memory within the shares of all, whoever sends them and however slowly;
// short ones take none of it, and what is answered or given up is given back.
func TestLongBodiesShareMemory(t *testing.T) {
	const conns = 8
	w := newWorld(t, func(_ *world, c *rest.Config) { c.MaxLongBytes = 1 }) // four bodies
	head := "POST " + queryPath + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" + authorized + "Content-Length: 1000000\r\n\r\n"
	var open []*rawConn
	for range conns {
		c := w.dial()
		_, _ = io.WriteString(c, head+strings.Repeat(" ", 900_000)) // who is refused may find it closed
		open = append(open, c)
	}
	waitUntil(t, "some are refused", func() bool { return w.counts.happened("short of bodies: server") >= conns-3 })
	if status, body := w.call("POST", queryPath, select1, as(token)); status != 200 {
		t.Errorf("a short one: %d %s", status, body)
	}
	for _, c := range open {
		_ = c.Close()
	}
	whole := `{"query":"SELECT 1"` + strings.Repeat(" ", 900_000) + "}"
	waitUntil(t, "a long one has room", func() bool {
		status, body := w.call("POST", queryPath, whole, as(token))
		if status != 200 && status != 503 {
			t.Fatalf("%d %s", status, body)
		}
		return status == 200
	})
	for range 2 * conns {
		if status, body := w.call("POST", queryPath, whole, as(token)); status != 200 {
			t.Fatalf("what was answered is not given back: %d %s", status, body)
		}
	}
}

// A long body counts for whoever sends it, whoever was first on the connection.
func TestLongBodiesCountForTheirSender(t *testing.T) {
	const conns = 8
	w := newWorld(t, func(w *world, c *rest.Config) {
		c.MaxLongBytes = 1 // four bodies
		for i := range conns {
			w.store.tokens["first"+itoa(i)] = proxy.Caller{TokenID: itoa(i), Projects: []string{"project " + itoa(i)}, Scopes: proxy.Read}
		}
	})
	for i := range conns {
		c := w.dial()
		c.send("GET " + serverPath + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer first" + itoa(i) + "\r\n\r\n")
		c.answer("GET", serverPath)
		_, _ = io.WriteString(c, "POST "+queryPath+" HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+authorized+"Content-Length: 1000000\r\n\r\n"+strings.Repeat(" ", 900_000))
		defer func() { _ = c.Close() }()
	}
	waitUntil(t, "some are refused", func() bool { return w.counts.happened("short of bodies: server") >= conns-3 })
}
